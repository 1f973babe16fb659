#include "launch/run_program.hpp"

#include "base/error.hpp"
#include "base/files.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cellgate::sandbox {

namespace {

using Steady = std::chrono::steady_clock;

constexpr std::chrono::seconds max_run_time{10};

// Starts the program with `out` and `error` as its outputs. Returns 0, or an errno.
int spawn(pid_t& pid, std::vector<std::string>& argv, int out, int error, const std::vector<UniqueFd>& descriptors) {
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, out, 1);
    ::posix_spawn_file_actions_adddup2(&actions, error, 2);
    // First out of the way, so that no target number is a source that is still needed.
    constexpr int aside = 100;
    for (std::size_t i = 0; i < descriptors.size(); ++i) {
        ::posix_spawn_file_actions_adddup2(&actions, descriptors[i].get(), aside + static_cast<int>(i));
    }
    for (std::size_t i = 0; i < descriptors.size(); ++i) {
        ::posix_spawn_file_actions_adddup2(&actions, aside + static_cast<int>(i), 3 + static_cast<int>(i));
        ::posix_spawn_file_actions_addclose(&actions, aside + static_cast<int>(i));
    }
    std::vector<char*> pointers;
    for (std::string& argument : argv) {
        pointers.push_back(argument.data());
    }
    pointers.push_back(nullptr);
    char path[] = "PATH=/usr/bin:/bin";
    std::array<char*, 2> environment = {path, nullptr};
    const int failed = ::posix_spawn(&pid, pointers[0], &actions, nullptr, pointers.data(), environment.data());
    ::posix_spawn_file_actions_destroy(&actions);
    return failed;
}

// Until both ends are closed. A program that takes too long is killed.
void read_output(pid_t pid, int out, int error, RunOutput& output) {
    const Steady::time_point deadline = Steady::now() + max_run_time;
    std::array<pollfd, 2> sources = {pollfd{out, POLLIN, 0}, pollfd{error, POLLIN, 0}};
    std::array<std::string*, 2> sinks = {&output.out, &output.error};
    while (sources[0].fd >= 0 || sources[1].fd >= 0) {
        auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Steady::now()).count();
        if (left <= 0) {
            ::kill(pid, SIGKILL);
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
    pid_t pid = 0;
    RunOutput output;
    if (const int failed = spawn(pid, argv, out_write.get(), error_write.get(), descriptors); failed != 0) {
        output.error = system_error(ErrorCode::internal_error, "cannot start " + argv[0], failed).message;
        return output;
    }
    out_write.reset();
    error_write.reset();
    read_output(pid, out_read.get(), error_read.get(), output);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    output.success = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return output;
}

} // namespace cellgate::sandbox
