#pragma once
// client_hello() makes a TLS ClientHello as a client might send it.

#include <string>

namespace egress_test {

inline std::string bytes_of(std::size_t value, int count) {
    std::string bytes;
    for (int i = count - 1; i >= 0; --i) {
        bytes += static_cast<char>(value >> (8 * i) & 0xff);
    }
    return bytes;
}

inline std::string block(const std::string& content, int length_bytes) {
    return bytes_of(content.size(), length_bytes) + content;
}

inline std::string extension(int type, const std::string& content) {
    return bytes_of(static_cast<std::size_t>(type), 2) + block(content, 2);
}

inline std::string server_name(const std::string& name) {
    return extension(0, block(std::string(1, '\0') + block(name, 2), 2));
}

// A handshake message, without its records.
inline std::string hello_message(const std::string& extensions) {
    const std::string body = std::string("\3\3") + std::string(32, 'r') + block("session", 1) +
                             block(std::string("\x13\x01\x13\x02", 4), 2) + block(std::string(1, '\0'), 1) +
                             block(extensions, 2);
    return std::string(1, '\1') + block(body, 3);
}

inline std::string record(const std::string& content) {
    return std::string("\x16\3\1", 3) + block(content, 2);
}

inline std::string client_hello(const std::string& name) {
    return record(hello_message(extension(43, std::string("\2\3\4", 3)) + server_name(name)));
}

} // namespace egress_test
