#include "session/session.hpp"

#include "base/encoding.hpp"
#include "base/escape_unprintable.hpp"
#include "base/log.hpp"
#include "base/names.hpp"
#include "install_notes.hpp"
#include "kernel_instance.hpp"
#include "memory_kills.hpp"
#include "notes.hpp"
#include "output_records.hpp"
#include "path_notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

namespace cellgate::session {

namespace {

// Finished executions that are kept; a journal is removed with its execution.
constexpr std::size_t max_remembered = 1000;
constexpr std::size_t max_remembered_code = std::size_t{32} << 20;

// Queued executions; a client that exceeds this is faulty.
constexpr std::size_t max_queued = 10'000;
constexpr std::size_t max_queued_code = std::size_t{32} << 20;

constexpr Duration timeout_grace = std::chrono::seconds(5);

// An interrupt that comes before the code has begun is lost. So when the execution is this young, a second one follows
// after as long; later ones are left alone, they may be cleaning up.
constexpr Duration interrupt_retry_delay = std::chrono::seconds(1);

constexpr Duration path_inspection_timeout = std::chrono::seconds(1);

// Queries that a kernel may leave unanswered before further ones are refused.
constexpr std::size_t max_unanswered = 8;
constexpr Duration query_timeout = std::chrono::seconds(10);

constexpr Duration memory_inspection_interval = std::chrono::seconds(1);

// "512 MiB"
std::string describe_bytes(std::uint64_t bytes) {
    constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
    return bytes % mebibyte == 0 ? fmt::format("{} MiB", bytes / mebibyte) : fmt::format("{} bytes", bytes);
}

protocol::SandboxAdditions to_protocol(const sandbox::Additions& additions) {
    protocol::SandboxAdditions described;
    if (!additions.allow_read.empty()) {
        described.allow_read = additions.allow_read;
    }
    if (!additions.allow_write.empty()) {
        described.allow_write = additions.allow_write;
    }
    if (additions.gpu) {
        described.gpu = true;
    }
    return described;
}

std::optional<std::string> line_of(const std::string& code, std::int64_t line) {
    std::size_t begin = 0;
    for (; line > 0; --line) {
        begin = code.find('\n', begin);
        if (begin == std::string::npos) {
            return std::nullopt;
        }
        ++begin;
    }
    return line < 0 ? std::nullopt : std::optional(code.substr(begin, code.find('\n', begin) - begin));
}

protocol::SandboxKind kind_of(sandbox::Isolation isolation) {
    switch (isolation) {
    case sandbox::Isolation::none:
        return protocol::SandboxKind::none;
    case sandbox::Isolation::landlock:
        return protocol::SandboxKind::landlock;
    case sandbox::Isolation::bwrap:
        break;
    }
    return protocol::SandboxKind::bwrap;
}

} // namespace

Session::Session(SessionServices& services, SessionOptions options)
    : services_(services), options_(std::move(options)), clock_(services.clock), created_at_(clock_.wall()),
      launcher_(sandbox::make_launcher(options_.isolation, services.environment)) {}

Session::~Session() = default;

protocol::SessionInfo Session::info() const {
    protocol::SessionInfo info;
    info.session_id = options_.id;
    info.status = status_;
    info.kernel = kernel_;
    info.cwd = options_.cwd;
    info.sandbox = kind_of(options_.isolation);
    info.layers = layers_.empty() ? std::vector<std::string>{"unknown"} : layers_; // not started yet
    if (options_.settings) {
        info.sandbox_config = options_.settings->file;
    }
    if (!options_.additions.empty()) {
        info.sandbox_additions = to_protocol(options_.additions);
    }
    if (options_.settings || !options_.additions.empty() || options_.isolation == sandbox::Isolation::landlock) {
        info.sandbox_notices = sandbox_notices_;
    }
    info.execution_count = execution_count_;
    info.queue_length = static_cast<std::int64_t>(queue_.size());
    info.created_at = to_rfc3339(created_at_);
    info.agent = gate::name_of(options_.agent);
    return info;
}

void Session::require_open() const {
    if (closing_) {
        throw Error(ErrorCode::session_not_found, fmt::format("the session \"{}\" was closed", options_.id));
    }
}

std::shared_ptr<Execution> Session::enqueue(protocol::ExecuteParams params, ClientId client,
                                            std::optional<gate::Agent> agent) {
    const std::string id = params.execution_id.value_or(random_id());
    require_identifier(id, "execution id");
    require_open();
    if (status_ == protocol::SessionStatus::dead) {
        throw Error(ErrorCode::kernel_start_failed,
                    fmt::format("the session \"{}\" has no kernel: {}", options_.id, kernel_failure_->message),
                    "session/restart tries again to start one");
    }
    if (executions_.contains(id)) {
        throw Error(ErrorCode::execution_exists,
                    fmt::format("expected a new execution id, found {}, which was used", id));
    }
    if (queue_.size() >= max_queued) {
        throw Error(ErrorCode::busy,
                    fmt::format("{} executions wait in the session \"{}\" already", queue_.size(), options_.id),
                    "wait for some to finish, or cancel them");
    }
    if (agent && !options_.agent) {
        require_single_agent(*agent);
    }
    if (queued_code_ + params.code.size() > max_queued_code) {
        throw Error(ErrorCode::busy,
                    fmt::format("{} bytes of code wait in the session \"{}\" already", queued_code_, options_.id),
                    "wait for some executions to finish, or cancel them");
    }
    if (options_.wall_seconds) {
        params.timeout_seconds =
            std::min(params.timeout_seconds.value_or(*options_.wall_seconds), *options_.wall_seconds);
    }
    auto execution =
        std::make_shared<Execution>(id, std::move(params), client, options_.id, services_.journals, clock_);
    execution->agent = std::move(agent);
    executions_[id] = execution;
    queue_.push_back(execution);
    queued_code_ += execution->params.code.size();
    const std::size_t before = queue_.size() - 1 + (running_ ? 1 : 0);
    services_.observer.on_execution_changed(*execution, static_cast<std::int64_t>(before));
    queue_changed_.set();
    return execution;
}

void Session::require_single_agent(const gate::Agent& agent) const {
    const auto is_other = [&agent](const std::optional<gate::Agent>& one) {
        return one && one->client != agent.client;
    };
    if (is_other(borrowing_agent_) || (running_ && is_other(running_->agent)) ||
        std::any_of(queue_.begin(), queue_.end(), [&](const auto& waiting) { return is_other(waiting->agent); })) {
        throw Error(ErrorCode::busy,
                    fmt::format("code of another agent is in the kernel of the session \"{}\"", options_.id),
                    "use a session of your own, or have the user restart this one");
    }
}

std::shared_ptr<Execution> Session::find(const std::string& execution_id) const {
    const auto found = executions_.find(execution_id);
    return found == executions_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<Execution>> Session::executions() const {
    std::vector<std::shared_ptr<Execution>> all;
    for (const std::string& id : finished_order_) {
        all.push_back(executions_.at(id));
    }
    if (running_) {
        all.push_back(running_);
    }
    all.insert(all.end(), queue_.begin(), queue_.end());
    return all;
}

std::optional<std::int64_t> Session::position(const Execution& execution) const {
    for (std::size_t i = 0; i < queue_.size(); ++i) {
        if (queue_[i].get() == &execution) {
            return static_cast<std::int64_t>(i) + (running_ ? 1 : 0);
        }
    }
    return std::nullopt;
}

Task<void> Session::run_queue() {
    while (true) {
        while (!queue_.empty()) {
            co_await kernel_ready_.wait();
            if (!kernel_ready_.is_set() || queue_.empty()) {
                continue; // lost again, or cancelled, before this task had its turn
            }
            running_ = queue_.front();
            queue_.pop_front();
            queued_code_ -= running_->params.code.size();
            co_await run(running_);
        }
        queue_changed_.reset();
        co_await queue_changed_.wait();
    }
}

Task<void> Session::run(std::shared_ptr<Execution> execution) {
    execution->state = protocol::ExecutionState::running;
    execution->clock.start();
    services_.observer.on_execution_changed(*execution, std::nullopt);
    set_status(protocol::SessionStatus::busy);
    record_memory_kills(*instance_);

    if (execution->agent && !options_.agent) {
        if (!borrowing_agent_ && instance_->proxy) {
            instance_->proxy->close_all(); // a user's connections are not for an agent's code
        }
        borrowing_agent_ = execution->agent;
    }
    gate::ExecutionGrants running;
    running.session_id = options_.id;
    running.execution_id = execution->id;
    running.mode = execution->params.approvals.value_or(protocol::ApprovalMode::ask);
    running.hosts = execution->params.allowed_domains.value_or(std::vector<std::string>{});
    running.on_pending = [execution](std::size_t pending) { execution->clock.set_pending(pending); };
    services_.gate.begin_execution(std::move(running));

    takes_input_ = true;
    last_printed_ = {};
    if (execution->params.timeout_seconds) {
        helpers_.spawn(enforce_timeout(execution, from_seconds(*execution->params.timeout_seconds)));
    }
    const std::shared_ptr<KernelInstance> instance = instance_;
    jupyter::ExecuteRequest request;
    request.msg_id = execution->id;
    request.code = execution->params.code;
    request.silent = execution->params.silent.value_or(false);
    request.store_history = execution->params.store_history.value_or(!request.silent);
    // The queue is ours, so the kernel has nothing to abort; it would only be deaf for a while.
    request.stop_on_error = false;
    protocol::ExecuteResult result;
    std::optional<std::string> failure;
    bool exits = false;
    try {
        jupyter::ExecuteReply reply = co_await instance->kernel->client().execute(std::move(request));
        result = result_of(*execution, reply);
        exits = reply.asks_exit;
        for (jupyter::Output& output : reply.outputs) {
            on_output(execution->id, std::move(output));
        }
    } catch (const std::exception& error) {
        failure = error.what(); // its kernel has died, or this session is being closed
    }
    takes_input_ = false;
    if (failure) {
        result = co_await shielded(end_with_kernel(execution, instance, std::move(*failure)));
    } else if (exits) {
        std::string reason = co_await end_by_exit(instance);
        result.reason = result.reason ? *result.reason + "; " + reason : std::move(reason);
    } else if (options_.restore_cwd) {
        try {
            co_await restore_cwd(instance);
        } catch (const Cancelled&) {
            // The session is being closed; the code itself had ended before.
        }
    }
    helpers_.cancel();
    co_await shielded(helpers_.join());
    const bool stop_others =
        result.status == protocol::ExecutionStatus::error && execution->params.stop_on_error.value_or(true);
    if (instance->mounts) {
        const bool is_weaker = options_.isolation == sandbox::Isolation::landlock; // installs are not held by that one
        if (std::optional<protocol::Note> note =
                note_of_install(execution->params.code, is_weaker ? kernel_.interpreter : std::nullopt)) {
            add_note(execution->notes, std::move(*note));
        }
        if (result.error) {
            Failure failure{*result.error, execution->params.code, last_printed_.text()};
            if (instance->proxy && bypassed_proxy(failure)) {
                add_note(execution->notes, note_of_direct_connection());
            }
            co_await add_path_notes(execution, instance, failed_paths(failure));
        }
    }
    result.notes = std::move(execution->notes);
    running_ = nullptr;
    finish(execution, std::move(result));
    if (stop_others) {
        cancel_queued(execution->client, "an execution before it in the queue ended in an error");
    }
    if (kernel_ready_.is_set() && queue_.empty()) {
        set_status(protocol::SessionStatus::idle);
    }
}

Task<protocol::ExecuteResult> Session::end_with_kernel(std::shared_ptr<Execution> execution,
                                                       std::shared_ptr<KernelInstance> instance, std::string failure) {
    protocol::ExecutionStatus status = protocol::ExecutionStatus::killed;
    std::string reason = std::move(failure);
    if (instance->lost) { // set by the code that ended the kernel
        reason = *instance->lost;
    } else if (execution->stop == StopReason::timeout) {
        reason = fmt::format("after {:.2f}s it was interrupted and did not stop: its kernel was ended",
                             *execution->params.timeout_seconds);
    } else if (execution->stop == StopReason::cancelled) {
        reason = "it did not stop when it was interrupted: its kernel was ended";
    } else if (instance->kernel->has_exited()) {
        const jupyter::KernelExit kernel_exit = co_await instance->kernel->exited();
        if (std::optional<LimitExceeded> exceeded = limit_exceeded(*instance, kernel_exit)) {
            status = exceeded->status;
            reason = std::move(exceeded->reason);
        }
    }
    mark_kernel_lost(reason);
    protocol::ExecuteResult result = result_of(*execution, status, std::move(reason));
    co_await instance->kernel->stop(Duration::zero());
    co_return result;
}

// Shared with the thread that looks: a file system may not answer.
struct Session::PathInspection {
    StartedSandbox sandbox;
    std::vector<FailedPath> paths;
    bool for_user = false;
    std::vector<protocol::Note> notes;
    Event done;
};

Task<void> Session::inspect_paths(std::shared_ptr<PathInspection> inspection) {
    std::function<void()> work = [inspection] {
        for (const FailedPath& failed : inspection->paths) {
            if (std::optional<protocol::Note> note = note_of_path(inspection->sandbox, failed, inspection->for_user)) {
                inspection->notes.push_back(std::move(*note));
            }
        }
    };
    co_await services_.loop.run_blocking(std::move(work));
    inspection->done.set();
}

Task<void> Session::add_path_notes(std::shared_ptr<Execution> execution, std::shared_ptr<KernelInstance> instance,
                                   std::vector<FailedPath> paths) {
    const auto inspection = std::make_shared<PathInspection>();
    inspection->sandbox = {instance->profile, options_.settings, options_.additions, services_.environment,
                           instance->mounts};
    inspection->for_user = !execution->agent;
    inspection->paths = std::move(paths);
    for (FailedPath& failed : inspection->paths) {
        if (!failed.path.starts_with('/')) {
            failed.path = options_.cwd + "/" + failed.path;
        }
    }
    if (inspection->paths.empty()) {
        co_return;
    }
    tasks_.spawn(inspect_paths(inspection));
    bool done = false;
    try {
        done = co_await wait_until(services_.loop.clock(), inspection->done,
                                   services_.loop.clock().now() + path_inspection_timeout);
    } catch (const Cancelled&) {
        // The session is being closed; the code itself had ended before.
    }
    if (done) {
        for (protocol::Note& note : inspection->notes) {
            add_note(execution->notes, std::move(note));
        }
    }
}

// Part of the execution, so that it can be interrupted, and its kernel be ended, as the code itself.
Task<void> Session::restore_cwd(std::shared_ptr<KernelInstance> instance) {
    co_await send_chdir();
    if (instance->kernel->has_exited()) {
        mark_kernel_lost("the kernel ended while it went back to its working directory");
        co_await instance->kernel->stop(Duration::zero());
    }
}

void Session::record_memory_kills(const KernelInstance& instance) {
    if (!memory_inspected_at_ || clock_.now() - *memory_inspected_at_ > memory_inspection_interval) {
        memory_inspected_at_ = clock_.now();
        memory_kills_ = memory_kills(instance);
    }
}

std::uint64_t Session::memory_kills(const KernelInstance& instance) const {
    const bool counts = instance.group && instance.group->holds().memory_bytes;
    return counts ? instance.group->memory_kills() : session::memory_kills(services_.vmstat);
}

std::optional<Session::LimitExceeded> Session::limit_exceeded(const KernelInstance& instance,
                                                              const jupyter::KernelExit& kernel_exit) const {
    if (kernel_exit.status.signal == SIGXCPU && options_.limits.cpu_seconds) {
        return LimitExceeded{
            protocol::ExecutionStatus::killed,
            fmt::format("the kernel exceeded the limit of processor time, {} s, and the system ended it; its "
                        "variables are gone",
                        *options_.limits.cpu_seconds)};
    }
    if (kernel_exit.status.signal != SIGKILL || memory_kills(instance) <= memory_kills_) {
        return std::nullopt;
    }
    std::string reason = "the memory ran out, and the system ended the kernel; its variables are gone";
    if (instance.group && instance.group->memory_limit_was_met()) {
        reason = fmt::format("the kernel and its processes exceeded the limit of memory, {}, and the system ended the "
                             "kernel; its variables are gone",
                             describe_bytes(*instance.group->holds().memory_bytes));
    }
    return LimitExceeded{protocol::ExecutionStatus::oom, std::move(reason)};
}

protocol::ExecuteResult Session::result_of(const Execution& execution, const jupyter::ExecuteReply& reply) {
    const bool failed = reply.status == jupyter::ExecuteStatus::error;
    const bool aborted = reply.status == jupyter::ExecuteStatus::aborted;
    protocol::ExecuteResult result = result_of(execution,
                                               failed    ? protocol::ExecutionStatus::error
                                               : aborted ? protocol::ExecutionStatus::cancelled
                                                         : protocol::ExecutionStatus::ok,
                                               std::nullopt);
    if (!execution.params.silent.value_or(false)) {
        execution_count_ = std::max(execution_count_, reply.execution_count);
        result.execution_count.value = reply.execution_count;
    }
    if (reply.error) {
        result.error = describe(*reply.error);
    }
    if (execution.stop == StopReason::timeout) {
        result.status = protocol::ExecutionStatus::timeout;
        result.reason = fmt::format("interrupted after {:.2f}s (time in which an approval was pending does not count)",
                                    *execution.params.timeout_seconds);
    } else if (execution.stop == StopReason::cancelled) {
        result.status = protocol::ExecutionStatus::cancelled;
    }
    return result;
}

Task<void> Session::enforce_timeout(std::shared_ptr<Execution> execution, Duration limit) {
    co_await execution->clock.reached(limit);
    if (execution->stop != StopReason::none) {
        co_return;
    }
    execution->stop = StopReason::timeout;
    const std::shared_ptr<KernelInstance> instance = instance_;
    const bool stopped = co_await interrupt_and_wait(execution, timeout_grace);
    if (!stopped) {
        // Who waits for the kernel's answer sees its end, and then cancels this task.
        co_await shielded(instance->kernel->stop(Duration::zero()));
    }
}

Task<bool> Session::interrupt_and_wait(std::shared_ptr<Execution> execution, Duration grace) {
    const Instant deadline = clock_.now() + grace;
    const Instant again = clock_.now() + interrupt_retry_delay;
    const std::shared_ptr<KernelInstance> instance = instance_;
    const bool young = execution->clock.total() < interrupt_retry_delay;
    interrupt(*instance);
    if (young && again < deadline) {
        const bool stopped = co_await wait_until(clock_, execution->finished, again);
        if (stopped) {
            co_return true;
        }
        interrupt(*instance);
    }
    co_return co_await wait_until(clock_, execution->finished, deadline);
}

Task<bool> Session::cancel(std::shared_ptr<Execution> execution, Duration grace, bool force) {
    if (execution->state == protocol::ExecutionState::finished) {
        co_return false;
    }
    if (execution->state == protocol::ExecutionState::queued) {
        queue_.erase(std::find(queue_.begin(), queue_.end(), execution));
        queued_code_ -= execution->params.code.size();
        finish(execution, result_of(*execution, protocol::ExecutionStatus::cancelled, "removed from the queue"));
        co_return false;
    }
    if (execution->stop == StopReason::none) {
        execution->stop = StopReason::cancelled;
    }
    const std::shared_ptr<KernelInstance> instance = instance_;
    const bool stopped = co_await interrupt_and_wait(execution, grace);
    if (stopped || !force) {
        co_return !stopped;
    }
    co_await shielded(instance->kernel->stop(Duration::zero()));
    co_await execution->finished.wait();
    co_return false;
}

void Session::interrupt() {
    if (instance_ && running_) {
        interrupt(*instance_);
    }
}

void Session::interrupt(KernelInstance& instance) {
    instance.channel->cancel_calls();
    if (instance.interrupt_by_signal) {
        instance.kernel->interrupt_by_signal();
    } else {
        instance.kernel->client().interrupt();
    }
}

void Session::cancel_queued(std::optional<ClientId> client, const std::string& reason) {
    std::deque<std::shared_ptr<Execution>> kept;
    std::vector<std::shared_ptr<Execution>> dropped;
    for (std::shared_ptr<Execution>& execution : queue_) {
        if (!client || execution->client == *client) {
            dropped.push_back(std::move(execution));
        } else {
            kept.push_back(std::move(execution));
        }
    }
    queue_ = std::move(kept);
    for (const std::shared_ptr<Execution>& execution : dropped) {
        queued_code_ -= execution->params.code.size();
        finish(execution, result_of(*execution, protocol::ExecutionStatus::cancelled, reason));
    }
}

protocol::ExecuteResult Session::result_of(const Execution& execution, protocol::ExecutionStatus status,
                                           std::optional<std::string> reason) const {
    protocol::ExecuteResult result;
    result.execution_id = execution.id;
    result.status = status;
    result.reason = std::move(reason);
    result.layers = layers_;
    return result;
}

void Session::finish(const std::shared_ptr<Execution>& execution, protocol::ExecuteResult result) {
    execution->clock.stop();
    result.output_bytes = execution->journal.output_bytes();
    result.truncated = execution->journal.dropped_bytes() > 0;
    if (result.truncated) {
        result.output_problem = execution->journal.problem();
    }
    result.duration_seconds = to_seconds(execution->clock.total());
    result.waited_seconds = to_seconds(execution->clock.waited());
    execution->result = std::move(result);
    execution->state = protocol::ExecutionState::finished;
    execution->journal.retire();
    services_.gate.end_execution(execution->id);
    if (instance_ && instance_->proxy) {
        instance_->proxy->end_execution(execution->id);
    }
    remember(*execution);
    services_.observer.on_execution_changed(*execution, std::nullopt);
    execution->finished.set();
}

void Session::remember(const Execution& execution) {
    finished_order_.push_back(execution.id);
    remembered_code_ += execution.params.code.size();
    while (finished_order_.size() > max_remembered || remembered_code_ > max_remembered_code) {
        const auto oldest = executions_.find(finished_order_.front());
        remembered_code_ -= oldest->second->params.code.size();
        executions_.erase(oldest);
        finished_order_.pop_front();
    }
}

protocol::ExecutionError Session::describe(const jupyter::KernelError& error) const {
    protocol::ExecutionError described{error.ename, error.evalue, error.traceback, {}};
    for (const jupyter::Frame& frame : error.frames) {
        protocol::ExecutionFrame place{std::nullopt, frame.line, frame.function};
        if (frame.execution) {
            const auto execution = executions_.find(*frame.execution);
            if (execution != executions_.end() && execution->second->params.cell) {
                place.uri = execution->second->params.cell->uri;
                place.line += execution->second->params.cell->line;
            }
        } else if (frame.path) {
            place.uri = file_uri(*frame.path);
        }
        described.frames.push_back(std::move(place));
    }
    return described;
}

void Session::on_output(const std::string& parent, jupyter::Output output) {
    // The parent is the kernel's word. What belongs to no execution that we know of is shown where something runs, or
    // ran last: it is output of this kernel, and none is lost.
    std::shared_ptr<Execution> execution = running_;
    if (const auto named = executions_.find(parent); named != executions_.end()) {
        execution = named->second;
    } else if (!execution && !finished_order_.empty()) {
        execution = executions_[finished_order_.back()];
    }
    if (!execution || execution->state == protocol::ExecutionState::queued) {
        log_info("session {}: output that belongs to no execution", options_.id);
        return;
    }
    if (output.type == jupyter::OutputType::stream && execution == running_) {
        last_printed_.add(output.body);
    }
    for (RawJson& body : to_records(output)) {
        record(*execution, std::move(body));
    }
}

void Session::record(Execution& execution, RawJson output) {
    const bool late = execution.state == protocol::ExecutionState::finished;
    protocol::OutputRecord record;
    record.seq = execution.journal.append(output, late);
    record.output = std::move(output);
    if (late) {
        record.late = true;
    }
    services_.observer.on_output(execution, record);
}

void Session::on_input_request(jupyter::InputRequest request) {
    if (!takes_input_) {
        return;
    }
    // Only the latest can still be answered.
    if (const std::shared_ptr<CancelState> previous = std::move(prompt_)) {
        previous->cancel();
    }
    prompt_ = helpers_.spawn(answer_input(std::move(request), running_));
}

Task<void> Session::answer_input(jupyter::InputRequest request, std::shared_ptr<Execution> execution) {
    const std::shared_ptr<KernelInstance> instance = instance_;
    const std::uint64_t id = request.id;
    protocol::InputRequestParams params{execution->id, std::move(request.prompt), request.password};
    std::optional<std::string> answer;
    try {
        answer = co_await services_.observer.ask_input(execution->client, std::move(params));
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& error) {
        log_info("session {}: a prompt was not answered: {}", options_.id, error.message);
    }
    instance->kernel->client().reply_input(id, std::move(answer));
}

Task<std::string> Session::ask(jupyter::KernelQuery query) {
    const std::string advice = "ask again when it has finished";
    if (!kernel_ready_.is_set() || running_ || !queue_.empty()) {
        throw Error(ErrorCode::busy, fmt::format("the kernel of the session \"{}\" has something to run", options_.id),
                    advice);
    }
    const std::shared_ptr<KernelInstance> instance = instance_;
    if (instance->kernel->client().unanswered() >= max_unanswered) {
        throw Error(
            ErrorCode::busy,
            fmt::format("{} questions wait for the kernel of the session \"{}\" already", max_unanswered, options_.id),
            advice);
    }
    co_return co_await instance->kernel->client().ask(std::move(query), services_.loop.clock().now() + query_timeout);
}

tools::CallContext Session::current_call(std::optional<std::int64_t> reported_line) {
    tools::CallContext context;
    context.session_id = options_.id;
    context.servers = options_.tool_servers;
    // Also after the agent's execution ended: a thread of its code may make the call.
    context.agent = options_.agent ? options_.agent : borrowing_agent_;
    if (!running_) {
        return context;
    }
    const protocol::ExecuteParams& params = running_->params;
    context.execution_id = running_->id;
    if (reported_line) {
        if (const std::optional<std::string> text = line_of(params.code, *reported_line)) {
            protocol::Origin origin;
            origin.line = *reported_line + (params.cell ? params.cell->line : 0);
            origin.text = escape_unprintable(*text);
            if (params.cell) {
                origin.uri = params.cell->uri;
            }
            context.origin = std::move(origin);
        }
    }
    return context;
}

void Session::record_origin(protocol::ChannelOriginParams told) {
    if (instance_) {
        instance_->attribution.add(std::move(told), running_ ? std::optional(running_->id) : std::nullopt);
    }
}

void Session::clear_origins() {
    if (instance_) {
        instance_->attribution.clear();
    }
}

void Session::set_status(protocol::SessionStatus status, std::optional<std::string> reason) {
    if (status_ == status && !reason) {
        return;
    }
    status_ = status;
    const protocol::SessionChangedParams changed{options_.id, status, std::move(reason)};
    services_.observer.on_session_changed(changed);
}

} // namespace cellgate::session
