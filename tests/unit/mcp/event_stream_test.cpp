#include "base/error.hpp"
#include "mcp/event_stream.hpp"

#include <doctest/doctest.h>

#include <chrono>

using namespace cellgate;
using namespace cellgate::mcp;

namespace {

// "type|data" of each, read in pieces of `size` bytes.
std::vector<std::string> read(EventStream& stream, std::string_view bytes, std::size_t size) {
    std::vector<std::string> found;
    for (; !bytes.empty(); bytes.remove_prefix(std::min(size, bytes.size()))) {
        for (const ServerSentEvent& event : stream.add(bytes.substr(0, size))) {
            found.push_back(event.type + "|" + event.data);
        }
    }
    return found;
}

} // namespace

TEST_CASE("events are the same however their bytes are cut, and whatever ends their lines") {
    const std::string text = "\xef\xbb\xbf: a comment\n"
                             "data: one\n\n"
                             "event: endpoint\r\ndata:/message?a=b\r\n\r\n"
                             "data: two\rdata:  lines\r\r"
                             "id: 7\nretry: 250\ndata\n\n"
                             "data: cut off";
    for (const std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{5}, text.size()}) {
        CAPTURE(size);
        EventStream stream(1000);
        CHECK(read(stream, text, size) ==
              std::vector<std::string>{"message|one", "endpoint|/message?a=b", "message|two\n lines", "message|"});
        CHECK(stream.last_id() == "7");
        CHECK(stream.retry() == std::chrono::milliseconds(250));
    }
}

TEST_CASE("an event without data only moves the place from which the stream can be resumed") {
    EventStream stream(1000);
    CHECK(read(stream, "id: a1\n", 100).empty());
    CHECK(stream.last_id().empty()); // it is complete with its empty line
    CHECK(read(stream, "\n", 100).empty());
    CHECK(stream.last_id() == "a1");
    CHECK(read(stream, "data: x\n\n", 100) == std::vector<std::string>{"message|x"});
    CHECK(stream.last_id() == "a1");
    CHECK(read(stream, std::string("id: b\0c\n\n", 9), 100).empty());
    CHECK(stream.last_id() == "a1");
}

TEST_CASE("a time to wait that is no number of milliseconds is ignored") {
    for (const char* bad :
         {"retry: soon\n", "retry: -1\n", "retry: 5s\n", "retry:\n", "retry: 99999999999999999999\n"}) {
        CAPTURE(bad);
        EventStream stream(1000);
        read(stream, bad, 100);
        CHECK_FALSE(stream.retry());
    }
    EventStream stream(1000);
    read(stream, "retry: 99999999999\n", 100);
    CHECK(stream.retry() == std::chrono::hours(1));
}

TEST_CASE("an event has a bound, in one line and over many") {
    EventStream one_line(100);
    CHECK_THROWS_AS(read(one_line, "data: " + std::string(100, 'x'), 10), Error);
    EventStream many(100);
    std::string lines;
    for (int i = 0; i < 60; ++i) {
        lines += "data: x\n";
    }
    CHECK_THROWS_AS(read(many, lines, 8), Error);
    EventStream comments(100);
    std::string ignored;
    for (int i = 0; i < 60; ++i) {
        ignored += ": keep alive\n";
    }
    CHECK_NOTHROW(read(comments, ignored, 8)); // a stream that lives long has many of these
}
