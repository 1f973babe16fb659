// Bytes of a kernel's ZeroMQ socket: whatever pieces they come in, the same arrives, nothing before the handshake, and
// no message over the limits. The first byte of an input says who hears it: a DEALER or a SUB, from the start or after
// a good handshake.

#include "zmtp.hpp"

#include "base/error.hpp"
#include "fuzzing.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace cellgate;
using namespace cellgate::async;
using cellgate::fuzz::require;
using Kind = ZmtpArrival::Kind;

namespace {

constexpr ZmtpLimits limits{20'000, 8}; // within reach of the fuzzer; a frame of 16 KiB is read straight to its place

struct Heard {
    std::vector<ZmtpArrival> arrivals;
    std::string problem;
};

Heard hear(ZmqType type, std::string_view bytes, std::size_t piece, bool straight) {
    ZmtpDecoder decoder(type, "us", limits);
    Heard heard;
    try {
        while (!bytes.empty()) {
            std::string_view part = bytes.substr(0, piece);
            bytes.remove_prefix(part.size());
            while (true) {
                const std::span<char> space = straight ? decoder.space() : std::span<char>();
                if (!space.empty()) {
                    const std::size_t count = part.copy(space.data(), space.size());
                    part.remove_prefix(count);
                    decoder.filled(count);
                }
                std::optional<ZmtpArrival> arrival = decoder.next(part);
                if (arrival) {
                    heard.arrivals.push_back(std::move(*arrival));
                } else if (part.empty()) {
                    break;
                }
            }
        }
    } catch (const Error& error) {
        heard.problem = error.message;
    }
    return heard;
}

std::string handshake(const std::string& type) {
    std::string ready("\5READY\x0bSocket-Type\0\0\0", 21);
    ready += static_cast<char>(type.size());
    ready += type;
    return zmtp_greeting() + '\4' + static_cast<char>(ready.size()) + ready;
}

void check_order(const Heard& heard) {
    for (std::size_t i = 0; i < heard.arrivals.size(); ++i) {
        const ZmtpArrival& arrival = heard.arrivals[i];
        require((arrival.kind == Kind::greeting) == (i == 0), "a greeting is the first, and comes once");
        require((arrival.kind == Kind::ready) == (i == 1), "READY is the second, and comes once");
        require(arrival.kind == Kind::message || arrival.message.empty(), "only a message has frames");
        std::size_t bytes = 0;
        for (const std::string& frame : arrival.message) {
            bytes += frame.size();
        }
        require(arrival.message.size() <= limits.frames && bytes <= limits.message_bytes, "no message over the limits");
    }
}

// What was heard, said again, is heard as it was.
void check_messages(const Heard& heard) {
    std::string bytes = handshake("ROUTER");
    std::vector<ZmqMessage> messages;
    for (const ZmtpArrival& arrival : heard.arrivals) {
        if (!arrival.message.empty()) {
            bytes += zmtp_message(arrival.message);
            messages.push_back(arrival.message);
        }
    }
    const Heard again = hear(ZmqType::dealer, bytes, bytes.size(), false);
    require(again.problem.empty(), "what we write can be read");
    std::vector<ZmqMessage> heard_again;
    for (const ZmtpArrival& arrival : again.arrivals) {
        if (arrival.kind == Kind::message) {
            heard_again.push_back(arrival.message);
        }
    }
    require(heard_again == messages, "a message that was written and read again is the same");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const ZmqType type = (data[0] & 1) != 0 ? ZmqType::sub : ZmqType::dealer;
    std::string bytes = (data[0] & 2) != 0 ? handshake(type == ZmqType::sub ? "PUB" : "ROUTER") : "";
    bytes.append(reinterpret_cast<const char*>(data) + 1, size - 1);
    const Heard whole = hear(type, bytes, bytes.size(), false);
    const Heard pieces = hear(type, bytes, 1 + data[size - 1] % 7 * (data[size - 1] % 3 == 0 ? 1000 : 1), true);
    require(whole.problem == pieces.problem && whole.arrivals.size() == pieces.arrivals.size(),
            "the same arrives, whatever pieces it comes in");
    for (std::size_t i = 0; i < whole.arrivals.size(); ++i) {
        require(whole.arrivals[i].kind == pieces.arrivals[i].kind &&
                    whole.arrivals[i].answer == pieces.arrivals[i].answer &&
                    whole.arrivals[i].message == pieces.arrivals[i].message,
                "the same arrives, whatever pieces it comes in");
    }
    check_order(whole);
    check_messages(whole);
    return 0;
}
