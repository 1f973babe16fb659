#include "connection_attribution.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::session;

namespace {

const std::string run = "run-1";

struct Code {
    void connects(std::int64_t line, std::int64_t socket, const std::string& execution = run) {
        protocol::ChannelOriginParams reported;
        reported.line = line;
        reported.execution = execution;
        reported.socket = socket;
        attribution.add(std::move(reported), run);
    }
    void starts(std::int64_t line, std::int64_t thread, std::vector<std::int64_t> children,
                const std::string& execution = run) {
        protocol::ChannelOriginParams reported;
        reported.line = line;
        reported.execution = execution;
        reported.thread = thread;
        reported.children = std::move(children);
        attribution.add(std::move(reported), run);
    }
    std::optional<std::int64_t> line_of_socket(std::int64_t socket) const {
        egress::ConnectionSource source;
        source.socket = socket;
        return attribution.line_of(source, run);
    }
    std::optional<std::int64_t> line_of(std::vector<egress::ConnectionSource::Start> starts) const {
        egress::ConnectionSource source;
        source.socket = 999;
        source.starts = std::move(starts);
        return attribution.line_of(source, run);
    }

    ConnectionAttribution attribution;
};

} // namespace

TEST_CASE("a connection of the code's own is known by its socket") {
    Code code;
    code.connects(3, 501);
    code.connects(5, 502);
    CHECK(code.line_of_socket(501) == 3);
    CHECK(code.line_of_socket(502) == 5);
    CHECK_FALSE(code.line_of_socket(503));
    code.connects(8, 501); // the number again, of a later socket
    CHECK(code.line_of_socket(501) == 8);
    CHECK_FALSE(code.line_of({}));
}

TEST_CASE("a program that goes on belongs to the line that started it, whatever was started since") {
    Code code;
    code.starts(1, 2, {});
    CHECK(code.line_of({{41, 2}}) == 1);
    code.starts(4, 2, {41});
    CHECK(code.line_of({{41, 2}}) == 1);
    CHECK(code.line_of({{42, 2}}) == 4);
    // A program's programs are what the line started, too: the steps in between are not reported.
    CHECK(code.line_of({{57, 43}, {43, 41}, {41, 2}}) == 1);
    CHECK_FALSE(code.line_of({{57, 43}, {43, 1}}));
}

TEST_CASE("which of two threads started a program is not guessed") {
    Code code;
    code.starts(1, 2, {});
    code.starts(4, 7, {41});
    CHECK(code.line_of({{41, 2}}) == 1);
    CHECK(code.line_of({{42, 7}}) == 4);
    // Of a thread that has ended, the system says that its programs are another one's.
    CHECK_FALSE(code.line_of({{42, 2}}));
    code.starts(4, 8, {41, 42});
    CHECK(code.line_of({{43, 7}}) == 4); // both say the same
}

TEST_CASE("what belongs to another execution than the one that runs has no line in it") {
    Code code;
    code.connects(3, 501, "another");
    code.starts(3, 2, {}, "another");
    CHECK_FALSE(code.line_of_socket(501));
    CHECK_FALSE(code.line_of({{41, 2}}));
    code.starts(6, 2, {});
    egress::ConnectionSource source;
    source.starts.push_back({41, 2});
    CHECK(code.attribution.line_of(source, run) == 6);
    CHECK_FALSE(code.attribution.line_of(source, "the next"));
}

TEST_CASE("reports that may have been missed invalidate the earlier ones") {
    Code code;
    code.starts(1, 2, {});
    REQUIRE(code.line_of({{41, 2}}));
    SUBCASE("the code said nothing more") {
        code.attribution.clear();
    }
    SUBCASE("more children than are listened to") {
        code.starts(4, 2, std::vector<std::int64_t>(65, 41));
    }
    SUBCASE("neither a socket nor a program") {
        code.attribution.add(protocol::ChannelOriginParams(), run);
    }
    SUBCASE("any number of reports") {
        for (int i = 0; i < 128; ++i) {
            code.starts(4, 2, {41});
        }
    }
    CHECK_FALSE(code.line_of({{41, 2}}));
}
