#include "saved_tool_runs.hpp"

#include "base/enum_name.hpp"
#include "base/json_codec.hpp"
#include "base/names.hpp"
#include "base/sync.hpp"
#include "journal_records.hpp"
#include "saved_tool_text.hpp"
#include "tools/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace cellgate::service {

namespace {

constexpr std::size_t max_run_bytes = std::size_t{16} << 20;
constexpr const char* found_type = "application/vnd.cellgate.saved-tool+json";

// Of an output as nbformat has it.
struct ShownOutput {
    std::optional<std::string> name; // of a stream
    std::optional<std::string> text;
    std::optional<std::map<std::string, RawJson>> data;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("name", self.name);
        visit("text", self.text);
        visit("data", self.data);
    }
};

// What saved_tool.py displays.
struct FoundFunction {
    std::string description;
    RawJson input_schema;
    RawJson output_schema;
    std::optional<RawJson> value;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("description", self.description);
        visit("inputSchema", self.input_schema);
        visit("outputSchema", self.output_schema);
        visit("value", self.value);
    }
};

Error run_failed(const std::string& name, const std::string& why) {
    return Error(ErrorCode::tool_server_failed, fmt::format("the saved tool {} failed: {}", name, why));
}

// With the innermost line of the tool's code, which has so many.
void require_run_ok(const std::string& name, std::int64_t lines, const protocol::ExecuteResult& result) {
    if (result.status == protocol::ExecutionStatus::ok) {
        return;
    }
    if (!result.error) {
        throw run_failed(name, result.reason.value_or(std::string(enum_name(result.status))));
    }
    std::string where;
    for (const protocol::ExecutionFrame& frame : result.error->frames) {
        if (!frame.uri && frame.line < lines) {
            where = fmt::format(" (line {})", frame.line + 1);
        }
    }
    throw run_failed(name, fmt::format("{}: {}{}", result.error->ename, result.error->evalue, where));
}

// Whether it has described the function.
bool read_run_output(const std::string& name, const store::JournalPage& page, tools::SavedToolRun& run) {
    bool is_described = false;
    for (const protocol::OutputRecord& record : read_records(page, max_run_bytes)) {
        if (!record.output) {
            throw run_failed(name, fmt::format("it printed or returned more than {} bytes", max_run_bytes));
        }
        auto output = from_json<ShownOutput>(*record.output, "output");
        if (output.name == "stdout") {
            run.printed += output.text.value_or("");
        }
        const auto found = output.data ? output.data->find(found_type) : std::map<std::string, RawJson>::iterator();
        if (output.data && found != output.data->end()) {
            auto function = from_json<FoundFunction>(found->second, "function");
            run.description = std::move(function.description);
            run.input_schema = std::move(function.input_schema);
            run.output_schema = std::move(function.output_schema);
            run.value = std::move(function.value);
            is_described = true;
        }
    }
    return is_described;
}

// A JSON string is one of Python, too.
std::string in_python(std::string_view text) {
    return to_json(std::string(text));
}

// In names of its own, so that it changes none of the code's.
std::string preparing(const std::string& workspace) {
    return fmt::format("(lambda names: exec({}, names) or names['prepare']({}))({{}})", in_python(saved_tool_text),
                       in_python(workspace));
}

// One line, behind the code.
std::string calling(const std::string& name, const std::optional<RawJson>& arguments) {
    return fmt::format("await __import__('_cellgate_saved_tool').run(globals(), {}, {})", in_python(name),
                       arguments ? in_python(arguments->text()) : "None");
}

} // namespace

session::SessionOptions SavedToolRuns::options_for(const tools::SavedToolCode& code,
                                                   const tools::CallContext& context) const {
    session::SessionOptions options = workspace_.default_session();
    // Modules of the workspace, which code can write, would have the tool's rules: Python finds none in its folder, and
    // goes to the workspace when it has started.
    options.cwd = "/usr"; // every sandbox shows it
    options.id = fmt::format("{}saved-{}", context.agent ? "agent-" : "", random_id());
    options.language = "python";
    options.agent = context.agent;
    options.rules = code.rules;
    options.saved_tool = code.name;
    options.runs_within_call = context.execution_id.has_value();
    if (context.servers) {
        options.tool_servers = context.servers;
    }
    options.ask_before_programs = options.ask_before_programs || context.asks_before_programs;
    if (context.agent) {
        options.limits = limits_.limits_of(options.limits);
    }
    return options;
}

// A cell whose calls are not asked about starts no questions by way of a tool.
protocol::ExecuteParams SavedToolRuns::params_for(std::string code, const tools::CallContext& context) const {
    protocol::ExecuteParams params;
    params.code = std::move(code);
    if (context.agent) {
        params.timeout_seconds = limits_.timeout_of("timeoutSeconds", std::nullopt, std::nullopt);
    }
    if (context.execution_id) {
        const std::optional<SessionTable::Found> caller = sessions_.try_find_execution(*context.execution_id);
        if (caller && caller->second->params.approvals == protocol::ApprovalMode::deny) {
            params.approvals = protocol::ApprovalMode::deny;
        }
    } else if (context.from_code) { // of a cell that has ended
        params.approvals = protocol::ApprovalMode::deny;
    }
    return params;
}

Task<tools::SavedToolRun> SavedToolRuns::run(tools::SavedToolCode code, std::optional<RawJson> arguments,
                                             tools::CallContext context) {
    session::SessionOptions options = options_for(code, context);
    std::string id = options.id;
    sessions_of_runs_.insert(id);
    SessionTable::SessionPtr session;
    std::exception_ptr error;
    try {
        session = co_await sessions_.create(std::move(options));
    } catch (...) {
        error = std::current_exception();
    }
    if (error) { // it may still be starting
        co_await shielded(close(std::move(id)));
        std::rethrow_exception(error);
    }
    auto body = run_in(std::move(session), std::move(code), std::move(arguments), std::move(context));
    auto cleanup = close(std::move(id));
    co_return co_await finally(std::move(body), std::move(cleanup));
}

Task<tools::SavedToolRun> SavedToolRuns::run_in(SessionTable::SessionPtr session, tools::SavedToolCode code,
                                                std::optional<RawJson> arguments, tools::CallContext context) {
    const session::ClientId client = context.agent ? context.agent->client : 0;
    const std::string name = code.name;
    const std::int64_t lines = std::count(code.code.begin(), code.code.end(), '\n') + 1;
    protocol::ExecuteParams prepare = params_for(preparing(workspace_.path), context);
    prepare.silent = true;
    const std::shared_ptr<session::Execution> preparation = session->enqueue(std::move(prepare), client, context.agent);
    std::string cell = std::move(code.code) + "\n" + calling(name, arguments);
    const std::shared_ptr<session::Execution> execution =
        session->enqueue(params_for(std::move(cell), context), client, context.agent);
    co_await preparation->finished.wait();
    require_run_ok(name, 0, preparation->result);
    co_await execution->finished.wait();
    if (context.on_reviewed && review_.hides(session->id(), std::nullopt)) {
        context.on_reviewed(fmt::format("{}/{}", tools::saved_server_name, name));
    }
    require_run_ok(name, lines, execution->result);
    tools::SavedToolRun run;
    const store::JournalPage page = execution->journal.page(0, max_run_bytes);
    std::function<bool()> work = [&name, &page, &run] { return read_run_output(name, page, run); };
    const bool found = co_await loop_.run_blocking(std::move(work));
    if (!found || (arguments && !run.value)) {
        throw run_failed(name,
                         fmt::format("what it printed and returned is more than {} bytes, or its code ends before "
                                     "the function is called",
                                     max_run_bytes));
    }
    co_return run;
}

Task<void> SavedToolRuns::close(std::string session_id) {
    if (sessions_.has(session_id)) {
        std::string id = session_id;
        std::string reason = "the call of the saved tool has ended";
        co_await sessions_.close(std::move(id), std::move(reason));
    }
    sessions_of_runs_.erase(session_id);
}

} // namespace cellgate::service
