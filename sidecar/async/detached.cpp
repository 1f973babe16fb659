#include "async/detached.hpp"

#include "base/error.hpp"
#include "base/files.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cellgate::async {

namespace {

[[noreturn]] void report_and_end(int report) {
    const int error = errno;
    const ssize_t written = ::write(report, &error, sizeof error);
    ::_exit(written == sizeof error ? 0 : 1);
}

// Between fork() and exec() only what is safe in a signal handler: other threads may hold any lock.
[[noreturn]] void become_detached(char** argv, int words, int report) {
    if (::setsid() < 0) {
        report_and_end(report);
    }
    if (const pid_t second = ::fork(); second != 0) {
        if (second < 0) {
            report_and_end(report);
        }
        ::_exit(0); // the second child is now orphaned, and is no session leader that could get a terminal
    }
    const int null = ::open("/dev/null", O_RDWR);
    if (null < 0 || ::dup2(null, STDIN_FILENO) < 0 || ::dup2(null, STDOUT_FILENO) < 0 ||
        ::dup2(words, STDERR_FILENO) < 0 || ::chdir("/") != 0) {
        report_and_end(report);
    }
    // Descriptors leaked by the editor must not stay open as long as this process lives. `report` closes by exec() as
    // well.
    ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
    sigset_t none{};
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execv("/proc/self/exe", argv);
    report_and_end(report);
}

} // namespace

int start_detached(const std::vector<std::string>& words) {
    std::vector<std::string> arguments{"cellgate"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    std::vector<char*> argv;
    for (std::string& argument : arguments) {
        argv.push_back(argument.data());
    }
    argv.push_back(nullptr);
    Pipe report = make_pipe();
    Pipe its_stderr = make_pipe();
    const pid_t first = ::fork();
    if (first == 0) {
        become_detached(argv.data(), its_stderr.write.get(), report.write.get());
    }
    int error = first < 0 ? errno : 0;
    ::close(report.write.release());
    if (first > 0) {
        while (::waitpid(first, nullptr, 0) < 0 && errno == EINTR) {
        }
        // The pipe ends when exec() has closed it.
        if (::read(report.read.get(), &error, sizeof error) == 0) {
            error = 0;
        }
    }
    if (error != 0) {
        throw system_error(ErrorCode::internal_error, "cannot start a detached process", error);
    }
    ::fcntl(its_stderr.read.get(), F_SETFL, O_NONBLOCK);
    return its_stderr.read.release();
}

} // namespace cellgate::async
