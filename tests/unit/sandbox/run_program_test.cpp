#include "launch/run_program.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <unistd.h>

namespace cellgate::sandbox {

TEST_CASE("a program that is run to read its output gets the descriptors") {
    std::vector<UniqueFd> given;
    given.emplace_back(::dup(STDERR_FILENO));
    const RunOutput output = run_program({"/bin/sh", "-c", "echo out; echo error >&2; test -e /proc/self/fd/3"}, given);
    CHECK(output.success);
    CHECK(output.out == "out\n");
    CHECK(output.error == "error\n");
    CHECK_FALSE(run_program({"/bin/sh", "-c", "test -e /proc/self/fd/3"}, {}).success);
    CHECK_FALSE(run_program({"/there/is/none"}, {}).success);
}

TEST_CASE("what a program leaves behind when it is killed ends with it") {
    // As bwrap leaves its child, which waits for it with the ends of the pipes open.
    const RunOutput output = run_program({"/bin/sh", "-c", "sleep 1000 & echo $!; kill -9 $$"}, {});
    CHECK_FALSE(output.success);
    REQUIRE_FALSE(output.out.empty());
    CHECK(output.error.empty()); // not "no answer within 10 seconds"
    CHECK(::kill(std::stoi(output.out), 0) == -1);
    CHECK(errno == ESRCH);
}

} // namespace cellgate::sandbox
