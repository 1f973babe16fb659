// A WebSocket's frames, in all pieces, and what a hostile server sends.

#include "base/error.hpp"
#include "websocket_frames.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace cellgate;
using namespace cellgate::async;
using namespace std::string_literals;
using Opcode = WebSocketOpcode;

namespace {

constexpr std::size_t max_bytes = 100'000;

struct Decoded {
    std::vector<WebSocketArrival> arrivals;
    std::string problem;
};

Decoded decode(std::string_view bytes, std::size_t piece) {
    WebSocketDecoder decoder(max_bytes);
    Decoded decoded;
    try {
        while (!bytes.empty()) {
            std::string_view part = bytes.substr(0, piece);
            bytes.remove_prefix(part.size());
            while (std::optional<WebSocketArrival> arrival = decoder.next(part)) {
                decoded.arrivals.push_back(std::move(*arrival));
            }
        }
    } catch (const Error& error) {
        decoded.problem = error.message;
    }
    return decoded;
}

// What a server sends: without a mask.
std::string frame(unsigned first, const std::string& payload) {
    std::string bytes(1, static_cast<char>(first));
    if (payload.size() < 126) {
        bytes += static_cast<char>(payload.size());
    } else {
        bytes += '\x7f';
        for (int shift = 56; shift >= 0; shift -= 8) {
            bytes += static_cast<char>(payload.size() >> static_cast<unsigned>(shift) & 0xffU);
        }
    }
    return bytes + payload;
}

} // namespace

TEST_CASE("the answer to a key is that of RFC 6455's example") {
    CHECK(websocket_accept("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

TEST_CASE("our frames are RFC 6455's example, and of each form of length") {
    CHECK(websocket_frame(Opcode::text, "Hello", "\x37\xfa\x21\x3d") ==
          "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"s);
    CHECK(websocket_frame(Opcode::binary, std::string(126, '\0'), "\1\2\3\4").substr(0, 4) == "\x82\xfe\0\x7e"s);
    CHECK(websocket_frame(Opcode::binary, std::string(65536, '\0'), "\1\2\3\4").substr(0, 10) ==
          "\x82\xff\0\0\0\0\0\1\0\0"s);
}

TEST_CASE("messages arrive whole, with control frames between their fragments, whatever pieces they come in") {
    const std::string large(70'000, 'x');
    const std::string bytes = frame(0x01, "Hel") + frame(0x89, "ping") + frame(0x80, "lo") + frame(0x82, large) +
                              frame(0x81, "") + frame(0x8a, "") + frame(0x88, "\x03\xe8");
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{1000}, bytes.size()}) {
        const Decoded decoded = decode(bytes, piece);
        CHECK(decoded.problem.empty());
        REQUIRE(decoded.arrivals.size() == 6);
        CHECK(decoded.arrivals[0].opcode == Opcode::ping);
        CHECK(decoded.arrivals[0].payload == "ping");
        CHECK(decoded.arrivals[1].opcode == Opcode::text);
        CHECK(decoded.arrivals[1].payload == "Hello");
        CHECK(decoded.arrivals[2].opcode == Opcode::binary);
        CHECK(decoded.arrivals[2].payload == large);
        CHECK(decoded.arrivals[3].payload.empty());
        CHECK(decoded.arrivals[4].opcode == Opcode::pong);
        CHECK(decoded.arrivals[5].opcode == Opcode::close);
    }
}

TEST_CASE("what breaks the protocol ends the connection") {
    const std::string huge = "\x82\x7f\x7f\xff\xff\xff\xff\xff\xff\xff"s; // 8 EiB are announced
    const std::string half(max_bytes / 2 + 1, 'x');
    for (const std::string& bytes :
         {frame(0xc1, "reserved bit"), "\x81\x85mask12345"s, frame(0x80, "nothing to go on with"),
          frame(0x01, "first") + frame(0x01, "another"), frame(0x09, "a ping in pieces"),
          frame(0x89, std::string(126, 'p')), frame(0x83, "no opcode"), frame(0x8b, "no opcode"), huge,
          frame(0x02, half) + frame(0x80, half)}) {
        CHECK_FALSE(decode(bytes, 3).problem.empty());
    }
}
