// What it takes to run a command in the sandbox of a kernel. Usage: launch WORKSPACE SESSION_DIRECTORY COMMAND…, or
// launch - - COMMAND… for the command as it is. A sample is the time from the plan of the mounts to the command's end.

#include "async/loop.hpp"
#include "async/process.hpp"
#include "sandbox/launcher.hpp"
#include "worker.hpp"

#include <spawn.h>

using namespace cellgate;

namespace {

Task<void> run(async::Loop* loop, async::Command command, async::ExitStatus* status) {
    const std::unique_ptr<async::Process> process = async::start_process(*loop, std::move(command));
    *status = co_await process->exited();
}

bool launch(async::Loop& loop, sandbox::Launcher& launcher, const sandbox::Profile& profile,
            const std::vector<std::string>& argv) {
    async::Command command;
    command.argv = argv;
    sandbox::Launch wrapped = launcher.wrap(std::move(command), profile);
    async::ExitStatus status;
    loop.run(run(&loop, std::move(wrapped.command), &status));
    return status.success();
}

bool spawn(const std::vector<std::string>& arguments) {
    std::vector<char*> argv;
    for (const std::string& argument : arguments) {
        argv.push_back(const_cast<char*>(argument.c_str()));
    }
    argv.push_back(nullptr);
    pid_t pid = 0;
    int status = 0;
    return ::posix_spawnp(&pid, argv[0], nullptr, nullptr, argv.data(), environ) == 0 &&
           ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        bench::die("usage: launch WORKSPACE|- SESSION_DIRECTORY|- COMMAND…");
    }
    const std::vector<std::string> command(argv + 3, argv + argc);
    const bool in_sandbox = std::string_view(argv[1]) != "-";
    sandbox::Profile profile;
    profile.workspace = argv[1];
    profile.session_dir = argv[2];
    const auto launcher = sandbox::make_launcher(sandbox::default_isolation, process_environment());
    async::Loop loop;
    bench::serve([&] {
        const double start = bench::now();
        if (!(in_sandbox ? launch(loop, *launcher, profile, command) : spawn(command))) {
            bench::die("the command failed");
        }
        return bench::now() - start;
    });
}
