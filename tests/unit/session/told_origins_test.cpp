#include "told_origins.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::session;

namespace {

const std::string run = "run-1";

struct Code {
    void connects(std::int64_t line, std::int64_t socket, const std::string& execution = run) {
        protocol::ChannelOriginParams told;
        told.line = line;
        told.execution = execution;
        told.socket = socket;
        origins.add(std::move(told), run);
    }
    void starts(std::int64_t line, std::int64_t thread, std::vector<std::int64_t> children,
                const std::string& execution = run) {
        protocol::ChannelOriginParams told;
        told.line = line;
        told.execution = execution;
        told.thread = thread;
        told.children = std::move(children);
        origins.add(std::move(told), run);
    }
    std::optional<std::int64_t> line_of_socket(std::int64_t socket) const {
        egress::Caller caller;
        caller.socket = socket;
        return origins.line_of(caller, run);
    }
    std::optional<std::int64_t> line_of(std::vector<egress::Caller::Start> starts) const {
        egress::Caller caller;
        caller.socket = 999;
        caller.starts = std::move(starts);
        return origins.line_of(caller, run);
    }

    ToldOrigins origins;
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
    // A program's programs are what the line started, too: nobody says anything of the steps in between.
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
    egress::Caller caller;
    caller.starts.push_back({41, 2});
    CHECK(code.origins.line_of(caller, run) == 6);
    CHECK_FALSE(code.origins.line_of(caller, "the next"));
}

TEST_CASE("words that may have been missed take the earlier ones with them") {
    Code code;
    code.starts(1, 2, {});
    REQUIRE(code.line_of({{41, 2}}));
    SUBCASE("the code said nothing more") {
        code.origins.forget();
    }
    SUBCASE("more children than are listened to") {
        code.starts(4, 2, std::vector<std::int64_t>(65, 41));
    }
    SUBCASE("neither a socket nor a program") {
        code.origins.add(protocol::ChannelOriginParams(), run);
    }
    SUBCASE("any number of words") {
        for (int i = 0; i < 128; ++i) {
            code.starts(4, 2, {41});
        }
    }
    CHECK_FALSE(code.line_of({{41, 2}}));
}
