#pragma once
// `Handshake` is the exchange on a workspace's socket before the protocol begins, one line each way, so that different
// versions of cellgate recognise each other. Its format never changes:
//
//     client:  cellgate 0.2.0
//     sidecar: cellgate 0.1.0 4711 serving      the protocol follows
//     sidecar: cellgate 0.1.0 4711 leaving      it ends when its clients have left; start another one
//
// The client waits for the answer before it sends more.

#include "async/loop.hpp"
#include "base/byte_stream.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace cellgate::daemon {

struct Handshake {
    std::string version;
    std::int64_t pid = 0; // the sidecar's
    bool serving = false; // or leaving
};

std::string client_handshake(const std::string& version);
std::string sidecar_handshake(const Handshake& handshake);
// Nothing if the line is not such a handshake.
std::optional<std::string> parse_client_handshake(const std::string& line);
std::optional<Handshake> parse_sidecar_handshake(const std::string& line);

// The first line, without its end. Nothing if `stream` ends, if the line is too long, if more than a line arrives, or
// if no line arrives within `timeout`: then `stream` is closed and `*timed_out` is set.
Task<std::optional<std::string>> read_line(async::Loop& loop, ByteStream& stream, Duration timeout,
                                           bool* timed_out = nullptr);

// Whether version `a` was released before `b`: "0.9.1" before "0.10.0". Versions that are not numbers are not ordered.
bool is_older(const std::string& a, const std::string& b);

} // namespace cellgate::daemon
