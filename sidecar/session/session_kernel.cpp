// A session's kernel: starting, losing and replacing it, and the end of the session.

#include "execution_run.hpp"
#include "kernel_instance.hpp"
#include "kernel_limits.hpp"
#include "kernel_source.hpp"
#include "sandbox/explain.hpp"
#include "session/session.hpp"
#include "session/session_limits.hpp"
#include "session/spare_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace cellgate::session {

namespace {

constexpr Duration shutdown_grace = std::chrono::milliseconds(500);

} // namespace

Task<void> Session::start() {
    co_await start_kernel();
    kernel_ready_.set();
    tasks_.spawn(watch_kernel(instance_));
    tasks_.spawn(run_queue());
    set_status(protocol::SessionStatus::idle);
}

Task<void> Session::start_kernel() {
    KernelContext context{services_, options_, *launcher_, &queue_, this, this, latest_};
    instance_ = co_await KernelInstance::start(context);
    limits_->restart(instance_->group.get());
    borrowing_agent_.reset();
    services_.observer.on_kernel_started(options_.id);
    if (services_.spares != nullptr) {
        services_.spares->kernel_started(options_, *instance_);
    }
}

void Session::mark_kernel_lost(const std::string& reason) {
    const bool has_ended = instance_->kernel->has_exited() || instance_->kernel->ends_when_stopped();
    const std::string with_loss = has_ended ? reason + "; its variables are gone" : reason;
    if (!instance_->lost) {
        instance_->lost = with_loss;
        kernel_ready_.reset();
        cancel_queued(std::nullopt, "the kernel that it waited for is gone: " + reason);
    }
    if (!closing_ && status_ != protocol::SessionStatus::restarting) {
        set_status(protocol::SessionStatus::restarting, with_loss);
    }
}

Task<void> Session::watch_kernel(std::shared_ptr<KernelInstance> instance) {
    const jupyter::KernelExit kernel_exit = co_await instance->kernel->exited();
    if (replacing_) {
        co_return;
    }
    replacing_ = true;
    if (!queue_.running()) { // otherwise its run knows the reason
        const std::optional<LimitExceeded> exceeded = limits_->exceeded(instance->group.get(), kernel_exit);
        mark_kernel_lost(exceeded ? exceeded->reason : kernel_exit.cause);
    }
    co_await replace_kernel(instance, Duration::zero());
}

Task<void> Session::replace_kernel(std::shared_ptr<KernelInstance> instance, Duration grace) {
    co_await shielded(instance->end(grace));
    std::optional<Error> failure;
    try {
        while (const std::shared_ptr<Execution> running = queue_.running()) {
            co_await running->finished.wait(); // it ends with its kernel
        }
        co_await start_kernel();
    } catch (const Error& error) {
        failure = error;
    } catch (const std::exception& error) {
        failure = Error(ErrorCode::kernel_start_failed, error.what());
    }
    replacing_ = false;
    kernel_failure_ = failure;
    if (!closing_ && failure) {
        cancel_queued(std::nullopt, "no new kernel could be started: " + failure->message);
        set_status(protocol::SessionStatus::dead, failure->message);
    } else if (!closing_) {
        tasks_.spawn(watch_kernel(instance_));
        kernel_ready_.set();
        set_status(protocol::SessionStatus::idle);
    }
    replaced_.set();
}

// Throws the errors that a start with them would throw.
Task<void> Session::check_settings(const SandboxChange& change) {
    sandbox::Profile profile = instance_->profile;
    profile.settings = sandbox::with_additions(change.settings, change.additions);
    profile.image = change.image;
    if (!sandbox::traits_of(options_.isolation).isolates || !profile.settings) {
        co_return;
    }
    std::function<void()> plan = [this, &profile] { sandbox::explain_paths(profile, services_.environment, {}); };
    co_await shielded(services_.loop.run_blocking(std::move(plan)));
}

Task<void> Session::restart(SandboxChange change) {
    require_restartable();
    co_await check_settings(change);
    require_restartable();
    replacing_ = true;
    replaced_.reset();
    options_.settings = std::move(change.settings);
    options_.additions = std::move(change.additions);
    options_.image = std::move(change.image);
    mark_kernel_lost("the session was restarted");
    tasks_.spawn(replace_kernel(instance_, shutdown_grace));
    co_await replaced_.wait();
    require_open();
    if (kernel_failure_) {
        throw *kernel_failure_;
    }
}

Task<std::vector<protocol::LimitName>> Session::set_limits(protocol::Limits change) {
    require_open();
    const protocol::Limits limits = with_changed(options_.limits, change);
    const std::shared_ptr<KernelInstance> instance = instance_;
    const std::shared_ptr<sandbox::ControlGroup> group = instance ? instance->group : nullptr;
    const sandbox::Limits started = instance ? instance->profile.limits : sandbox::Limits{};
    const sandbox::GroupLimits held = group ? group->holds() : sandbox::GroupLimits{};
    std::vector<protocol::LimitName> later = after_restart(change, started, held);
    sandbox::GroupLimits at_once = sandbox::group_limits(limits_of_sandbox(limits));
    if (std::find(later.begin(), later.end(), protocol::LimitName::memory_bytes) != later.end()) {
        at_once.memory_bytes.reset();
    }
    if (std::find(later.begin(), later.end(), protocol::LimitName::process_count) != later.end()) {
        at_once.process_count.reset();
    }
    std::function<void()> work = [&] {
        launcher_->check_limits(limits_of_sandbox(limits));
        if (group) {
            group->change(at_once);
        }
    };
    co_await shielded(services_.loop.run_blocking(std::move(work)));
    options_.limits = with_changed(options_.limits, change);
    co_return later;
}

void Session::require_restartable() const {
    require_open();
    const std::string_view no_restart = source_of(options_.kernel).no_restart;
    if (!no_restart.empty() && status_ != protocol::SessionStatus::dead) {
        throw Error(ErrorCode::unsupported, std::string(no_restart), "Restart it where it was started.");
    }
    if (replacing_) {
        throw Error(ErrorCode::busy, fmt::format("session {} is being restarted already", options_.id));
    }
}

Task<void> Session::close(std::string reason) {
    if (std::exchange(closing_, true)) {
        co_await closed_.wait();
        co_return;
    }
    if (instance_) {
        mark_kernel_lost(reason);
        cancel_queued(std::nullopt, reason); // also those queued after an earlier loss
        instance_->close_channels();
    }
    co_await shielded(cancel_and_join(tasks_));
    if (instance_) {
        co_await shielded(instance_->end(Duration::zero()));
    }
    services_.gate.end_session(options_.id);
    // A run of a tool ends as it should, and nothing of a user's is lost with it.
    set_status(protocol::SessionStatus::dead, options_.saved_tool ? std::nullopt : std::optional(std::move(reason)));
    closed_.set();
}

} // namespace cellgate::session
