#include "session/spare_kernels.hpp"

#include "base/log.hpp"
#include "base/names.hpp"
#include "kernel_instance.hpp"

#include <fstream>

namespace cellgate::session {

namespace {

constexpr Duration quiet_before_start = std::chrono::seconds(1);
constexpr Duration look_every = std::chrono::seconds(10);
constexpr Duration max_unused = std::chrono::minutes(30);

// Below a twentieth of the machine's memory, or what a few kernels take.
bool has_little_memory(const std::string& meminfo) {
    constexpr std::uint64_t few_kernels = std::uint64_t{512} << 10; // KiB, as in the file
    std::ifstream file(meminfo);
    std::string name;
    std::string unit;
    std::uint64_t value = 0;
    std::uint64_t total = 0;
    while (file >> name >> value >> unit) {
        if (name == "MemTotal:") {
            total = value;
        } else if (name == "MemAvailable:") {
            return value < std::max(total / 20, few_kernels);
        }
    }
    return false; // the system does not say
}

} // namespace

struct SpareKernels::Spare {
    Spare(SessionServices& services, SessionOptions options_)
        : options(std::move(options_)), launcher(sandbox::make_launcher(options.isolation, services.environment)) {}

    SessionOptions options; // with an id of its own
    std::unique_ptr<sandbox::Launcher> launcher;
    LatestKernel latest;
    std::unique_ptr<KernelInstance> instance;
};

SpareKernels::SpareKernels(SessionServices& services, std::function<bool()> is_busy)
    : services_(services), is_busy_(std::move(is_busy)) {}

SpareKernels::~SpareKernels() = default;

void SpareKernels::enable(bool enabled) {
    if (std::exchange(enabled_, enabled) == enabled) {
        return;
    }
    if (enabled) {
        tasks_.spawn(keep_ready());
    } else {
        tasks_.cancel();
        wanted_.reset();
        drop("it was switched off");
    }
}

void SpareKernels::kernel_started(const SessionOptions& options, const KernelInstance& instance) {
    if (enabled_ && instance.may_have_spare && !options.saved_tool) {
        wanted_ = options;
        wanted_->id = "spare-" + random_id();
        wanted_->agent.reset();
        changed_.notify();
    }
}

Task<void> SpareKernels::keep_ready() {
    const auto is_wanted = [this] { return wanted_ && !spare_; };
    while (true) {
        co_await changed_.until(is_wanted);
        co_await wait_quiet();
        if (!is_wanted()) {
            continue;
        }
        const auto spare = std::make_shared<Spare>(services_, std::move(*wanted_));
        wanted_.reset();
        co_await start(spare);
    }
}

Task<void> SpareKernels::wait_quiet() {
    do {
        co_await sleep_for(services_.clock, quiet_before_start);
    } while (is_busy_());
}

Task<void> SpareKernels::start(SparePtr spare) {
    const bool is_short = co_await is_memory_short();
    if (is_short) {
        log_info("no spare kernel is started: the machine has little memory left");
        co_return;
    }
    std::optional<std::string> failure;
    try {
        KernelContext context{services_, spare->options, *spare->launcher, nullptr, nullptr, nullptr, spare->latest};
        spare->instance = co_await KernelInstance::start(context);
    } catch (const Cancelled&) {
        services_.gate.end_session(spare->options.id);
        throw;
    } catch (const Error& error) {
        services_.gate.end_session(spare->options.id);
        failure = error.message;
    }
    if (failure) {
        log_info("no spare kernel: {}", *failure);
        co_return;
    }
    spare_ = spare;
    log_info("a spare kernel is ready: {}", spare->latest.kernel.name);
    tasks_.spawn(watch(spare));
}

Task<void> SpareKernels::watch(SparePtr spare) {
    const Instant unused_until = services_.clock.now() + max_unused;
    while (spare_ == spare) {
        co_await sleep_for(services_.clock, look_every);
        const std::optional<std::string> reason = co_await reason_to_end(spare, unused_until);
        if (reason && spare_ == spare) {
            wanted_.reset();
            drop(*reason);
        }
    }
}

Task<std::optional<std::string>> SpareKernels::reason_to_end(SparePtr spare, Instant unused_until) {
    if (!spare->instance->kernel || spare->instance->kernel->has_exited()) {
        co_return "its process has ended";
    }
    if (services_.clock.now() >= unused_until) {
        co_return "nothing used it";
    }
    const bool is_short = co_await is_memory_short();
    if (is_short) {
        co_return "the machine has little memory left";
    }
    co_return std::nullopt;
}

Task<bool> SpareKernels::is_memory_short() {
    std::function<bool()> look = [this] { return has_little_memory(services_.meminfo); };
    co_return co_await services_.loop.run_blocking(std::move(look));
}

Task<std::unique_ptr<KernelInstance>> SpareKernels::take(KernelContext context, jupyter::KernelChoice choice) {
    const SparePtr spare = std::exchange(spare_, nullptr);
    if (!spare) {
        co_return nullptr;
    }
    auto instance = std::make_unique<KernelInstance>(context);
    std::optional<std::string> difference;
    try {
        if (spare->instance->kernel->has_exited()) {
            difference = "its process has ended";
        } else {
            difference = co_await instance->difference_to(*spare->instance, std::move(choice));
        }
    } catch (const Cancelled&) {
        end_soon(spare);
        throw;
    } catch (const Error& error) {
        difference = error.message;
    }
    if (!difference) {
        co_await on_failure(instance->adopt(*spare->instance), instance->end(Duration::zero()));
        log_info("session {}: has the spare kernel", context.options.id);
    } else {
        instance.reset();
        log_info("session {}: starts a kernel, the spare one would not do: {}", context.options.id, *difference);
    }
    end_soon(spare);
    co_return std::move(instance);
}

std::optional<KernelProcesses> SpareKernels::processes() const {
    if (!spare_ || spare_->instance->kernel->has_exited()) {
        return std::nullopt;
    }
    return spare_->instance->processes();
}

void SpareKernels::drop(const std::string& reason) {
    if (const SparePtr spare = std::exchange(spare_, nullptr)) {
        log_info("the spare kernel ends: {}", reason);
        end_soon(spare);
    }
}

// Also what is left of one whose kernel a session has.
void SpareKernels::end_soon(SparePtr spare) {
    ending_.spawn(end(std::move(spare)));
}

Task<void> SpareKernels::end(SparePtr spare) {
    services_.gate.end_session(spare->options.id);
    co_await spare->instance->end(Duration::zero());
}

Task<void> SpareKernels::close() {
    enabled_ = false;
    tasks_.cancel();
    co_await tasks_.join();
    drop("the sidecar ends");
    co_await ending_.join();
}

} // namespace cellgate::session
