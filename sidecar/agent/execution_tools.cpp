// Running code for an agent: execute, execute_ipython_cell (as ipybox has it), read_output.

#include "base/enum_name.hpp"
#include "base/json_codec.hpp"
#include "base/text.hpp"
#include "output_page.hpp"
#include "output_reader.hpp"
#include "run_code.hpp"
#include "tools.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cellgate::agent {

namespace {

using mcp::ToolCall;
using protocol::CallToolResult;
using protocol::ExecuteResult;
using protocol::ExecutionStatus;

constexpr std::size_t max_error_bytes = 2000;
constexpr double default_seconds = 30;
constexpr std::string_view loss_notice = "[A new kernel was started before this: the session was closed, or lost with "
                                         "its sidecar, and its variables and imports are gone.]";

// ---- Arguments of the tools
// ------------------------------------------------------------------------------------------

struct ExecuteArguments {
    static constexpr bool closed = true;
    std::string code;
    std::optional<std::string> language;
    std::optional<double> timeout;
    std::optional<std::int64_t> max_output_chars;
    std::optional<std::string> session;
    std::optional<bool> details;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("code", self.code);
        visit("language", self.language);
        visit("timeout", self.timeout);
        visit("max_output_chars", self.max_output_chars);
        visit("session", self.session);
        visit("details", self.details);
    }
};

struct CellArguments {
    static constexpr bool closed = true;
    std::string code;
    std::optional<double> timeout;
    std::optional<std::int64_t> max_output_chars;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("code", self.code);
        visit("timeout", self.timeout);
        visit("max_output_chars", self.max_output_chars);
    }
};

struct ReadArguments {
    static constexpr bool closed = true;
    std::optional<std::string> execution_id;
    std::optional<std::string> cursor;
    std::optional<std::int64_t> max_output_chars;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("execution_id", self.execution_id);
        visit("cursor", self.cursor);
        visit("max_output_chars", self.max_output_chars);
    }
};

// ---- Results of the tools
// --------------------------------------------------------------------------------------------

// What `details` asks for. It is text, like the output: some clients show a model nothing but structured content where
// there is some.
struct ExecutionDetails {
    std::string execution_id;
    std::string session;
    ExecutionStatus status = ExecutionStatus::ok;
    double duration_seconds = 0;
    double waited_seconds = 0;
    std::vector<std::string> isolation;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("execution_id", self.execution_id);
        visit("session", self.session);
        visit("status", self.status);
        visit("duration_seconds", self.duration_seconds);
        visit("waited_seconds", self.waited_seconds);
        visit("isolation", self.isolation);
    }
};

std::string shortened(const std::string& text) {
    return text.size() > max_error_bytes ? std::string(cut_at_character(text, max_error_bytes)) + "…" : text;
}

// How it ended, when that is not plain from the output.
std::string ending_of(const ExecuteResult& result, bool output_was_cut) {
    if (result.status != ExecutionStatus::ok && result.status != ExecutionStatus::error) {
        return fmt::format("[{}: {}]", enum_name(result.status), result.reason.value_or("the code was stopped"));
    }
    std::string ending;
    if (output_was_cut && result.error) {
        ending = fmt::format("[ended with {}: {}]", result.error->ename, shortened(plain_text(result.error->evalue)));
    }
    if (result.reason) { // it ended its kernel
        ending += fmt::format("{}[{}]", ending.empty() ? "" : "\n", *result.reason);
    }
    return ending;
}

std::string rest_of(const std::string& execution_id, const OutputPage& page) {
    return where_all_is(execution_id, *page.next, page.is_shortened ? "all of it" : "the rest");
}

std::string cut_notice(const std::string& execution_id, const OutputPage& page) {
    if (page.is_shortened) {
        return fmt::format("[This JSON is shortened: {}]", rest_of(execution_id, page));
    }
    if (page.end.empty()) {
        return fmt::format("[Output truncated: {}]", rest_of(execution_id, page));
    }
    return fmt::format("[{} characters are left out here: {}]", page.left_out, rest_of(execution_id, page));
}

std::string text_of(const protocol::Note& note, std::string_view wrapper_tool) {
    if (note.wrappers) {
        return fmt::format("[{}; the tool {} writes them]", note.text, wrapper_tool);
    }
    return fmt::format("[{}{}; {}]", note.text,
                       note.install ? "; the tool install_package asks your user to install it" : "", advice_of(note));
}

CallToolResult result_of(OutputPage& page, const ExecuteResult& result, const std::string& notice,
                         std::string_view wrapper_tool) {
    if (page.cut) {
        page.content.add_text(notice);
    }
    if (!page.end.empty()) {
        page.content.add_text(page.end);
    }
    const std::string ending = ending_of(result, (page.cut && page.end.empty()) || !page.withheld.empty());
    if (!ending.empty()) {
        page.content.add_text(ending);
    }
    if (result.notes) {
        for (const protocol::Note& note : *result.notes) {
            page.content.add_text(text_of(note, wrapper_tool));
        }
    }
    CallToolResult answer;
    answer.content = page.content.blocks();
    if (result.status != ExecutionStatus::ok) {
        answer.is_error = true;
    }
    return answer;
}

// ---- The tools ------------------------------------------------------------------------------------------------------

struct ExecutionTools {
    SidecarClient& sidecar;
    bool reads_more = false;       // read_output is offered
    std::string_view wrapper_tool; // writes wrappers
    std::string latest = {};       // execution, whose result may not have come

    static std::size_t characters_of(const std::optional<std::int64_t>& wanted, std::size_t otherwise) {
        if (wanted && *wanted < 1) {
            throw Error(ErrorCode::invalid_params, "arguments.max_output_chars: expected 1 or more");
        }
        return std::min(wanted ? static_cast<std::size_t>(*wanted) : otherwise, max_output_characters);
    }

    Task<ExecuteResult> run(std::string code, std::optional<double> timeout, double usual_seconds, std::string session,
                            std::shared_ptr<ToolCall> call) {
        protocol::ExecuteParams params;
        params.code = std::move(code);
        params.timeout_seconds = timeout;
        params.session_id = std::move(session);
        return run_code(&sidecar, std::move(params), usual_seconds, std::move(call), &latest);
    }

    Task<CallToolResult> execute(ExecuteArguments arguments, std::shared_ptr<ToolCall> call) {
        const std::size_t characters = characters_of(arguments.max_output_chars, default_output_characters);
        std::string session;
        if (arguments.session) {
            session = std::move(*arguments.session);
        } else {
            std::optional<std::string> language = kernel_language_of(std::move(arguments.language));
            session = co_await sidecar.own_session(std::move(language), call);
        }
        const ExecuteResult result =
            co_await run(std::move(arguments.code), arguments.timeout, default_seconds, session, call);
        OutputPage page = co_await read_output_ends(&sidecar, call, result.execution_id, characters);
        if (sidecar.take_loss(session)) {
            page.content.add_text(loss_notice);
        }
        const std::string notice = page.cut ? cut_notice(result.execution_id, page) : std::string();
        CallToolResult answer = result_of(page, result, notice, wrapper_tool);
        if (arguments.details.value_or(false)) {
            const ExecutionDetails details{result.execution_id,   session,      result.status, result.duration_seconds,
                                           result.waited_seconds, result.layers};
            page.content.add_text(to_json(details));
            answer.content = page.content.blocks();
        }
        co_return answer;
    }

    Task<CallToolResult> execute_cell(CellArguments arguments, std::shared_ptr<ToolCall> call) {
        constexpr std::size_t ipybox_characters = 5000;
        constexpr double ipybox_seconds = 120;
        const std::size_t characters = characters_of(arguments.max_output_chars, ipybox_characters);
        const std::string session = co_await sidecar.own_session(std::nullopt, call);
        const ExecuteResult result =
            co_await run(std::move(arguments.code), arguments.timeout, ipybox_seconds, session, call);
        OutputPage page = co_await read_output_page(&sidecar, call, result.execution_id, std::nullopt, characters);
        if (sidecar.take_loss(session)) {
            page.content.add_text(loss_notice);
        }
        const std::string notice =
            page.cut ? fmt::format("\n\n[Output truncated: exceeded {} character limit]{}", characters,
                                   reads_more ? fmt::format("\n[{}]", rest_of(result.execution_id, page)) : "")
                     : std::string();
        CallToolResult answer = result_of(page, result, notice, wrapper_tool);
        if (page.content.empty()) { // ipybox answers with a text always
            page.content.add_text("");
            answer.content = page.content.blocks();
        }
        co_return answer;
    }

    Task<CallToolResult> read(ReadArguments arguments, std::shared_ptr<ToolCall> call) {
        const std::size_t characters = characters_of(arguments.max_output_chars, default_output_characters);
        const std::string id = arguments.execution_id.value_or(latest);
        if (id.empty()) {
            throw Error(ErrorCode::execution_not_found, "nothing was executed yet");
        }
        OutputPage page = co_await read_output_page(&sidecar, call, id, std::move(arguments.cursor), characters);
        if (page.cut) {
            page.content.add_text(fmt::format("[{}]", rest_of(id, page)));
        } else if (!page.withheld.empty()) {
            page.content.add_text(fmt::format("[{}]", page.withheld));
        } else if (page.next) {
            page.content.add_text(fmt::format("[It still runs; {}]", rest_of(id, page)));
        }
        CallToolResult answer;
        answer.content = page.content.blocks();
        co_return answer;
    }
};

constexpr std::string_view execute_input = R"({"type":"object","properties":{
"code":{"type":"string","description":"Python code, or that of `language`. Top-level await works; the last expression's value is part of the output."},
"language":{"type":"string","description":"python (default), typescript, javascript, bash, R, or another that is installed. Each has a kernel of its own."},
"timeout":{"type":"number","exclusiveMinimum":0,"description":"Seconds after which the code is interrupted. Time spent waiting for a user does not count. Default: 30; at most 300, unless the user set otherwise."},
"max_output_chars":{"type":"integer","minimum":1,"description":"How much text of the output the result holds at most; the rest is read with read_output. Default: 20000."},
"session":{"type":"string","description":"Run in this session instead of your own one of the language: one that you created, or \"default\", which the user's editor uses."},
"details":{"type":"boolean","description":"Add a last text, JSON: execution_id, session, status, durations, and the layers of isolation."}},
"required":["code"],"additionalProperties":false})";

constexpr std::string_view cell_input = R"({"type":"object","properties":{
"code":{"type":"string","description":"Python code."},
"timeout":{"type":"number","exclusiveMinimum":0,"default":120,"description":"Seconds after which the code is interrupted."},
"max_output_chars":{"type":"integer","minimum":1,"default":5000,"description":"How much text of the output the result holds at most."}},
"required":["code"],"additionalProperties":false})";

constexpr std::string_view read_input = R"({"type":"object","properties":{
"execution_id":{"type":"string","description":"As a result names it. Default: your latest execution, also one whose result did not come."},
"cursor":{"type":"string","description":"The `next` of an earlier result. Default: the beginning."},
"max_output_chars":{"type":"integer","minimum":1,"description":"Default: 20000."}},"additionalProperties":false})";

} // namespace

std::vector<mcp::Tool> execution_tools(SidecarClient& sidecar, bool reads_more, std::string_view wrapper_tool) {
    const auto tools = std::make_shared<ExecutionTools>(sidecar, reads_more, wrapper_tool);
    std::vector<mcp::Tool> all;
    all.push_back(mcp::typed_tool<ExecuteArguments>(
        tool_spec("execute", "Run code", Effect::runs,
                  "Runs code in a stateful, sandboxed Jupyter kernel and returns its output, pictures included. "
                  "Variables and imports stay for the next call. Hosts of the network are reached through a "
                  "proxy (HTTPS_PROXY) once a user or a rule allows them; the workspace is "
                  "writable. Tools of MCP servers are called from the code: `from mcptools.SERVER import TOOL` and "
                  "`TOOL.run(...)`, once generate_wrappers has written them. Each such call is subject to a user's "
                  "rules and may wait for a user's answer.",
                  execute_input),
        [tools](ExecuteArguments arguments, std::shared_ptr<ToolCall> call) {
            return tools->execute(std::move(arguments), std::move(call));
        }));
    all.push_back(mcp::typed_tool<CellArguments>(
        tool_spec(
            "execute_ipython_cell", "Run an IPython cell", Effect::runs,
            "Runs Python code in a stateful, sandboxed IPython kernel, as ipybox does: variables and imports stay "
            "until reset; top-level await and !COMMAND work. A tool of a registered server is a module: `from "
            "mcptools.SERVER.TOOL import Params, run` and `run(Params(...))`. Each such call is subject to a user's "
            "rules and may wait for a user's answer, and so does each host of the network, which is reached "
            "through a proxy (HTTPS_PROXY). The workspace is writable.",
            cell_input),
        [tools](CellArguments arguments, std::shared_ptr<ToolCall> call) {
            return tools->execute_cell(std::move(arguments), std::move(call));
        }));
    all.push_back(mcp::typed_tool<ReadArguments>(
        tool_spec("read_output", "Read output", Effect::reads,
                  "Reads the output of an execution, also while it runs: what a result left out.", read_input),
        [tools](ReadArguments arguments, std::shared_ptr<ToolCall> call) {
            return tools->read(std::move(arguments), std::move(call));
        }));
    return all;
}

} // namespace cellgate::agent
