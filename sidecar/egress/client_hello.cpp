#include "client_hello.hpp"

#include "base/error.hpp"

#include <cstddef>

namespace cellgate::egress {

namespace {

constexpr std::size_t max_bytes = std::size_t{64} << 10;

[[noreturn]] void refuse(const char* what) {
    throw Error(ErrorCode::invalid_request, what);
}

// Takes a message apart from its beginning.
class Reader {
  public:
    explicit Reader(std::string_view bytes) : bytes_(bytes) {}

    bool empty() const { return bytes_.empty(); }
    std::string_view take(std::size_t count) {
        if (count > bytes_.size()) {
            refuse("expected a TLS ClientHello, found one whose lengths do not fit");
        }
        const std::string_view taken = bytes_.substr(0, count);
        bytes_.remove_prefix(count);
        return taken;
    }
    std::size_t number(std::size_t count) {
        std::size_t value = 0;
        for (const char byte : take(count)) {
            value = value << 8 | static_cast<unsigned char>(byte);
        }
        return value;
    }
    // The block that follows its length, a number of `count` bytes.
    Reader block(std::size_t count) { return Reader(take(number(count))); }

  private:
    std::string_view bytes_;
};

std::string read_server_name(Reader extension) {
    Reader names = extension.block(2);
    constexpr std::size_t host_name = 0;
    if (names.number(1) != host_name) {
        refuse("expected a TLS ClientHello with the name of a host, found one with another name");
    }
    const std::size_t size = names.number(2);
    std::string name(names.take(size));
    if (!names.empty() || !extension.empty()) {
        refuse("expected a TLS ClientHello with one server name, found several");
    }
    return name;
}

ClientHello read_message(Reader message) {
    constexpr std::size_t version_and_random = 2 + 32;
    message.take(version_and_random);
    message.block(1); // session id
    message.block(2); // cipher suites
    message.block(1); // compression methods
    ClientHello hello;
    if (message.empty()) {
        return hello;
    }
    for (Reader extensions = message.block(2); !extensions.empty();) {
        constexpr std::size_t server_name = 0;
        const std::size_t type = extensions.number(2);
        const Reader extension = extensions.block(2);
        if (type != server_name) {
            continue;
        }
        if (hello.server_name) {
            refuse("expected a TLS ClientHello with one server name, found several");
        }
        hello.server_name = read_server_name(extension);
    }
    if (!message.empty()) {
        refuse("expected a TLS ClientHello, found one with more behind it");
    }
    return hello;
}

} // namespace

std::optional<ClientHello> read_client_hello(std::string_view bytes) {
    constexpr char handshake = 0x16;
    constexpr char version_3 = 0x03;
    constexpr std::size_t record_head = 5;
    constexpr std::size_t message_head = 4;
    constexpr int max_records = 16;
    std::string message; // of one or more records
    for (int records = 0;; ++records) {
        if (records > max_records) {
            refuse("expected a TLS ClientHello in a few records, found many");
        }
        if (message.size() > max_bytes) {
            refuse("expected a TLS ClientHello of at most 64 KiB, found a larger one");
        }
        if (message.size() >= message_head) {
            Reader head(message);
            constexpr std::size_t client_hello = 1;
            if (head.number(1) != client_hello) {
                refuse("expected a TLS ClientHello, found another message");
            }
            const std::size_t size = head.number(3);
            if (size > max_bytes) {
                refuse("expected a TLS ClientHello of at most 64 KiB, found a larger one");
            }
            if (message.size() >= message_head + size) {
                return read_message(Reader(head.take(size)));
            }
        }
        if (bytes.size() < record_head) {
            return std::nullopt;
        }
        if (bytes[0] != handshake || bytes[1] != version_3) {
            refuse("expected a TLS ClientHello, found something else in its middle");
        }
        Reader record(bytes.substr(3));
        const std::size_t size = record.number(2);
        if (size == 0) {
            refuse("expected a TLS ClientHello, found an empty record");
        }
        if (bytes.size() < record_head + size) {
            return std::nullopt; // a record has at most 64 KiB
        }
        message += record.take(size);
        bytes.remove_prefix(record_head + size);
    }
}

} // namespace cellgate::egress
