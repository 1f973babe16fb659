// The tools of Python Sandbox Server, with its names, parameters and results: execute_code, validate_code,
// get_sandbox_info, list_capabilities. Two versions of that server differ in their results; these have the members of
// both. Each call of execute_code has a session of its own, which is closed when it ends.

#include "base/json_codec.hpp"
#include "base/names.hpp"
#include "base/text.hpp"
#include "execution_values.hpp"
#include "named_variables.hpp"
#include "output_reader.hpp"
#include "python_sandbox_results.hpp"
#include "run_code.hpp"
#include "tools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>

namespace cellgate::agent {

namespace {

using mcp::ToolCall;
using protocol::CallToolResult;
using protocol::ExecutionStatus;

constexpr std::size_t max_code_characters = 100'000;
constexpr const char* values_type = "application/vnd.cellgate.values+json";
constexpr double values_seconds = 10;
// That server's list, of which code may use all.
constexpr const char* usual_builtins = "bool int float str list dict tuple set frozenset bytes bytearray len abs min "
                                       "max sum round sorted reversed enumerate "
                                       "zip map filter all any range print isinstance issubclass hasattr getattr "
                                       "setattr callable type id hash iter next slice "
                                       "chr ord hex oct bin format repr ascii divmod pow";

// ---- Arguments and results, as that server has them -----------------------------------------------------------------

struct SandboxCode {
    static constexpr bool closed = true;
    std::string code;
    std::optional<double> timeout;
    std::optional<bool> capture_output;
    std::optional<Texts> allowed_imports;
    std::optional<bool> use_container;
    std::optional<std::string> memory_limit;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("code", self.code);
        visit("timeout", self.timeout);
        visit("capture_output", self.capture_output);
        visit("allowed_imports", self.allowed_imports);
        visit("use_container", self.use_container);
        visit("memory_limit", self.memory_limit);
    }
};

struct CheckedCode {
    static constexpr bool closed = true;
    std::string code;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("code", self.code);
    }
};

// ---- The tools ------------------------------------------------------------------------------------------------------

Texts words_of_list(const std::string& text) {
    std::istringstream stream(text);
    return {std::istream_iterator<std::string>(stream), {}};
}

// The value is printed below what the code printed, as IPython does.
std::string with_value(std::string printed, const std::optional<std::string>& value) {
    if (value) {
        printed += printed.empty() || printed.back() == '\n' ? *value : "\n" + *value;
    }
    return printed;
}

struct PythonSandboxTools {
    SidecarClient& sidecar;
    PythonSandboxSettings settings;

    // ---- execute_code

    Task<CallToolResult> execute_code(SandboxCode asked, std::shared_ptr<ToolCall> call) {
        CodeFailure failure;
        try {
            const RawJson result = co_await execute(std::move(asked), std::move(call));
            co_return json_result(result);
        } catch (const Cancelled&) {
            throw;
        } catch (const Error& error) {
            failure = failed(error.hint.empty() ? error.message : error.message + "; " + error.hint, "request");
        }
        co_return json_result(to_raw_json(failure));
    }

    Task<RawJson> execute(SandboxCode asked, std::shared_ptr<ToolCall> call) {
        if (asked.code.find_first_not_of(" \t\r\n") == std::string::npos) {
            co_return to_raw_json(failed("Empty code provided", "request"));
        }
        if (count_characters(asked.code) > max_code_characters) {
            co_return to_raw_json(failed("Code too large (max 100KB)", "request"));
        }
        if (asked.use_container.value_or(false)) {
            throw Error(ErrorCode::unsupported, "use_container: there is no container mode",
                        "leave it out: code runs in cellgate's sandbox anyway; a session in an image is a user's to "
                        "start, by cellgate run --image");
        }
        SandboxRun run{random_uuid(), std::move(asked.code), settings.timeout_of(asked.timeout),
                       asked.capture_output.value_or(true)};
        protocol::SessionCreateParams params = session_params(asked.memory_limit);
        Texts modules = modules_of(std::move(asked.allowed_imports));
        const protocol::ValidateResult found = co_await check(run.code, std::move(modules), call);
        if (std::any_of(found.diagnostics.begin(), found.diagnostics.end(), refuses)) {
            const ModuleGroup offered{"", "", settings.modules()};
            co_return to_raw_json(refusal_of(run, found, offered));
        }
        const protocol::SessionInfo made = co_await sidecar.create_session(std::move(params), call);
        if (!asked.timeout) {
            run.timeout = usual_timeout(made);
        }
        Task<void> close = sidecar.close_session(made.session_id, call);
        Task<RawJson> ran = run_in(made.session_id, std::move(run), std::move(call));
        co_return co_await finally(std::move(ran), std::move(close));
    }

    // Seconds for code that names no timeout.
    double usual_timeout(const protocol::SessionInfo& session) const {
        return std::min(settings.timeout_of(std::nullopt), max_seconds_of(session));
    }

    // What a user allows agents.
    double max_seconds_of(const protocol::SessionInfo& session) const {
        const std::optional<double> most = session.limits ? session.limits->wall_seconds : std::optional<double>();
        return std::min(settings.max_timeout, most.value_or(settings.max_timeout));
    }

    // A random UUID, version 4.
    static std::string random_uuid() {
        std::string digits = random_id();
        digits[12] = '4';
        digits[16] = "89ab"[static_cast<unsigned char>(digits[16]) % 4];
        const std::string_view all = digits;
        return fmt::format("{}-{}-{}-{}-{}", all.substr(0, 8), all.substr(8, 4), all.substr(12, 4), all.substr(16, 4),
                           all.substr(20));
    }

    protocol::SessionCreateParams session_params(const std::optional<std::string>& memory_limit) const {
        std::optional<std::uint64_t> bytes = settings.memory_bytes;
        if (memory_limit) {
            bytes = parse_memory(*memory_limit);
            if (!bytes || *bytes < least_memory_bytes) {
                throw Error(ErrorCode::invalid_params,
                            fmt::format("memory_limit: expected a size such as 128m, and at least 100m, found \"{}\"",
                                        *memory_limit));
            }
        }
        protocol::SessionCreateParams params;
        if (bytes) {
            params.limits = protocol::Limits{};
            params.limits->memory_bytes = bytes;
        }
        return params;
    }

    // Those that a call names, which can only be fewer than those of the settings.
    Texts modules_of(std::optional<Texts> asked) const {
        Texts offered = settings.modules();
        if (!asked || asked->empty()) {
            return offered;
        }
        const ModuleGroup all{"", "", std::move(offered)};
        for (const std::string& module : *asked) {
            if (!all.has(module)) {
                throw Error(ErrorCode::denied, fmt::format("allowed_imports: {} is not offered", module),
                            remedy_for(module));
            }
        }
        return std::move(*asked);
    }

    Task<protocol::ValidateResult> check(std::string code, Texts modules, std::shared_ptr<ToolCall> call) {
        protocol::ValidateParams params;
        params.code = std::move(code);
        params.language = "python";
        params.modules = std::move(modules);
        params.types = false;
        return sidecar.call<protocol::Validate>(std::move(params), std::move(call));
    }

    Task<RawJson> run_in(std::string session, SandboxRun run, std::shared_ptr<ToolCall> call) {
        protocol::ExecuteParams params;
        params.execution_id = run.id;
        params.session_id = session;
        params.code = std::move(run.code);
        params.timeout_seconds = run.timeout;
        const protocol::ExecuteResult ended = co_await run_code(&sidecar, std::move(params), run.timeout, call);
        Streams streams = co_await read_streams(&sidecar, call, run.id, settings.max_output_size);
        if (ended.status != ExecutionStatus::ok) {
            co_return to_raw_json(failure_of(run, ended, std::move(streams)));
        }
        CodeSuccess success;
        success.security_warnings.value = warnings_of(ended);
        if (streams.withheld.empty()) {
            success.shown = co_await read_values(std::move(session), streams.value.has_value(),
                                                 &success.security_warnings.value, std::move(call));
        } else {
            success.withheld = std::move(streams.withheld);
        }
        success.execution_id = run.id;
        success.execution_time = ended.duration_seconds - ended.waited_seconds;
        if (run.captures) {
            success.out = with_value(std::move(streams.out), streams.value);
            success.err = std::move(streams.err);
        }
        co_return to_raw_json(success);
    }

    // The value and the names of the variables, which are asked of the kernel after the code. Nothing of a kernel that
    // does not answer; where a user's profile refuses to ask, `warnings` say so.
    Task<ShownValues> read_values(std::string session, bool has_value, std::optional<Texts>* warnings,
                                  std::shared_ptr<ToolCall> call) {
        const std::string text = fmt::format("{}\nshow({}, {}, \"{}\")\n", execution_values_text,
                                             has_value ? "True" : "False", settings.max_output_size, values_type);
        protocol::ExecuteParams params;
        params.session_id = std::move(session);
        params.code = fmt::format("__import__('builtins').exec({}, {{}})", to_json(text)); // JSON's text is Python's
        params.silent = true;
        Streams streams;
        try {
            const protocol::ExecuteResult ended = co_await run_code(&sidecar, std::move(params), values_seconds, call);
            streams = co_await read_streams(&sidecar, std::move(call), ended.execution_id, settings.max_output_size);
        } catch (const protocol::RemoteError& error) {
            if (error.code != ErrorCode::denied) {
                throw;
            }
            *warnings = warnings->value_or(Texts{});
            (*warnings)->push_back("result and variables are not known: " + error.message);
        }
        for (const std::map<std::string, RawJson>& data : streams.data) {
            const auto found = data.find(values_type);
            if (found != data.end()) {
                co_return from_json<ShownValues>(found->second, "values");
            }
        }
        co_return ShownValues{};
    }

    // ---- validate_code

    Task<CallToolResult> validate_code(CheckedCode asked, std::shared_ptr<ToolCall> call) {
        const protocol::ValidateResult found = co_await check(asked.code, settings.modules(), std::move(call));
        const CodeValidation result = validation_of(asked.code, found);
        co_return json_result(to_raw_json(result));
    }

    // ---- get_sandbox_info, list_capabilities

    // Of a session like those of execute_code, which ends at once.
    Task<protocol::SessionInfo> inspect_session(std::shared_ptr<ToolCall> call) {
        protocol::SessionCreateParams params = session_params(std::nullopt);
        protocol::SessionInfo made = co_await sidecar.create_session(std::move(params), call);
        co_await sidecar.close_session(made.session_id, std::move(call));
        co_return made;
    }

    static std::string memory_limit_of(const protocol::SessionInfo& session) {
        const std::optional<std::uint64_t> bytes =
            session.limits ? session.limits->memory_bytes : std::optional<std::uint64_t>();
        return bytes ? fmt::format("{}m", *bytes >> 20) : "none";
    }

    Task<CallToolResult> get_sandbox_info(NoArguments, std::shared_ptr<ToolCall> call) {
        const protocol::SessionInfo session = co_await inspect_session(std::move(call));
        const Texts modules = settings.modules();
        Json imports;
        Json profiles;
        Json capabilities;
        Texts others = modules;
        for (const ModuleGroup& group : module_groups()) {
            Texts offered;
            std::copy_if(modules.begin(), modules.end(), std::back_inserter(offered),
                         [&](const std::string& each) { return group.has(each); });
            std::erase_if(others, [&](const std::string& each) { return group.has(each); });
            const std::string name(group.name);
            imports[name] = offered;
            profiles[group.variable.empty() ? "basic" : name] = {{"enabled", !offered.empty()},
                                                                 {"modules", group.modules}};
            if (!group.variable.empty()) {
                capabilities[name + "_enabled"] = !offered.empty();
            }
        }
        imports["custom"] = others;
        const Json info = {{"restricted_python", false},
                           {"timeout_seconds", usual_timeout(session)},
                           {"max_output_size", settings.max_output_size},
                           {"security_capabilities", capabilities},
                           {"allowed_imports", imports},
                           {"total_allowed_modules", modules.size()},
                           {"safe_builtins", words_of_list(usual_builtins)},
                           {"profiles", profiles},
                           {"resource_limits",
                            {{"timeout", usual_timeout(session)},
                             {"max_output_size", settings.max_output_size},
                             {"memory_limit", memory_limit_of(session)}}},
                           {"container_mode", {{"available", false}, {"enabled", false}}},
                           {"isolation", session.layers}};
        co_return json_result(RawJson::of(info));
    }

    Task<CallToolResult> list_capabilities(NoArguments, std::shared_ptr<ToolCall> call) {
        const protocol::SessionInfo session = co_await inspect_session(std::move(call));
        const Json capabilities = {{"sandbox_type", "cellgate"},
                                   {"restricted_python_available", false},
                                   {"container_runtime_available", false},
                                   {"container_mode_enabled", false},
                                   {"limits",
                                    {{"default_timeout", usual_timeout(session)},
                                     {"max_timeout", max_seconds_of(session)},
                                     {"default_memory_limit", memory_limit_of(session)},
                                     {"max_output_size", settings.max_output_size}}},
                                   {"safe_modules", settings.modules()},
                                   {"security_features", session.layers}};
        co_return json_result(RawJson::of(capabilities));
    }
};

constexpr std::string_view sandbox_code_input = R"({"type":"object","properties":{
"code":{"type":"string","description":"Python code to execute; at most 100,000 characters. The value of its last expression is the result, or else that of the variable `result` or `output`."},
"timeout":{"type":"number","exclusiveMinimum":0,"description":"Execution timeout in seconds. Time spent waiting for a user does not count. Default: 30; at most 300, unless the user set otherwise."},
"capture_output":{"type":"boolean","default":true,"description":"Return what the code prints."},
"allowed_imports":{"type":"array","items":{"type":"string"},"default":[],"description":"The only modules that the code may import, of those that get_sandbox_info lists. Empty: all of those."},
"use_container":{"type":"boolean","default":false,"description":"There is no container mode: the code runs in a sandbox anyway."},
"memory_limit":{"type":"string","description":"Memory limit, such as 256m or 1g."}},
"required":["code"],"additionalProperties":false})";

constexpr std::string_view checked_code_input = R"({"type":"object","properties":{
"code":{"type":"string","description":"Python code to validate."}},"required":["code"],"additionalProperties":false})";

} // namespace

std::vector<mcp::Tool> python_sandbox_tools(SidecarClient& sidecar, const PythonSandboxSettings& settings) {
    const auto tools = std::make_shared<PythonSandboxTools>(sidecar, settings);
    std::vector<mcp::Tool> all;
    all.push_back(mcp::typed_tool<SandboxCode>(
        tool_spec("execute_code", "Run code", Effect::runs,
                  "Execute Python code in a sandbox, with fresh variables in each call. Returns JSON: success, "
                  "execution_id, result, stdout, stderr, execution_time and variables; or success false and error.",
                  sandbox_code_input),
        [tools](SandboxCode asked, std::shared_ptr<ToolCall> call) {
            return tools->execute_code(std::move(asked), std::move(call));
        }));
    all.push_back(mcp::typed_tool<CheckedCode>(
        tool_spec(
            "validate_code", "Check code", Effect::reads,
            "Validate Python code without executing it: syntax, imports that are not allowed, dangerous patterns.",
            checked_code_input),
        [tools](CheckedCode asked, std::shared_ptr<ToolCall> call) {
            return tools->validate_code(std::move(asked), std::move(call));
        }));
    all.push_back(mcp::typed_tool<NoArguments>(
        tool_spec("get_sandbox_info", "Describe the sandbox", Effect::reads,
                  "Get the modules, limits and layers of isolation of the sandbox.", nothing_input),
        [tools](NoArguments none, std::shared_ptr<ToolCall> call) {
            return tools->get_sandbox_info(none, std::move(call));
        }));
    all.push_back(mcp::typed_tool<NoArguments>(
        tool_spec("list_capabilities", "List capabilities", Effect::reads,
                  "List the limits, modules and security features of the sandbox.", nothing_input),
        [tools](NoArguments none, std::shared_ptr<ToolCall> call) {
            return tools->list_capabilities(none, std::move(call));
        }));
    return all;
}

} // namespace cellgate::agent
