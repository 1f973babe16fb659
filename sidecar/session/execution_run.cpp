#include "execution_run.hpp"

#include "base/log.hpp"
#include "base/names.hpp"
#include "base/scope_exit.hpp"
#include "base/sync.hpp"
#include "execution_results.hpp"
#include "install_notes.hpp"
#include "jupyter/last_messages.hpp"
#include "notes.hpp"
#include "path_inspection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace cellgate::session {

namespace {

constexpr Duration timeout_grace = std::chrono::seconds(5);
constexpr Duration hang_grace = std::chrono::seconds(3); // for a kernel that may hang when it is interrupted
constexpr Duration max_prompt_delay = std::chrono::milliseconds(200); // while a thread prints on
constexpr Duration exit_grace = std::chrono::seconds(10);             // for what code does at its exit

// An interrupt that comes before the code has begun is lost. So when the execution is this young, a second one follows
// after as long; later ones are left alone, they may be cleaning up.
constexpr Duration interrupt_retry_delay = std::chrono::seconds(1);

} // namespace

Task<protocol::ExecuteResult> ExecutionRun::run() {
    begin();
    protocol::ExecuteResult result = co_await execute();
    takes_helpers_ = false;
    co_await shielded(cancel_and_join(helpers_));
    if (instance_->mounts) {
        co_await add_notes(result.error);
    }
    co_return result;
}

void ExecutionRun::begin() {
    const protocol::ExecuteParams& params = execution_->params;
    gate::ExecutionGrants grants;
    grants.session_id = context_.options.id;
    grants.execution_id = execution_->id;
    grants.mode = params.approvals.value_or(protocol::ApprovalMode::ask);
    grants.hosts = params.allowed_domains.value_or(std::vector<std::string>{});
    grants.on_pending = [execution = execution_](std::size_t pending) {
        execution->clock.set_pending(pending);
        if (execution->turn) {
            execution->turn->set_waits_for_user(pending > 0);
        }
    };
    context_.services.gate.begin_execution(std::move(grants));
    takes_input_ = true;
    if (params.timeout_seconds) {
        helpers_.spawn(enforce_timeout(from_seconds(*params.timeout_seconds)));
    }
}

Task<protocol::ExecuteResult> ExecutionRun::execute() {
    jupyter::ExecuteRequest request;
    request.msg_id = execution_->id;
    request.code = execution_->params.code;
    request.silent = execution_->params.silent.value_or(false);
    request.store_history = execution_->params.store_history.value_or(!request.silent);
    // The queue is ours, so the kernel has nothing to abort; it would only be deaf for a while.
    request.stop_on_error = false;
    protocol::ExecuteResult result;
    std::optional<std::string> failure;
    bool exits = false;
    try {
        co_await deliver_wrappers();
        jupyter::ExecuteReply reply = co_await instance_->kernel->client().execute(std::move(request));
        result = result_of(*execution_, reply, context_.executions, context_.latest.layers);
        if (!execution_->params.silent.value_or(false)) {
            context_.latest.execution_count = std::max(context_.latest.execution_count, reply.execution_count);
        }
        exits = reply.asks_exit;
        for (jupyter::Output& output : reply.outputs) {
            context_.listener.on_output(execution_->id, std::move(output));
        }
    } catch (const std::exception& error) {
        failure = error.what(); // its kernel has died, or this session is being closed
    }
    takes_input_ = false;
    if (failure) {
        result = co_await shielded(end_with_kernel(std::move(*failure)));
    } else if (exits) {
        std::string reason = co_await end_by_exit();
        result.reason = result.reason ? *result.reason + "; " + reason : std::move(reason);
    } else if (context_.options.restore_cwd) {
        try {
            co_await restore_cwd();
        } catch (const Cancelled&) {
            // The session is being closed; the code itself had ended before.
        }
    }
    co_return result;
}

// To a kernel that has no socket to us. Code that needs them fails by itself.
Task<void> ExecutionRun::deliver_wrappers() {
    if (!instance_->comm_tools) {
        co_return;
    }
    try {
        co_await instance_->comm_tools->deliver();
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& error) {
        log_warning("session {}: the wrappers were not sent: {}", context_.options.id, error.message);
    }
}

Task<void> ExecutionRun::enforce_timeout(Duration limit) {
    co_await execution_->clock.reached(limit);
    if (execution_->stop != StopReason::none) {
        co_return;
    }
    execution_->stop = StopReason::timeout;
    const bool stopped = co_await interrupt_and_wait(timeout_grace);
    if (!stopped) {
        // Who waits for the kernel's answer sees its end, and then cancels this task.
        co_await end_kernel();
    }
}

Task<bool> ExecutionRun::interrupt_and_wait(Duration grace) {
    Clock& clock = context_.services.clock;
    const Instant deadline = clock.now() + grace;
    const Instant again = clock.now() + interrupt_retry_delay;
    const bool young = execution_->clock.total() < interrupt_retry_delay;
    interrupt();
    if (young && again < deadline) {
        const bool stopped = co_await wait_until(clock, execution_->finished, again);
        if (stopped) {
            co_return true;
        }
        instance_->interrupt();
    }
    co_return co_await wait_until(clock, execution_->finished, deadline);
}

void ExecutionRun::interrupt() {
    instance_->interrupt();
    if (takes_helpers_ && instance_->language->may_hang_when_interrupted() &&
        !std::exchange(watches_interrupt_, true)) {
        helpers_.spawn(end_kernel_unless_interrupted());
    }
}

Task<void> ExecutionRun::end_kernel_unless_interrupted() {
    const bool stopped =
        co_await wait_until(context_.services.clock, execution_->finished, context_.services.clock.now() + hang_grace);
    if (!stopped) {
        context_.on_kernel_lost(
            "the kernel did not answer the interrupt, as happens while code waits for a promise, and "
            "was replaced");
        co_await end_kernel();
    }
}

Task<void> ExecutionRun::end_kernel() {
    co_await shielded(instance_->kernel->stop(Duration::zero()));
}

void ExecutionRun::on_input_request(jupyter::InputRequest request) {
    if (!takes_input_) {
        return;
    }
    // Only the latest can still be answered.
    if (const std::shared_ptr<CancelState> previous = std::move(prompt_)) {
        previous->cancel();
    }
    prompt_ = helpers_.spawn(answer_input(std::move(request)));
}

Task<void> ExecutionRun::answer_input(jupyter::InputRequest request) {
    const std::uint64_t id = request.id;
    protocol::InputRequestParams params{execution_->id, std::move(request.prompt), request.password};
    std::optional<std::string> answer;
    try {
        // What the code printed before is shown before.
        co_await jupyter::wait_last_messages(context_.services.loop.clock(), instance_->kernel->client(),
                                             max_prompt_delay);
        context_.flush_output();
        ExecutionClock& clock = execution_->clock;
        clock.begin_prompt();
        const ScopeExit answered([&clock] { clock.end_prompt(); });
        answer = co_await context_.services.observer.ask_input(execution_->client, std::move(params));
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& error) {
        log_info("session {}: a prompt was not answered: {}", context_.options.id, error.message);
    }
    if (!answer && execution_->agent) {
        add_note(execution_->notes, note_of_prompt());
    }
    instance_->kernel->client().reply_input(id, std::move(answer));
}

Task<std::string> ExecutionRun::end_by_exit() {
    const std::string_view ends = instance_->language->kernel_ends();
    context_.on_kernel_lost(fmt::format("the code ended its kernel, as {}", ends));
    bool by_itself = false;
    try {
        by_itself = co_await instance_->kernel->wait_exit(context_.services.clock.now() + exit_grace);
    } catch (const Cancelled&) {
        // The session is being closed.
    }
    co_await end_kernel();
    co_return fmt::format("it ended its kernel, as {}{}; its variables are gone", ends,
                          by_itself ? "" : ", and what that still did was ended with it");
}

Task<protocol::ExecuteResult> ExecutionRun::end_with_kernel(std::string failure) {
    protocol::ExecutionStatus status = protocol::ExecutionStatus::killed;
    std::string reason = std::move(failure);
    const std::string_view after_stop = instance_->kernel->ends_when_stopped() ? "was ended" : "was left running";
    if (execution_->stop == StopReason::timeout) {
        reason = fmt::format("after {:.2f}s it was interrupted and did not stop: its kernel {}",
                             *execution_->params.timeout_seconds, after_stop);
    } else if (execution_->stop == StopReason::cancelled) {
        reason = fmt::format("it did not stop when it was interrupted: its kernel {}", after_stop);
    } else if (instance_->kernel->has_exited()) {
        const jupyter::KernelExit kernel_exit = co_await instance_->kernel->exited();
        if (std::optional<LimitExceeded> exceeded = context_.limits.exceeded(instance_->group.get(), kernel_exit)) {
            status = exceeded->status;
            reason = std::move(exceeded->reason);
        }
    }
    context_.on_kernel_lost(reason);
    protocol::ExecuteResult result = result_of(*execution_, status, instance_->lost, context_.latest.layers);
    co_await instance_->kernel->stop(Duration::zero());
    co_return result;
}

Task<void> ExecutionRun::restore_cwd() {
    co_await send_chdir();
    if (instance_->kernel->has_exited()) {
        context_.on_kernel_lost("the kernel ended while it went back to its working directory");
        co_await instance_->kernel->stop(Duration::zero());
    }
}

Task<void> ExecutionRun::send_chdir() {
    const SessionOptions& options = context_.options;
    std::optional<std::string> code = instance_->language->chdir_code(options.cwd);
    if (!code) {
        co_return;
    }
    jupyter::ExecuteRequest request;
    request.msg_id = random_id();
    request.code = std::move(*code);
    request.silent = true;
    request.store_history = false;
    try {
        co_await instance_->kernel->client().execute(std::move(request));
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& error) {
        log_warning("session {}: cannot go back to {}: {}", options.id, options.cwd, error.message);
    }
}

Task<void> ExecutionRun::add_notes(std::optional<protocol::ExecutionError> error) {
    const LanguageSupport& language = *instance_->language;
    const bool holds_installs = context_.options.holds_installs();
    if (std::optional<protocol::Note> note = language.install_note(execution_->params.code, holds_installs)) {
        add_note(execution_->notes, std::move(*note));
    }
    if (!error) {
        co_return;
    }
    const Failure failure{std::move(*error), execution_->params.code, last_printed_.text()};
    FailureCauses causes = language.causes_of(failure);
    for (protocol::Note& note : causes.notes) {
        add_note(execution_->notes, std::move(note));
    }
    if (instance_->proxy && causes.bypassed_proxy) {
        add_note(execution_->notes, note_of_direct_connection());
    }
    if (causes.missing) {
        co_await add_missing_note(std::move(*causes.missing));
    }
    co_await add_path_notes(std::move(causes.paths));
}

// Unless it is a module of the workspace, which is there and only not found: a package would not help then.
Task<void> ExecutionRun::add_missing_note(MissingModule missing) {
    const LanguageSupport& language = *instance_->language;
    const std::string name = missing.name;
    const std::vector<std::string> folders = {context_.services.workspace, context_.options.cwd};
    std::function<bool()> look = [&folders, &name] { return is_module_of(folders, name); };
    bool of_workspace = true;
    try {
        of_workspace = co_await context_.services.loop.run_blocking(std::move(look));
    } catch (const Cancelled&) {
        // The session is being closed; the code itself had ended before.
    }
    if (of_workspace) {
        co_return;
    }
    std::optional<std::string> outside;
    if (!context_.options.holds_installs() && language.python()) {
        outside = language.python()->executable;
    }
    add_note(execution_->notes, note_of_missing(missing, outside, context_.options.image != nullptr));
}

Task<void> ExecutionRun::add_path_notes(std::vector<FailedPath> paths) {
    const SessionOptions& options = context_.options;
    for (FailedPath& failed : paths) {
        if (!failed.path.starts_with('/')) {
            failed.path = options.cwd + "/" + failed.path;
        }
    }
    StartedSandbox sandbox{instance_->profile, options.settings, options.additions, context_.services.environment,
                           instance_->mounts};
    std::vector<protocol::Note> notes;
    try {
        notes = co_await inspect_paths(context_.services.loop, context_.tasks, std::move(sandbox), std::move(paths),
                                       !execution_->agent);
    } catch (const Cancelled&) {
        // The session is being closed; the code itself had ended before.
    }
    for (protocol::Note& note : notes) {
        add_note(execution_->notes, std::move(note));
    }
}

} // namespace cellgate::session
