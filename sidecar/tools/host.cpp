#include "host.hpp"

#include "async/process.hpp"
#include "base/escape_unprintable.hpp"
#include "base/hash.hpp"
#include "base/json_codec.hpp"
#include "base/sync.hpp"
#include "base/unique_fd.hpp"
#include "tools/config.hpp"
#include "tools/host_program.hpp"
#include "workspace_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <unistd.h>

namespace cellgate::tools {

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr std::size_t max_output_bytes = std::size_t{1} << 20;

struct PathParams {
    std::string path;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("path", self.path);
    }
};

struct WriteFileParams {
    std::string path;
    std::string content;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("path", self.path);
        visit("content", self.content);
    }
};

struct RunCommandParams {
    std::vector<std::string> argv;
    std::optional<std::string> cwd;
    std::optional<double> timeout_seconds;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("argv", self.argv);
        visit("cwd", self.cwd);
        visit("timeoutSeconds", self.timeout_seconds);
    }
};

struct RemoveToolParams {
    std::string name;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("name", self.name);
    }
};

struct ReadFileResult {
    std::string content;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("content", self.content);
    }
};

struct EntryResult {
    std::string name;
    std::string type;
    std::optional<std::int64_t> size;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("name", self.name);
        visit("type", self.type);
        visit("size", self.size);
    }
};

struct ListDirectoryResult {
    std::vector<EntryResult> entries;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("entries", self.entries);
    }
};

struct WriteFileResult {
    std::int64_t bytes = 0;
    bool created = false;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("bytes", self.bytes);
        visit("created", self.created);
    }
};

struct RunCommandResult {
    std::int64_t exit_code = 0;
    std::optional<std::int64_t> signal;
    std::string standard_output;
    std::string standard_error;
    bool truncated = false;
    bool timed_out = false;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("exitCode", self.exit_code);
        visit("signal", self.signal);
        visit("stdout", self.standard_output);
        visit("stderr", self.standard_error);
        visit("truncated", self.truncated);
        visit("timedOut", self.timed_out);
    }
};

protocol::ToolSpec make_spec(std::string name, std::string title, std::string description, std::string_view input,
                             std::string_view output, protocol::ToolAnnotations annotations) {
    return {std::move(name),       std::move(title),       std::move(description),
            RawJson::parse(input), RawJson::parse(output), std::move(annotations)};
}

std::vector<protocol::ToolSpec> make_specs() {
    const protocol::ToolAnnotations reads{std::nullopt, true, false, true, false};
    const protocol::ToolAnnotations writes{std::nullopt, false, true, true, false};
    const protocol::ToolAnnotations runs{std::nullopt, false, true, false, true};
    return {
        make_spec("read_file", "Read a file", "The text (UTF-8, at most 4 MiB) of a file in the workspace.",
                  R"({"type":"object","properties":{
"path":{"type":"string","minLength":1,"description":"Relative to the workspace, or absolute inside it."}},
"required":["path"],"additionalProperties":false})",
                  R"({"type":"object","properties":{"content":{"type":"string"}},
"required":["content"],"additionalProperties":false})",
                  reads),
        make_spec("list_directory", "List a directory", "The names in a directory of the workspace, sorted.",
                  R"({"type":"object","properties":{
"path":{"type":"string","minLength":1,"description":"Relative to the workspace (\".\" is itself), or absolute inside it."}},
"required":["path"],"additionalProperties":false})",
                  R"({"type":"object","properties":{"entries":{"type":"array","items":{"type":"object","properties":{
"name":{"type":"string"},
"type":{"enum":["file","directory","symlink","other"]},
"size":{"type":"integer","description":"In bytes; of files."}},
"required":["name","type"],"additionalProperties":false}}},
"required":["entries"],"additionalProperties":false})",
                  reads),
        make_spec("write_file", "Write a file",
                  "Replaces a file of the workspace in one step, or makes it. Its directory has to be there.",
                  R"({"type":"object","properties":{
"path":{"type":"string","minLength":1,"description":"Relative to the workspace, or absolute inside it."},
"content":{"type":"string","description":"All of the new text."}},
"required":["path","content"],"additionalProperties":false})",
                  R"({"type":"object","properties":{
"bytes":{"type":"integer"},
"created":{"type":"boolean","description":"The file was not there before."}},
"required":["bytes","created"],"additionalProperties":false})",
                  writes),
        make_spec("run_command", "Run a command",
                  "Runs a program outside the sandbox and waits for it. No shell reads the arguments.",
                  R"({"type":"object","properties":{
"argv":{"type":"array","items":{"type":"string"},"minItems":1,"description":"The program and its arguments."},
"cwd":{"type":"string","minLength":1,"description":"Where it starts: a directory of the workspace. Default: the workspace."},
"timeoutSeconds":{"type":"number","exclusiveMinimum":0,"description":"Then it is ended. Default: never."}},
"required":["argv"],"additionalProperties":false})",
                  R"({"type":"object","properties":{
"exitCode":{"type":"integer"},
"signal":{"type":"integer","description":"What ended it, if a signal did."},
"stdout":{"type":"string","description":"The first MiB."},
"stderr":{"type":"string","description":"The last 64 KiB."},
"truncated":{"type":"boolean","description":"stdout was longer."},
"timedOut":{"type":"boolean"}},
"required":["exitCode","stdout","stderr","truncated","timedOut"],"additionalProperties":false})",
                  runs),
    };
}

std::vector<protocol::ToolSpec> make_saving_specs() {
    const protocol::ToolAnnotations saves{std::nullopt, false, true, true, false};
    return {
        make_spec(
            "save_tool", "Save a tool",
            "Keeps a function of Python as a tool of the server `saved`, which code imports from mcptools.saved. Its "
            "parameters and what it returns are described by its type hints and its docstring. Each call runs the "
            "code in a kernel of its own, under the rules given here.",
            R"({"type":"object","properties":{
"name":{"type":"string","minLength":1,"maxLength":128,"description":"Of the function, and of the tool."},
"code":{"type":"string","minLength":1,"description":"Python that defines the function. All of it runs at each call."},
"description":{"type":"string","description":"Default: the first paragraph of the docstring."},
"rules":{"type":"array","items":{"type":"string","minLength":1},"description":
"What a run may do without asking, as `cellgate policy add` takes it: \"allow filesystem/read_file\", \"allow network api.github.com\". Default: it asks for everything."},
"rulesOf":{"type":"array","items":{"type":"string","minLength":1},"description":"Executions: what they were allowed, each run of the tool may do. Shown to the user as rules."},
"test":{"type":"object","description":"Arguments of a call that has to succeed before the tool is saved."}},
"required":["name","code"],"additionalProperties":false})",
            R"({"type":"object","properties":{
"inputSchema":{"type":"object"},
"outputSchema":{"type":"object"},
"replaced":{"type":"boolean","description":"There was one of that name."},
"value":{"description":"What the test returned."}},
"required":["inputSchema","outputSchema","replaced"],"additionalProperties":false})",
            saves),
        make_spec("remove_tool", "Remove a saved tool", "Removes a tool that save_tool has saved.",
                  R"({"type":"object","properties":{
"name":{"type":"string","minLength":1}},
"required":["name"],"additionalProperties":false})",
                  R"({"type":"object","additionalProperties":false})", saves),
    };
}

protocol::CallToolResult make_result(std::string_view text, std::optional<RawJson> structured, bool is_error) {
    std::string content = R"([{"type":"text","text":)";
    append_json_string(content, text);
    content += "}]";
    return {RawJson::checked(content), std::move(structured), is_error};
}

// A program that was started for a call: its output, until it ends.
struct RunningCommand {
    std::unique_ptr<async::Process> process;
    RunCommandResult result;
    Event ended;
};

Task<void> read_output(std::shared_ptr<RunningCommand> command) {
    while (true) {
        const std::string bytes = co_await command->process->stdio().read();
        if (bytes.empty()) {
            break;
        }
        std::string& kept = command->result.standard_output;
        const std::size_t room = max_output_bytes - kept.size();
        kept += bytes.substr(0, room);
        command->result.truncated = command->result.truncated || bytes.size() > room;
    }
    const async::ExitStatus status = co_await command->process->exited();
    command->result.exit_code = status.signal == 0 ? status.code : 128 + status.signal; // as a shell has it
    if (status.signal != 0) {
        command->result.signal = status.signal;
    }
    command->ended.set();
}

std::string describe(const RunCommandResult& result) {
    std::string text = result.timed_out ? "it did not end in time and was ended\n"
                       : result.signal  ? fmt::format("signal {}\n", *result.signal)
                                        : fmt::format("exit code {}\n", result.exit_code);
    for (const std::string* part : {&result.standard_output, &result.standard_error}) {
        text += *part;
        if (!part->empty() && part->back() != '\n') {
            text += '\n';
        }
    }
    return text;
}

// Kills it unless it has ended.
Task<void> end_command(std::shared_ptr<RunningCommand> command, TaskScope* reading) {
    if (!command->ended.is_set()) {
        command->process->kill();
    }
    co_await reading->join();
}

Task<RunCommandResult> run_command(async::Loop& loop, async::Command start, std::optional<Duration> limit) {
    auto command = std::make_shared<RunningCommand>();
    command->process = async::start_process(loop, std::move(start));
    command->process->close_stdin();
    TaskScope reading;
    reading.spawn(read_output(command));
    std::optional<Instant> deadline;
    if (limit) {
        deadline = loop.clock().now() + *limit;
    }
    const bool ended =
        co_await finally(wait_until(loop.clock(), command->ended, deadline), end_command(command, &reading));
    command->result.timed_out = !ended;
    command->result.standard_error = command->process->stderr_tail();
    co_return std::move(command->result);
}

} // namespace

const std::string& HostTools::identity() {
    static const std::string identity = sha256("the tool server that is part of cellgate");
    return identity;
}

HostTools::HostTools(async::Loop& loop, std::string workspace, const Environment& environment, SavedTools& saved)
    : loop_(loop), workspace_(std::move(workspace)), environment_(small_environment(environment)), saved_(saved) {
    for (const auto& specs : {make_specs(), make_saving_specs()}) {
        for (const protocol::ToolSpec& spec : specs) {
            tools_.push_back(make_tool(spec, identity()));
        }
    }
}

Task<void> HostTools::refresh() {
    co_return; // they never change
}

Task<std::pair<ToolPtr, RawJson>> HostTools::resolve(ToolPtr tool, RawJson arguments) {
    if (tool->spec.name == "save_tool" && !json_member(arguments.text(), "rulesOf").empty()) {
        const SaveToolParams resolved = co_await saved_.with_rules(from_json<SaveToolParams>(arguments, "arguments"));
        arguments = to_raw_json(resolved);
    }
    co_return std::pair(std::move(tool), std::move(arguments));
}

Task<void> HostTools::check(ToolPtr tool, RawJson arguments) {
    if (tool->spec.name == "save_tool") {
        saved_.require_savable(from_json<SaveToolParams>(arguments, "arguments"));
        co_return;
    }
    if (tool->spec.name == "remove_tool") {
        co_return;
    }
    std::function<void()> work = [this, &tool, &arguments] {
        try {
            const WorkspaceFiles files(workspace_);
            const std::string& name = tool->spec.name;
            if (name == "read_file") {
                files.check_read(from_json<PathParams>(arguments, "arguments").path);
            } else if (name == "list_directory") {
                files.open_directory(from_json<PathParams>(arguments, "arguments").path);
            } else if (name == "write_file") {
                files.check_write(from_json<WriteFileParams>(arguments, "arguments").path);
            } else {
                files.open_directory(from_json<RunCommandParams>(arguments, "arguments").cwd.value_or("."));
            }
        } catch (const Error& error) {
            if (error.code == ErrorCode::denied) {
                throw;
            }
            // What fails in the world may be otherwise by the time of the call, which tells it.
        }
    };
    co_await loop_.run_blocking(std::move(work));
}

gate::Action HostTools::action_of(const Tool& tool, RawJson arguments) const {
    gate::HostCall call;
    call.tool = tool.spec.name;
    if (call.tool == "run_command") {
        call.command = from_json<RunCommandParams>(arguments, "arguments").argv;
        std::string& program = call.command->front();
        if (program.find('/') == std::string::npos) {
            program = find_host_program(program, environment_, workspace_).value_or(program);
        }
    }
    call.arguments = std::move(arguments);
    call.server_identity = tool.server_identity;
    call.tool_identity = tool.identity;
    return call;
}

Task<std::optional<protocol::CallToolResult>>
HostTools::call(ToolPtr tool, gate::Action allowed, CallContext context,
                std::shared_ptr<mcp::CallFollower> /*its tools are quick*/) {
    gate::HostCall& call = std::get<gate::HostCall>(allowed);
    const RawJson& arguments = call.arguments;
    try {
        if (tool->spec.name == "save_tool") {
            auto params = from_json<SaveToolParams>(arguments, "arguments");
            co_return co_await save_tool(std::move(params), std::move(context));
        }
        if (tool->spec.name == "remove_tool") {
            auto params = from_json<RemoveToolParams>(arguments, "arguments");
            co_return co_await remove_tool(std::move(params.name));
        }
        if (tool->spec.name == "run_command") {
            auto params = from_json<RunCommandParams>(arguments, "arguments");
            co_return co_await run(std::move(call.command.value()), params.cwd.value_or("."), params.timeout_seconds);
        }
        std::function<protocol::CallToolResult()> work = [this, &tool, &arguments] {
            return work_on_file(tool->spec.name, arguments);
        };
        co_return co_await loop_.run_blocking(std::move(work));
    } catch (const Error& error) {
        if (error.code == ErrorCode::denied || error.code == ErrorCode::request_cancelled) {
            throw;
        }
        co_return make_result(error.message, std::nullopt, true);
    }
}

Task<void> HostTools::stop(std::string /*reason*/) {
    co_return; // it ends with this process
}

Task<protocol::CallToolResult> HostTools::save_tool(SaveToolParams params, CallContext context) {
    const std::string name = params.name;
    const SaveToolResult result = co_await saved_.save(std::move(params), std::move(context));
    co_return make_result(
        fmt::format("{0} is saved as {1}/{0}{2}. Once the wrappers of `{1}` are generated, code imports it: "
                    "from mcptools.{1} import {0}",
                    name, saved_server_name, result.replaced ? ", which replaces the tool saved before" : ""),
        to_raw_json(result), false);
}

Task<protocol::CallToolResult> HostTools::remove_tool(std::string name) {
    co_await saved_.remove(name);
    co_return make_result(fmt::format("{} is removed", name), to_raw_json(Empty{}), false);
}

// Off the loop.
protocol::CallToolResult HostTools::work_on_file(const std::string& tool, const RawJson& arguments) const {
    const WorkspaceFiles files(workspace_);
    if (tool == "read_file") {
        ReadFileResult result{files.read_text(from_json<PathParams>(arguments, "arguments").path)};
        return make_result(result.content, to_raw_json(result), false);
    }
    if (tool == "list_directory") {
        ListDirectoryResult result;
        std::string text;
        for (const DirectoryEntry& entry : files.list(from_json<PathParams>(arguments, "arguments").path)) {
            result.entries.push_back({entry.name, std::string(entry.type), entry.size});
            text += fmt::format("{}{}\n", entry.name, entry.type == "directory" ? "/" : "");
        }
        return make_result(text, to_raw_json(result), false);
    }
    const auto params = from_json<WriteFileParams>(arguments, "arguments");
    WriteFileResult result;
    result.created = files.write(params.path, params.content);
    result.bytes = static_cast<std::int64_t>(params.content.size());
    return make_result(fmt::format("{} bytes written to {}", result.bytes, escape_unprintable(params.path)),
                       to_raw_json(result), false);
}

Task<protocol::CallToolResult> HostTools::run(std::vector<std::string> argv, std::string cwd,
                                              std::optional<double> timeout_seconds) {
    if (argv.front().find('/') == std::string::npos) {
        throw Error(ErrorCode::internal_error,
                    fmt::format("there is no program \"{}\" in PATH outside the workspace; one inside is named by its "
                                "path, with a slash",
                                escape_unprintable(argv.front())));
    }
    const UniqueFd directory = WorkspaceFiles(workspace_).open_directory(cwd);
    async::Command command;
    command.argv = std::move(argv);
    command.environment = environment_;
    // The directory that was opened, also when its name means another one by now.
    command.cwd = fmt::format("/proc/{}/fd/{}", ::getpid(), directory.get());
    std::optional<Duration> limit;
    if (timeout_seconds) {
        limit = from_seconds(*timeout_seconds);
    }
    const RunCommandResult result = co_await run_command(loop_, std::move(command), limit);
    co_return make_result(describe(result), to_raw_json(result), false);
}

} // namespace cellgate::tools
