#include "sandbox/build_run.hpp"

#include "base/sync.hpp"

#include <memory>
#include <utility>

namespace cellgate::sandbox {

namespace {

struct RunningBuild {
    std::unique_ptr<async::Process> process;
    std::function<void(const std::string&)> on_output;
    Event ended;
};

Task<void> read_build(std::shared_ptr<RunningBuild> running) {
    while (true) {
        const std::string bytes = co_await running->process->stdio().read();
        if (bytes.empty()) {
            break;
        }
        if (running->on_output) {
            running->on_output(bytes);
        }
    }
    co_await running->process->exited();
    running->ended.set();
}

// Kills it unless it has ended.
Task<void> end_build(std::shared_ptr<RunningBuild> running, TaskScope* reading) {
    if (!running->ended.is_set()) {
        running->process->kill();
    }
    co_await reading->join();
}

} // namespace

Task<BuildRun> run_build(async::Loop& loop, async::Command command, BuildProfile profile,
                         const Environment& environment, std::string input,
                         std::function<void(const std::string& bytes)> on_output) {
    std::function<Launch()> wrap = [&command, &profile, &environment] {
        return wrap_build(std::move(command), profile, environment);
    };
    Launch launch = co_await loop.run_blocking(std::move(wrap));
    const auto running = std::make_shared<RunningBuild>();
    running->on_output = std::move(on_output);
    running->process = async::start_process(loop, std::move(launch.command));
    if (!input.empty()) {
        running->process->stdio().write(std::move(input));
    }
    running->process->close_stdin();
    TaskScope reading;
    reading.spawn(read_build(running));
    co_await finally(until_set(running->ended), end_build(running, &reading));
    BuildRun ran;
    ran.status = co_await running->process->exited();
    ran.errors = running->process->stderr_tail();
    ran.layers = std::move(launch.layers);
    co_return ran;
}

} // namespace cellgate::sandbox
