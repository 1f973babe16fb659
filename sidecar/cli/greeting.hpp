#pragma once
// What is said on a root's socket before the protocol begins, one line each way, so that two versions of cellgate can
// tell each other apart. It never changes:
//
//     client:  cellgate 0.2.0
//     sidecar: cellgate 0.1.0 4711 serving      the protocol follows
//     sidecar: cellgate 0.1.0 4711 leaving      it ends when its clients have gone; start another one
//
// The client waits for the answer before it says more.

#include "async/loop.hpp"
#include "base/byte_stream.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace cellgate::cli {

struct Greeting {
    std::string version;
    std::int64_t pid = 0; // the sidecar's
    bool serving = false; // or leaving
};

std::string client_greeting(const std::string& version);
std::string sidecar_greeting(const Greeting& greeting);
// Nothing when the line is no such greeting.
std::optional<std::string> parse_client_greeting(const std::string& line);
std::optional<Greeting> parse_sidecar_greeting(const std::string& line);

// The first line that comes, without its end. Nothing when `stream` ends, says something longer, says more than a line,
// or says nothing for `patience`: then `stream` is closed and `*in_vain` is set.
Task<std::optional<std::string>> read_line(async::Loop& loop, ByteStream& stream, Duration patience,
                                           bool* in_vain = nullptr);

// Whether version `a` was released before `b`: "0.9.1" before "0.10.0". Versions that are no numbers are not ordered.
bool is_older(const std::string& a, const std::string& b);

} // namespace cellgate::cli
