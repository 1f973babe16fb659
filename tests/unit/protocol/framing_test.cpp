#include "protocol/framing.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace cellgate::protocol;

namespace {

std::vector<Frame> decode(Framing framing, const std::vector<std::string>& pieces, std::size_t max_bytes = 1000) {
    Decoder decoder(framing, max_bytes);
    std::vector<Frame> frames;
    for (const std::string& piece : pieces) {
        decoder.feed(piece);
        while (std::optional<Frame> frame = decoder.next()) {
            frames.push_back(std::move(*frame));
        }
    }
    return frames;
}

std::string outline(const std::vector<Frame>& frames) {
    std::string out;
    for (const Frame& frame : frames) {
        out += frame.problem.empty() ? "<" + frame.text + ">" : frame.fatal ? "[fatal]" : "[problem]";
    }
    return out;
}

struct Case {
    const char* what;
    Framing framing;
    std::string bytes;
    std::string outcome;
};

const std::vector<Case> cases{
    {"two messages", Framing::content_length, "Content-Length: 2\r\n\r\n{}Content-Length: 3\r\n\r\n[1]", "<{}><[1]>"},
    {"header names in any case, with other headers, without spaces", Framing::content_length,
     "content-type: x\r\ncontent-length:2\r\n\r\n{}", "<{}>"},
    {"an empty message", Framing::content_length, "Content-Length: 0\r\n\r\nContent-Length: 1\r\n\r\n1", "<><1>"},
    {"separators inside a body", Framing::content_length, "Content-Length: 8\r\n\r\n\r\n\r\n\r\n\r\n",
     "<\r\n\r\n\r\n\r\n>"},
    {"a missing length, then a good message", Framing::content_length,
     "Content-Type: x\r\n\r\nContent-Length: 2\r\n\r\n{}", "[problem]<{}>"},
    {"a length that is no number", Framing::content_length, "Content-Length: 2x\r\n\r\nContent-Length: 2\r\n\r\n{}",
     "[problem]<{}>"},
    {"a negative length", Framing::content_length, "Content-Length: -2\r\n\r\n", "[problem]"},
    {"two lengths that differ", Framing::content_length, "Content-Length: 2\r\nContent-Length: 3\r\n\r\n", "[problem]"},
    {"the same length twice", Framing::content_length, "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", "<{}>"},
    {"a length over the limit", Framing::content_length, "Content-Length: 1001\r\n\r\nContent-Length: 2\r\n\r\n{}",
     "[fatal]"},
    {"a length beyond 64 bits", Framing::content_length, "Content-Length: 99999999999999999999999\r\n\r\n{}",
     "[fatal]"},
    {"headers without an end", Framing::content_length, std::string(10000, 'x'), "[fatal]"},
    {"lines, with empty ones between", Framing::lines, "{}\n\n  \n[1]\r\n", "<{}><[1]>"},
    {"a line over the limit", Framing::lines, std::string(1001, 'x') + "\n{}\n", "[problem]<{}>"},
    {"a line at the limit", Framing::lines, std::string(3, 'x') + "\n", "<xxx>"},
};

} // namespace

TEST_CASE("a decoder gives the same messages however the bytes are cut") {
    for (const Case& each : cases) {
        CAPTURE(each.what);
        CHECK(outline(decode(each.framing, {each.bytes})) == each.outcome);
        std::vector<std::string> single;
        for (const char byte : each.bytes) {
            single.emplace_back(1, byte);
        }
        CHECK(outline(decode(each.framing, single)) == each.outcome);
        for (std::size_t at = 0; at <= each.bytes.size(); ++at) {
            const std::string outcome =
                outline(decode(each.framing, {each.bytes.substr(0, at), each.bytes.substr(at)}));
            if (outcome != each.outcome) {
                CAPTURE(at);
                CHECK(outcome == each.outcome);
            }
        }
    }
}

TEST_CASE("a decoder knows that a message was cut off") {
    for (const Framing framing : {Framing::content_length, Framing::lines}) {
        std::string whole = frame_start(framing, 7) + R"({"a":1})";
        whole += frame_end(framing);
        for (std::size_t at = 0; at <= whole.size(); ++at) {
            Decoder decoder(framing);
            decoder.feed(whole.substr(0, at));
            while (decoder.next()) {
            }
            CAPTURE(at);
            CHECK(decoder.in_message() == (at != 0 && at != whole.size()));
        }
    }
}

TEST_CASE("a line that is skipped for its length does not pile up in memory") {
    Decoder decoder(Framing::lines, 1000);
    const std::string piece(100, 'x');
    for (int i = 0; i < 100'000; ++i) {
        decoder.feed(piece);
        REQUIRE_FALSE(decoder.next());
    }
    decoder.feed("\n{}\n");
    CHECK_FALSE(decoder.next()->problem.empty());
    CHECK(decoder.next()->text == "{}");
}
