#include "base/files.hpp"
#include "launch/run_program.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <csignal>
#include <fcntl.h>
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

TEST_CASE("descriptors get to a program whatever their numbers are") {
    // Each in the place of another: with numbers that are aside, targets, or neither.
    std::vector<UniqueFd> held;
    std::vector<UniqueFd> given;
    for (const int number : {111, 112, 100, 101, 5, 4, 3}) {
        Pipe pipe = make_pipe();
        const std::string text = std::to_string(number);
        REQUIRE(::write(pipe.write.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
        given.emplace_back(::fcntl(pipe.read.get(), F_DUPFD_CLOEXEC, number));
        held.push_back(std::move(pipe.read));
    }
    const RunOutput output =
        run_program({"/bin/sh", "-c", "for n in 3 4 5 6 7 8 9; do cat <&$n; echo; done; exec 2>/dev/null"}, given);
    CHECK(output.error.empty());
    CHECK(output.out == "111\n112\n100\n101\n5\n4\n3\n");
    CHECK(output.success);
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
