// What the tests of async/ start as a process of its own: a small sidecar.
//
//   async_fixture hold COMMAND…   runs a loop with COMMAND as its child, until it is killed
//   async_fixture copy            copies stdin to stdout through a stream of the loop
//   async_fixture comet SECONDS   forks and ends, each generation in a session of its own, for at most SECONDS
//   async_fixture cleanup FOLDER    makes the folder, registered for cleanup, says so, and waits to be killed
//   async_fixture no-cleanup FOLDER the same without registration
//   async_fixture deadlock        runs a loop whose main task waits for ever

#include "async/cleanup_registration.hpp"
#include "async/process.hpp"
#include "async/stream.hpp"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <signal.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

using namespace cellgate;
using namespace cellgate::async;

namespace {

Task<void> hold(Loop* loop, std::vector<std::string> argv) {
    Command command;
    command.argv = std::move(argv);
    for (const char* name : {"PATH", "MARK"}) {
        command.environment[name] = std::getenv(name);
    }
    const std::unique_ptr<Process> process = start_process(*loop, command);
    co_await process->exited();
}

Task<void> copy(Loop* loop) {
    const std::unique_ptr<ByteStream> stream = open_stream(*loop, STDIN_FILENO, STDOUT_FILENO);
    while (true) {
        const std::string bytes = co_await stream->read();
        if (bytes.empty()) {
            co_return;
        }
        stream->write(bytes);
        co_await stream->drained(0);
    }
}

Task<void> wait_for_ever() {
    Event event;
    co_await event.wait();
}

int comet(int seconds) {
    const std::time_t end = std::time(nullptr) + seconds;
    for (int generation = 0; std::time(nullptr) < end; ++generation) {
        if (::fork() != 0) {
            ::_exit(0);
        }
        ::setsid();
        if (generation == 20) {
            ::dprintf(STDOUT_FILENO, "under way");
        }
    }
    return 0;
}

int make(const char* folder, bool registered) {
    const auto kept = registered ? std::make_unique<CleanupRegistration>(CleanupKind::folder, folder) : nullptr;
    if (::mkdir(folder, 0700) != 0 || ::write(STDOUT_FILENO, "1", 1) != 1) {
        return 1;
    }
    while (true) {
        ::pause();
    }
}

} // namespace

int main(int argc, char** argv) {
    const std::string_view mode = argc > 1 ? argv[1] : "";
    if (mode == "comet") {
        // The first one stays: a supervisor ends its descendants when its command has ended.
        if (::fork() == 0) {
            return comet(std::atoi(argv[2]));
        }
        ::pause();
        return 0;
    }
    if (mode == "cleanup" || mode == "no-cleanup") {
        return make(argv[2], mode == "cleanup");
    }
    Loop loop;
    if (mode == "hold") {
        loop.run(hold(&loop, {argv + 2, argv + argc}));
    } else if (mode == "copy") {
        loop.run(copy(&loop));
    } else if (mode == "deadlock") {
        loop.run(wait_for_ever());
    }
    return 0;
}
