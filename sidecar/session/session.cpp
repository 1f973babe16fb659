#include "session/session.hpp"

#include "base/encoding.hpp"
#include "base/enum_name.hpp"
#include "base/escape_unprintable.hpp"
#include "base/log.hpp"
#include "base/names.hpp"
#include "execution_results.hpp"
#include "execution_run.hpp"
#include "kernel_instance.hpp"
#include "kernel_limits.hpp"
#include "kernel_source.hpp"
#include "output_records.hpp"
#include "session/session_limits.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cellgate::session {

namespace {

constexpr Duration max_held_back = std::chrono::milliseconds(200); // of output that may begin a secret

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

void mask_error(const KnownSecrets& secrets, std::optional<protocol::ExecutionError>& error) {
    if (!error || !secrets.mask()) {
        return;
    }
    error->ename = masked_text(secrets.mask(), std::move(error->ename));
    error->evalue = masked_text(secrets.mask(), std::move(error->evalue));
    for (std::string& line : error->traceback) {
        line = masked_text(secrets.mask(), std::move(line));
    }
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

// The line, if there is one alone.
std::optional<std::int64_t> only_line_with(const std::string& code, const std::string& part) {
    const std::size_t at = part.empty() ? std::string::npos : code.find(part);
    if (at == std::string::npos) {
        return std::nullopt;
    }
    const auto begin = code.begin();
    const std::size_t end = code.find('\n', at);
    if (end != std::string::npos && code.find(part, end) != std::string::npos) {
        return std::nullopt;
    }
    return std::count(begin, begin + static_cast<std::ptrdiff_t>(at), '\n');
}

protocol::SandboxKind kind_of(sandbox::Isolation isolation) {
    return parse_enum<protocol::SandboxKind>(sandbox::traits_of(isolation).name).value();
}

} // namespace

Session::Session(SessionServices& services, SessionOptions options)
    : services_(services), options_(std::move(options)), created_at_(services.clock.wall()),
      launcher_(sandbox::make_launcher(options_.isolation, services.environment)), queue_(options_.id),
      limits_(std::make_unique<KernelLimits>(options_.limits, services.clock, services.vmstat)) {}

Session::~Session() = default;

protocol::SessionInfo Session::info() const {
    protocol::SessionInfo info;
    info.session_id = options_.id;
    info.status = status_;
    info.kernel = latest_.kernel;
    info.cwd = options_.cwd;
    info.sandbox = kind_of(options_.isolation);
    info.layers = latest_.layers.empty() ? std::vector<std::string>{"unknown"} : latest_.layers; // not started yet
    if (options_.image) {
        info.image = protocol::SessionImage{options_.image->name, options_.image->id};
    }
    if (options_.settings) {
        info.sandbox_config = options_.settings->file;
    }
    if (!options_.additions.empty()) {
        info.sandbox_additions = to_protocol(options_.additions);
    }
    if (options_.settings || !options_.additions.empty() ||
        !sandbox::traits_of(options_.isolation).limitations.empty() || !latest_.notices.empty()) {
        info.sandbox_notices = latest_.notices;
    }
    info.execution_count = latest_.execution_count;
    info.queue_length = static_cast<std::int64_t>(queue_.size());
    if (any_of(options_.limits)) {
        info.limits = options_.limits;
    }
    info.created_at = to_rfc3339(created_at_);
    info.profile = options_.profile;
    info.agent = gate::name_of(options_.agent);
    return info;
}

std::optional<KernelProcesses> Session::kernel_processes() const {
    if (!instance_ || instance_->lost || instance_->kernel->has_exited()) {
        return std::nullopt;
    }
    return instance_->processes();
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
                    "restart the session to try again");
    }
    queue_.require_space(id, params.code.size());
    if (agent && !options_.agent) {
        require_single_agent(*agent);
    }
    if (const std::optional<double>& most = options_.limits.wall_seconds) {
        params.timeout_seconds = std::min(params.timeout_seconds.value_or(*most), *most);
    }
    if (!source_of(options_.kernel).has_our_files) {
        params.changes = false;
    }
    auto execution =
        std::make_shared<Execution>(id, std::move(params), client, options_.id, services_.journals, services_.clock);
    execution->agent = std::move(agent);
    execution->saved_tool = options_.saved_tool;
    services_.observer.on_execution_changed(*execution, queue_.push(execution));
    queue_changed_.notify();
    return execution;
}

void Session::require_single_agent(const gate::Agent& agent) const {
    const bool is_lent = borrowing_agent_ && borrowing_agent_->client != agent.client;
    if (is_lent || queue_.has_other_agent(agent)) {
        throw Error(ErrorCode::busy,
                    fmt::format("code of another agent is in the kernel of the session \"{}\"", options_.id),
                    "use a session of your own, or have the user restart this one");
    }
}

Task<void> Session::run_queue() {
    const auto has_work = [this] { return !queue_.empty(); };
    while (true) {
        co_await queue_changed_.until(has_work);
        co_await kernel_ready_.wait();
        const std::shared_ptr<Execution> next = queue_.next();
        if (next) {
            co_await take_turn(next);
        }
        if (next && queue_.next() == next) {
            co_await services_.observer.before_execution(next);
        }
        // The kernel may be lost again, or the execution cancelled, before this task had its turn.
        if (kernel_ready_.is_set() && next && queue_.next() == next) {
            co_await run(queue_.take());
        }
    }
}

Task<void> Session::take_turn(std::shared_ptr<Execution> next) {
    if (!next->agent || options_.runs_within_call) {
        co_return;
    }
    next->turn = services_.turns.ask([this] { queue_changed_.notify(); });
    if (next->turn->has_come()) {
        co_return;
    }
    services_.observer.on_execution_waits(*next, queue_.position(*next));
    const auto is_over = [&next] { return !next->turn || next->turn->has_come(); };
    co_await queue_changed_.until(is_over);
}

Task<void> Session::run(std::shared_ptr<Execution> execution) {
    RunContext context{services_,
                       options_,
                       queue_,
                       *limits_,
                       latest_,
                       *this,
                       tasks_,
                       [this](const std::string& reason) { mark_kernel_lost(reason); },
                       [this, execution] { flush_output(execution); }};
    const auto run = std::make_shared<ExecutionRun>(std::move(context), execution, instance_);
    run_ = run;
    execution->state = protocol::ExecutionState::running;
    execution->clock.start();
    services_.observer.on_execution_changed(*execution, std::nullopt);
    set_status(protocol::SessionStatus::busy);
    limits_->inspect(instance_->group.get());
    if (execution->agent && !options_.agent) {
        lend_kernel(*execution->agent);
    }
    protocol::ExecuteResult result = co_await run->run();
    const bool stop_others =
        result.status == protocol::ExecutionStatus::error && execution->params.stop_on_error.value_or(true);
    result.notes = std::move(execution->notes);
    run_ = nullptr;
    queue_.release();
    finish(execution, std::move(result));
    if (stop_others) {
        cancel_queued(execution->client, "an execution before it in the queue ended in an error");
    }
    if (kernel_ready_.is_set() && queue_.empty()) {
        set_status(protocol::SessionStatus::idle);
    }
}

void Session::lend_kernel(const gate::Agent& agent) {
    if (!borrowing_agent_ && instance_->proxy) {
        instance_->proxy->close_all(); // a user's connections are not for an agent's code
    }
    borrowing_agent_ = agent;
}

Task<bool> Session::cancel(std::shared_ptr<Execution> execution, Duration grace, bool force) {
    if (execution->state == protocol::ExecutionState::finished) {
        co_return false;
    }
    if (execution->state == protocol::ExecutionState::queued) {
        queue_.remove(execution);
        finish(execution,
               result_of(*execution, protocol::ExecutionStatus::cancelled, "removed from the queue", latest_.layers));
        co_return false;
    }
    if (execution->stop == StopReason::none) {
        execution->stop = StopReason::cancelled;
    }
    const std::shared_ptr<ExecutionRun> run = run_;
    const bool stopped = co_await run->interrupt_and_wait(grace);
    if (stopped || !force) {
        co_return !stopped;
    }
    co_await run->end_kernel();
    co_await execution->finished.wait();
    co_return false;
}

void Session::interrupt() {
    if (run_) {
        run_->interrupt();
    }
}

void Session::cancel_queued(std::optional<ClientId> client, const std::string& reason) {
    for (const std::shared_ptr<Execution>& execution : queue_.remove_all(client)) {
        finish(execution, result_of(*execution, protocol::ExecutionStatus::cancelled, reason, latest_.layers));
    }
}

void Session::finish(const std::shared_ptr<Execution>& execution, protocol::ExecuteResult result) {
    execution->clock.stop();
    flush_output(execution);
    mask_error(services_.secrets, result.error);
    result.output_bytes = execution->journal.output_bytes();
    result.truncated = execution->journal.dropped_bytes() > 0;
    if (result.truncated) {
        result.output_problem = execution->journal.problem();
    }
    result.duration_seconds = to_seconds(execution->clock.total());
    result.waited_seconds = to_seconds(execution->clock.waited());
    execution->result = std::move(result);
    execution->state = protocol::ExecutionState::finished;
    execution->turn.reset();
    queue_changed_.notify(); // it may have waited for its turn
    execution->journal.retire();
    services_.gate.end_execution(execution->id);
    if (instance_ && instance_->proxy) {
        instance_->proxy->end_execution(execution->id);
    }
    queue_.keep(*execution);
    services_.observer.on_execution_changed(*execution, std::nullopt);
    execution->finished.set();
}

void Session::on_output(const std::string& parent, jupyter::Output output) {
    // The parent is the kernel's word. What belongs to no execution that we know of is shown where something runs, or
    // ran last: it is output of this kernel, and none is lost.
    std::shared_ptr<Execution> execution = queue_.find(parent);
    if (!execution && instance_ && !instance_->kernel->is_shared()) {
        execution = queue_.latest();
    }
    if (!execution || execution->state == protocol::ExecutionState::queued) {
        log_info("session {}: output that belongs to no execution", options_.id);
        return;
    }
    const std::shared_ptr<const SecretMask>& mask = services_.secrets.mask();
    if (!mask) {
        record(execution, output);
        return;
    }
    for (const jupyter::Output& shown : execution->masked.pass(mask, std::move(output))) {
        record(execution, shown);
    }
    if (execution->state == protocol::ExecutionState::finished) {
        flush_output(execution);
    } else if (execution->masked.holds()) {
        tasks_.spawn(flush_output_soon(execution));
    }
}

void Session::flush_output(const std::shared_ptr<Execution>& execution) {
    if (const std::optional<jupyter::Output> held = execution->masked.flush()) {
        record(execution, *held);
    }
}

Task<void> Session::flush_output_soon(std::shared_ptr<Execution> execution) {
    co_await sleep_for(services_.loop.clock(), max_held_back);
    flush_output(execution);
}

void Session::record(const std::shared_ptr<Execution>& execution, const jupyter::Output& output) {
    if (output.type == jupyter::OutputType::stream && execution == queue_.running()) {
        run_->add_printed(output.body);
    }
    for (RawJson& body : to_records(output)) {
        const bool late = execution->state == protocol::ExecutionState::finished;
        protocol::OutputRecord record;
        record.seq = execution->journal.append(body, late);
        record.output = std::move(body);
        if (late) {
            record.late = true;
        }
        services_.observer.on_output(*execution, record);
    }
}

void Session::on_input_request(jupyter::InputRequest request) {
    if (run_) {
        run_->on_input_request(std::move(request));
    }
}

tools::CallContext Session::current_call(std::optional<std::int64_t> reported_line, const std::string& named) {
    tools::CallContext context;
    context.session_id = options_.id;
    context.servers = options_.tool_servers;
    context.asks_before_programs = options_.ask_before_programs;
    // Also after the agent's execution ended: a thread of its code may make the call.
    context.agent = options_.agent ? options_.agent : borrowing_agent_;
    context.on_reviewed = [this](const std::string& tool) {
        services_.observer.on_reviewed_result(options_.id, queue_.running().get(), tool);
    };
    const std::shared_ptr<Execution>& running = queue_.running();
    if (!running) {
        return context;
    }
    const protocol::ExecuteParams& params = running->params;
    context.execution_id = running->id;
    context.on_progress = [this, running](const std::string& server, const std::string& tool,
                                          std::optional<std::string> words) {
        services_.observer.on_progress(*running, {running->id, server, tool, std::move(words)});
    };
    const std::optional<std::int64_t> line = reported_line ? reported_line : only_line_with(params.code, named);
    if (line) {
        if (const std::optional<std::string> text = line_of(params.code, *line)) {
            protocol::Origin origin;
            origin.line = *line + (params.cell ? params.cell->line : 0);
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
        const std::shared_ptr<Execution>& running = queue_.running();
        instance_->attribution.add(std::move(told), running ? std::optional(running->id) : std::nullopt);
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
