#include "launch/run_program.hpp"

#include "async/helper_program.hpp"
#include "base/error.hpp"
#include "base/files.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <iterator>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <utility>

namespace cellgate::sandbox {

namespace {

using Steady = std::chrono::steady_clock;

constexpr std::chrono::seconds max_run_time{10};

// Where the program and the supervisor have their descriptors.
constexpr int first_descriptor = 3;
constexpr int first_aside = 100; // above every target, so that no source is overwritten before it is copied
constexpr int helper_number = 200;

// `cellgate supervise` of the program, whose control pipe comes after its descriptors. The lifeline, which is
// not read, says that the program is not to be killed when the supervisor is: it ends by itself, and a bwrap that is
// killed while it makes its child leaves that one waiting for ever.
std::vector<std::string> supervised(std::vector<std::string> argv, int descriptors) {
    const int control = first_descriptor + descriptors;
    std::vector<std::string> all = {"cellgate", "supervise", std::to_string(control)};
    for (int number = first_descriptor; number < control; ++number) {
        all.push_back(std::to_string(number));
    }
    all.insert(all.end(), {"--lifeline", std::to_string(control + 1), "--"});
    all.insert(all.end(), std::make_move_iterator(argv.begin()), std::make_move_iterator(argv.end()));
    return all;
}

// Starts the helper with `out` and `error` as its outputs, and `descriptors` from number 3 on. Returns 0, or an errno.
int spawn(pid_t& pid, std::vector<std::string>& argv, int out, int error, const std::vector<int>& descriptors) {
    const UniqueFd helper(::fcntl(async::helper_program(), F_DUPFD_CLOEXEC, helper_number));
    if (!helper.valid()) {
        return errno;
    }
    std::vector<UniqueFd> aside;
    for (const int descriptor : descriptors) {
        if (!aside.emplace_back(::fcntl(descriptor, F_DUPFD_CLOEXEC, first_aside)).valid()) {
            return errno;
        }
    }
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, out, 1);
    ::posix_spawn_file_actions_adddup2(&actions, error, 2);
    for (std::size_t i = 0; i < aside.size(); ++i) {
        ::posix_spawn_file_actions_adddup2(&actions, aside[i].get(), first_descriptor + static_cast<int>(i));
    }
    std::vector<char*> pointers;
    for (std::string& argument : argv) {
        pointers.push_back(argument.data());
    }
    pointers.push_back(nullptr);
    char path[] = "PATH=/usr/bin:/bin";
    std::array<char*, 2> environment = {path, nullptr};
    const std::string program = fmt::format("/proc/self/fd/{}", helper.get());
    const int failed = ::posix_spawn(&pid, program.c_str(), &actions, nullptr, pointers.data(), environment.data());
    ::posix_spawn_file_actions_destroy(&actions);
    return failed;
}

// Until both ends are closed, or for ten seconds.
void read_output(int out, int error, RunOutput& output) {
    const Steady::time_point deadline = Steady::now() + max_run_time;
    std::array<pollfd, 2> sources = {pollfd{out, POLLIN, 0}, pollfd{error, POLLIN, 0}};
    std::array<std::string*, 2> sinks = {&output.out, &output.error};
    while (sources[0].fd >= 0 || sources[1].fd >= 0) {
        auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Steady::now()).count();
        if (left <= 0) {
            output.error += fmt::format("no answer within {} seconds", max_run_time.count());
            break;
        }
        if (::poll(sources.data(), sources.size(), static_cast<int>(left)) <= 0) {
            continue;
        }
        for (std::size_t i = 0; i < sources.size(); ++i) {
            if (sources[i].fd < 0 || sources[i].revents == 0) {
                continue;
            }
            std::array<char, 4096> buffer = {};
            ssize_t count = ::read(sources[i].fd, buffer.data(), buffer.size());
            if (count > 0) {
                sinks[i]->append(buffer.data(), static_cast<std::size_t>(count));
            } else if (count == 0 || errno != EINTR) {
                sources[i].fd = -1;
            }
        }
    }
}

} // namespace

RunOutput run_program(std::vector<std::string> argv, const std::vector<UniqueFd>& descriptors) {
    auto [out_read, out_write] = make_pipe();
    auto [error_read, error_write] = make_pipe();
    Pipe control = make_pipe();
    std::vector<int> given;
    for (const UniqueFd& descriptor : descriptors) {
        given.push_back(descriptor.get());
    }
    const std::string name = argv[0];
    std::vector<std::string> command = supervised(std::move(argv), static_cast<int>(given.size()));
    given.push_back(control.read.get());
    pid_t pid = 0;
    RunOutput output;
    if (const int failed = spawn(pid, command, out_write.get(), error_write.get(), given); failed != 0) {
        output.error = system_error(ErrorCode::internal_error, "cannot start " + name, failed).message;
        return output;
    }
    out_write.reset();
    error_write.reset();
    read_output(out_read.get(), error_read.get(), output);
    control.write.reset(); // it ends the program, if that still runs
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    output.success = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return output;
}

} // namespace cellgate::sandbox
