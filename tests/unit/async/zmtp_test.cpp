#include "base/error.hpp"
#include "zmtp.hpp"
#include "zmtp_bytes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using namespace cellgate;
using namespace cellgate::async;
using Kind = ZmtpArrival::Kind;

namespace {

constexpr std::size_t max_bytes = 100'000;
constexpr std::size_t max_frames = 100;

struct Heard {
    std::vector<ZmtpArrival> arrivals;
    std::string problem;

    std::vector<Kind> kinds() const {
        std::vector<Kind> result;
        for (const ZmtpArrival& each : arrivals) {
            result.push_back(each.kind);
        }
        return result;
    }
    bool operator==(const Heard& other) const {
        return problem == other.problem &&
               std::equal(arrivals.begin(), arrivals.end(), other.arrivals.begin(), other.arrivals.end(),
                          [](const ZmtpArrival& left, const ZmtpArrival& right) {
                              return left.kind == right.kind && left.answer == right.answer &&
                                     left.message == right.message;
                          });
    }
};

// As a socket does it: straight into a frame where the decoder has a place.
void hear(ZmtpDecoder& decoder, std::string_view bytes, Heard& heard) {
    try {
        while (true) {
            const std::span<char> space = decoder.space();
            if (!space.empty()) {
                const std::size_t count = bytes.copy(space.data(), space.size());
                bytes.remove_prefix(count);
                decoder.filled(count);
            }
            std::optional<ZmtpArrival> arrival = decoder.next(bytes);
            if (arrival) {
                heard.arrivals.push_back(std::move(*arrival));
            } else if (bytes.empty()) {
                return;
            }
        }
    } catch (const Error& error) {
        heard.problem = error.message;
    }
}

Heard hear(const std::string& bytes, ZmqType type = ZmqType::dealer, std::size_t piece = std::string::npos) {
    ZmtpDecoder decoder(type, "us", {max_bytes, max_frames});
    Heard heard;
    for (std::size_t at = 0; at < bytes.size() && heard.problem.empty(); at += std::min(piece, bytes.size())) {
        hear(decoder, std::string_view(bytes).substr(at, piece), heard);
    }
    return heard;
}

const std::string opening = greeting() + ready("ROUTER");

bool refuses(const std::string& bytes, const std::string& why) {
    CAPTURE(bytes);
    const Heard heard = hear(bytes);
    INFO(heard.problem);
    return heard.problem.find(why) != std::string::npos;
}

} // namespace

TEST_CASE("what we send: a greeting, READY with type and identity, frames by their length") {
    CHECK(zmtp_greeting() == [] {
        std::string expected = greeting();
        expected[3] = '\0';
        return expected;
    }());
    const Heard heard = hear(greeting());
    REQUIRE(heard.kinds() == std::vector{Kind::greeting});
    CHECK(heard.arrivals[0].answer ==
          frame(4, "\5READY" + property("Socket-Type", "DEALER") + property("Identity", "us")));
    const std::string large(256, 'x');
    CHECK(zmtp_message({"", large, "ab"}) == frame(1, "") + long_head(3, 256) + large + frame(0, "ab"));
}

TEST_CASE("a SUB subscribes by a message to a peer of ZMTP 3.0, by a command to later ones") {
    const std::string by_message("\0\1\1", 3);
    const std::string by_command = frame(4, "\x09SUBSCRIBE");
    const auto subscription = [](const std::string& of_peer) {
        const Heard heard = hear(of_peer + ready("PUB"), ZmqType::sub);
        return heard.arrivals.at(1).answer;
    };
    CHECK(subscription(greeting(3, 0)) == by_message);
    CHECK(subscription(greeting(3, 1)) == by_command);
    CHECK(subscription(greeting(3, 2)) == by_command);
    CHECK(subscription(greeting(4, 0)) == by_command);
    CHECK(hear(opening).arrivals.at(1).answer.empty());
}

TEST_CASE("messages are the same, whatever pieces they come in") {
    const std::string body(40'000, 'b');
    const std::string bytes = opening + frame(0, "one") + frame(1, "") + long_head(3, 3) + "two" +
                              long_head(2, 40'000) + body + frame(4, std::string("\4PING\0\1abc", 10)) + frame(1, "a") +
                              frame(4, std::string("\4PING\0\0", 7)) + frame(4, "\5OTHER") + frame(0, "b");
    const Heard whole = hear(bytes);
    CHECK(whole.problem.empty());
    CHECK(whole.kinds() == std::vector{Kind::greeting, Kind::ready, Kind::message, Kind::other, Kind::other,
                                       Kind::message, Kind::ping, Kind::other, Kind::ping, Kind::other, Kind::message});
    CHECK(whole.arrivals[2].message == ZmqMessage{"one"});
    CHECK(whole.arrivals[5].message == ZmqMessage{"", "two", body});
    CHECK(whole.arrivals[6].answer == frame(4, "\4PONGabc"));
    CHECK(whole.arrivals[8].answer == frame(4, "\4PONG"));
    CHECK(whole.arrivals[10].message == ZmqMessage{"a", "b"});
    for (const std::size_t piece : {1, 2, 3, 7, 64, 1000, 20'000}) {
        CHECK(hear(bytes, ZmqType::dealer, piece) == whole);
    }
    for (std::size_t at = 1; at < bytes.size(); at += at < opening.size() + 40 || at + 100 > bytes.size() ? 1 : 997) {
        ZmtpDecoder decoder(ZmqType::dealer, "us", {max_bytes, max_frames});
        Heard heard;
        hear(decoder, std::string_view(bytes).substr(0, at), heard);
        hear(decoder, std::string_view(bytes).substr(at), heard);
        REQUIRE(heard == whole);
    }
}

TEST_CASE("a peer that speaks something else is refused at the first byte that shows it") {
    CHECK(refuses("HTTP/1.1 400", "signature"));
    CHECK(refuses(std::string(1, '\0'), "signature"));
    CHECK(refuses(std::string("\xff\0\0\0\0\0\0\0\1\0", 10), "signature")); // of ZMTP 1.0
    CHECK(refuses(greeting(2).substr(0, 11), "ZMTP 2"));
    CHECK(refuses(greeting(1), "ZMTP 1"));
    CHECK(refuses(greeting(3, 1, "PLAIN"), "mechanism"));
    CHECK(refuses(greeting(3, 1, "CURVE"), "mechanism"));
    CHECK(refuses(greeting(3, 1, "NULLX"), "mechanism"));
    CHECK(hear(greeting(7, 3) + ready("ROUTER")).problem.empty());
}

TEST_CASE("a handshake that is none ends the connection") {
    CHECK(refuses(greeting() + frame(0, "message"), "before READY"));
    CHECK(refuses(greeting() + frame(4, std::string("\4PING\0\0", 7)), "READY"));
    CHECK(refuses(greeting() + frame(4, "\5ERROR\6denied"), "denied"));
    CHECK(refuses(opening + frame(4, "\5ERROR"), "refuses"));
    CHECK(refuses(greeting() + ready("PUB"), "PUB"));
    CHECK(refuses(greeting() + ready(""), "type"));
    CHECK(hear(greeting() + ready("ROUTER"), ZmqType::sub).problem.find("SUB") != std::string::npos);
    CHECK(hear(greeting() + ready("XPUB"), ZmqType::sub).problem.empty());
    CHECK(refuses(greeting() + frame(4, "\5READY" + property("socket-TYPE", "PULL")), "PULL"));
    CHECK(refuses(greeting() + frame(4, "\5READY" + property("", "x")), "metadata"));
    CHECK(refuses(greeting() + frame(4, "\5READY\x0bSocket-Type"), "metadata"));
    CHECK(refuses(greeting() + frame(4, "\5READY\xff"), "metadata"));
    CHECK(refuses(greeting() + frame(4, std::string("\5READY\1a\0\0\0\2x", 13)), "metadata"));
    CHECK(refuses(greeting() + frame(4, "\5READY\1a\xff\xff\xff\xff"), "metadata"));
    CHECK(hear(greeting() + frame(4, "\5READY")).problem.empty());
}

TEST_CASE("frames and commands that are none end the connection") {
    CHECK(refuses(opening + frame(8, "x"), "flags"));
    CHECK(refuses(opening + frame(0x80, "x"), "flags"));
    CHECK(refuses(opening + frame(5, "\4PING"), "more than one frame"));
    CHECK(refuses(opening + frame(4, ""), "name"));
    CHECK(refuses(opening + frame(4, std::string(1, '\0')), "name"));
    CHECK(refuses(opening + frame(4, "\4PIN"), "name"));
    CHECK(refuses(opening + frame(4, std::string("\4PING\0", 6)), "PING"));
    CHECK(refuses(opening + frame(4, std::string("\4PING\0\0", 7) + std::string(17, 'x')), "PING"));
}

TEST_CASE("an impossible length ends the connection before memory is reserved") {
    for (const std::uint64_t length :
         {std::uint64_t{1} << 63, ~std::uint64_t{0}, (std::uint64_t{1} << 63) - 1, std::uint64_t{max_bytes + 1}}) {
        CHECK(refuses(opening + long_head(2, length), "at most"));
        CHECK(refuses(opening + long_head(3, length), "at most"));
        CHECK(refuses(opening + long_head(6, length), "at most"));
        CHECK(refuses(greeting() + long_head(6, length), "at most"));
    }
    CHECK(refuses(greeting() + long_head(6, 4097), "at most"));
    // READY may fill a command, and no more.
    const std::string metadata = property("Socket-Type", "ROUTER") + property("X-Much", std::string(4000, 'x'));
    CHECK(hear(greeting() + long_head(6, 6 + metadata.size()) + "\5READY" + metadata).kinds() ==
          std::vector{Kind::greeting, Kind::ready});
}

TEST_CASE("memory follows what came of a frame, not the length that it announced") {
    constexpr std::size_t announced = std::size_t{1} << 30;
    ZmtpDecoder decoder(ZmqType::dealer, "us", {announced, max_frames});
    Heard heard;
    const std::size_t before = resident_bytes();
    hear(decoder, opening + long_head(2, announced) + "only this", heard);
    CHECK(decoder.space().size() < std::size_t{1} << 20);
    CHECK(resident_bytes() < before + (std::size_t{4} << 20));
    CHECK(heard.kinds().size() == 2);
}

TEST_CASE("a message of too many bytes or frames is dropped to its end, and the next one is whole") {
    const std::string part(max_bytes / 4, 'x');
    const std::string head = long_head(3, part.size());
    const std::string after = frame(0, "after");
    std::string four = opening;
    for (int i = 0; i < 4; ++i) {
        four += head + part;
    }
    Heard heard = hear(four + frame(0, "") + after);
    REQUIRE(heard.arrivals.size() == 2 + 4 + 2);
    CHECK(heard.arrivals[6].message.size() == 5);
    heard = hear(four + frame(0, "x") + after);
    CHECK(heard.problem.empty());
    REQUIRE(heard.arrivals.size() == 2 + 4 + 2);
    CHECK(heard.arrivals[6].kind == Kind::message);
    CHECK(heard.arrivals[6].message.empty());
    CHECK(heard.arrivals[7].message == ZmqMessage{"after"});

    std::string frames = opening;
    for (std::size_t i = 1; i < max_frames; ++i) {
        frames += frame(1, "x");
    }
    CHECK(hear(frames + frame(0, "") + after).arrivals.at(2 + max_frames - 1).message.size() == max_frames);
    heard = hear(frames + frame(1, "") + frame(0, "") + after);
    CHECK(heard.arrivals.at(2 + max_frames).message.empty());
    CHECK(heard.arrivals.at(2 + max_frames + 1).message == ZmqMessage{"after"});
}
