#pragma once
// The functions here are for the bytes of a ZMTP peer, and for the memory that they cost.

#include <cstdint>
#include <fstream>
#include <string>
#include <unistd.h>

namespace cellgate::async {

inline std::string frame(int flags, const std::string& body) {
    return std::string{static_cast<char>(flags), static_cast<char>(body.size())} + body;
}
inline std::string long_head(int flags, std::uint64_t length) {
    std::string head(1, static_cast<char>(flags));
    for (int shift = 56; shift >= 0; shift -= 8) {
        head += static_cast<char>(length >> shift & 0xff);
    }
    return head;
}
inline std::string property(const std::string& name, const std::string& value) {
    return std::string(1, static_cast<char>(name.size())) + name + long_head(0, value.size()).substr(5) + value;
}
inline std::string ready(const std::string& type) {
    return frame(4, "\5READY" + property("Socket-Type", type) + property("Identity", ""));
}
inline std::string greeting(char major = 3, char minor = 1, const std::string& mechanism = "NULL") {
    std::string bytes(64, '\0');
    bytes[0] = '\xff';
    bytes[3] = '!'; // padding has no meaning
    bytes[9] = '\x7f';
    bytes[10] = major;
    bytes[11] = minor;
    bytes.replace(12, mechanism.size(), mechanism);
    return bytes;
}

inline std::size_t resident_bytes() {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages >> pages;
    return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

} // namespace cellgate::async
