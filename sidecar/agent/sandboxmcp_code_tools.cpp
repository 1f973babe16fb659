// The tools of sandboxmcp about code: execute_code, validate_code, install_package, get_artifacts, audit_execution.

#include "base/escape_unprintable.hpp"
#include "base/json_codec.hpp"
#include "base/scope_exit.hpp"
#include "output_reader.hpp"
#include "protocol/not_checked.hpp"
#include "protocol/text_edits.hpp"
#include "run_code.hpp"
#include "sandboxmcp_tools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

namespace cellgate::agent {

namespace {

using mcp::ToolCall;
using protocol::ExecutionStatus;

constexpr std::size_t usual_output_bytes = std::size_t{1} << 20;
constexpr std::int64_t usual_entries = 100;
constexpr const char* python_name = "python";
constexpr std::string_view exit_status_name = "ExitStatus"; // of a command's error, by bash_kernel.py

// ---- Arguments and results ------------------------------------------------------------------------------------------

struct RequestedCode {
    static constexpr bool closed = true;
    std::string code;
    std::optional<std::string> language;
    std::optional<std::string> session_id;
    std::optional<std::string> name_space;
    std::optional<std::vector<std::string>> allowed_domains;
    std::optional<SandboxmcpLimits> resource_limits;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("code", self.code);
        visit("language", self.language);
        visit("session_id", self.session_id);
        visit("namespace", self.name_space);
        visit("allowed_domains", self.allowed_domains);
        visit("resource_limits", self.resource_limits);
    }
};

struct RequestResult {
    std::string request_id;
    std::optional<std::string> session_id; // where it goes on
    ExecutionStatus status = ExecutionStatus::ok;
    std::int64_t exit_code = 0;
    std::string out;
    std::string err;
    std::optional<std::string> result; // the value of the last expression, which a program would not print
    std::optional<std::string> error;
    double execution_time = 0; // seconds, without waiting for a user
    std::vector<SandboxmcpArtifact> artifacts;
    std::vector<std::string> warnings;   // what the sandbox refused
    std::optional<std::string> withheld; // why the output is not the agent's to see
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("request_id", self.request_id);
        visit("session_id", self.session_id);
        visit("status", self.status);
        visit("exit_code", self.exit_code);
        visit("stdout", self.out);
        visit("stderr", self.err);
        visit("result", self.result);
        visit("error", self.error);
        visit("execution_time", self.execution_time);
        visit("artifacts", self.artifacts);
        visit("warnings", self.warnings);
        visit("withheld", self.withheld);
    }
};

struct CodeToValidate {
    static constexpr bool closed = true;
    std::string code;
    std::optional<std::string> language;
    std::optional<bool> auto_fix;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("code", self.code);
        visit("language", self.language);
        visit("auto_fix", self.auto_fix);
    }
};

struct ValidatedCode {
    bool valid = true;
    std::vector<std::string> errors;
    std::vector<std::string> warnings;
    std::optional<std::string> fixed_code; // with what mends the findings
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("valid", self.valid);
        visit("errors", self.errors);
        visit("warnings", self.warnings);
        visit("fixed_code", self.fixed_code);
    }
};

struct PackageRequest {
    static constexpr bool closed = true;
    std::string package;
    std::optional<std::string> language;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("package", self.package);
        visit("language", self.language);
    }
};

struct InstalledPackages {
    bool success = true;
    std::vector<protocol::InstalledPackage> installed;
    std::optional<std::string> error;
    std::string output; // of the package manager
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("success", self.success);
        visit("installed", self.installed);
        visit("error", self.error);
        visit("output", self.output);
    }
};

struct ArtifactRequest {
    static constexpr bool closed = true;
    std::string request_id;
    std::optional<bool> include_content;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("request_id", self.request_id);
        visit("include_content", self.include_content);
    }
};

struct ArtifactList {
    std::string request_id;
    std::vector<SandboxmcpArtifact> artifacts;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("request_id", self.request_id);
        visit("artifacts", self.artifacts);
    }
};

struct AuditRequest {
    static constexpr bool closed = true;
    std::optional<std::string> request_id;
    std::optional<std::string> name_space;
    std::optional<std::int64_t> limit;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("request_id", self.request_id);
        visit("namespace", self.name_space);
        visit("limit", self.limit);
    }
};

struct AuditEntries {
    std::vector<protocol::RecordEntry> entries; // newest first
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("entries", self.entries);
    }
};

// As shells have them, of what was ended from outside.
std::int64_t exit_code_of(const protocol::ExecuteResult& ended) {
    switch (ended.status) {
    case ExecutionStatus::ok:
        return 0;
    case ExecutionStatus::error:
        break;
    case ExecutionStatus::timeout:
        return 124;
    case ExecutionStatus::cancelled:
        return 130;
    case ExecutionStatus::killed:
    case ExecutionStatus::oom:
        return 137;
    }
    constexpr std::string_view of_bash = "exit status ";
    const std::string value = ended.error ? ended.error->evalue : std::string();
    if (ended.error && ended.error->ename == "SystemExit") { // sys.exit(4); without a number it is 0, with a text 1
        const bool is_number = value.find_first_not_of("0123456789") == std::string::npos;
        return value == "None" ? 0 : is_number ? std::atoi(value.c_str()) & 255 : 1;
    }
    return value.starts_with(of_bash) ? std::atoi(value.c_str() + of_bash.size()) : 1;
}

std::vector<SandboxmcpArtifact> without_content(std::vector<SandboxmcpArtifact> artifacts) {
    for (SandboxmcpArtifact& artifact : artifacts) {
        artifact.content.reset();
    }
    return artifacts;
}

// ---- The tools ------------------------------------------------------------------------------------------------------

struct SandboxmcpCodeTools {
    std::shared_ptr<SandboxmcpAgent> agent;

    Task<RawJson> execute_code(RequestedCode asked, std::shared_ptr<ToolCall> call) {
        co_await take_turn();
        const ScopeExit left([this] {
            --agent->running;
            agent->changed.notify();
        });
        const SandboxmcpLimits limits = asked.resource_limits.value_or(SandboxmcpLimits{});
        if (asked.session_id) {
            require_no_session_limits(limits);
            std::string session = *asked.session_id;
            require_language_of(session, asked.language);
            co_return co_await run_in(std::move(session), std::move(asked), std::move(call));
        }
        std::string language = asked.language.value_or(python_name);
        const protocol::SessionInfo made = co_await agent->create_session(std::move(language), limits, call);
        Task<void> close = agent->sidecar.close_session(made.session_id, call);
        Task<RawJson> ran = run_in(made.session_id, std::move(asked), std::move(call));
        co_return co_await finally(std::move(ran), std::move(close));
    }

    // Ends when fewer executions run than may.
    Task<void> take_turn() {
        ++agent->waiting;
        const ScopeExit left([this] { --agent->waiting; });
        const auto is_free = [this] { return agent->running < agent->settings.max_concurrent; };
        while (!is_free()) {
            co_await agent->changed.until(is_free);
        }
        ++agent->running;
    }

    void require_language_of(const std::string& session, const std::optional<std::string>& language) const {
        const auto known = agent->languages.find(session);
        if (language && known != agent->languages.end() && *language != known->second) {
            throw Error(ErrorCode::invalid_params, fmt::format("language: the session is one of {}, found {}",
                                                               known->second, escape_unprintable(*language)));
        }
    }

    static void require_no_session_limits(const SandboxmcpLimits& limits) {
        if (limits.max_ram_mb || limits.max_cpu_cores || limits.max_processes) {
            throw Error(ErrorCode::invalid_params,
                        "resource_limits: with session_id, only timeout_seconds and max_output_bytes can be given",
                        "set_resource_limits lowers those of a session");
        }
    }

    Task<RawJson> run_in(std::string session, RequestedCode asked, std::shared_ptr<ToolCall> call) {
        co_await connect_first(session, &asked, call);
        const SandboxmcpLimits limits = asked.resource_limits.value_or(SandboxmcpLimits{});
        protocol::ExecuteParams params;
        params.session_id = session;
        params.code = std::move(asked.code);
        params.timeout_seconds = limits.timeout_seconds;
        const protocol::ExecuteResult ended =
            co_await run_code(&agent->sidecar, std::move(params), agent->settings.timeout_seconds, call);
        const auto bytes = static_cast<std::size_t>(
            std::max<std::int64_t>(1, limits.max_output_bytes.value_or(std::int64_t{usual_output_bytes})));
        Streams streams =
            co_await read_streams(&agent->sidecar, call, ended.execution_id, std::min(bytes, usual_output_bytes));
        SandboxmcpRun run;
        run.request_id = ended.execution_id;
        run.session_id = session;
        run.name_space = asked.name_space.value_or("default");
        run.artifacts = artifacts_of(streams);
        std::vector<SandboxmcpArtifact> files = co_await changed_files(&agent->sidecar, ended.execution_id, call);
        std::move(files.begin(), files.end(), std::back_inserter(run.artifacts));
        run.entries = co_await record_of(&agent->sidecar, ended.execution_id, call);
        RequestResult result = result_of_request(ended, std::move(streams));
        result.artifacts = without_content(run.artifacts);
        result.session_id = std::move(asked.session_id);
        agent->runs.add(std::move(run));
        co_return to_raw_json(result);
    }

    // Asks the user about the domains that the code will need, before it runs.
    Task<void> connect_first(std::string session, const RequestedCode* asked, std::shared_ptr<ToolCall> call) {
        for (const std::string& domain : asked->allowed_domains.value_or(std::vector<std::string>{})) {
            const auto known = agent->languages.find(session);
            const std::string language =
                known == agent->languages.end() ? asked->language.value_or(python_name) : known->second;
            if (language != python_name) {
                throw Error(
                    ErrorCode::unsupported,
                    fmt::format("allowed_domains: hosts are asked about in advance for python, not for {}", language),
                    "leave it out: each host is asked about when the code connects to it");
            }
            const ReachedHost reached =
                co_await agent->connect(session, "execute_code, in allowed_domains", domain, call);
            if (reached.problem) {
                throw Error(ErrorCode::denied, fmt::format("allowed_domains: {}: {}", domain, *reached.problem),
                            reached.approved
                                ? "it is allowed, and was not reached; leave it out to run the code anyway"
                                : "your user decides about hosts, in the editor or by `cellgate policy add`");
            }
        }
    }

    static RequestResult result_of_request(const protocol::ExecuteResult& ended, Streams streams) {
        RequestResult result;
        result.request_id = ended.execution_id;
        result.status = ended.status;
        result.exit_code = exit_code_of(ended);
        result.out = std::move(streams.out);
        result.err = std::move(streams.err);
        if (ended.error && ended.error->ename != exit_status_name) { // which no shell prints
            result.err += streams.traceback;
        }
        result.result = std::move(streams.value);
        if (ended.error) {
            result.error = plain_text(fmt::format("{}: {}", ended.error->ename, ended.error->evalue));
        } else if (ended.status != ExecutionStatus::ok) {
            result.error = ended.reason.value_or("the code was stopped");
        }
        const bool went_on = ended.status == ExecutionStatus::ok || ended.status == ExecutionStatus::error;
        if (ended.reason && went_on) { // up to where it ended its kernel
            result.warnings.push_back(*ended.reason);
        }
        result.execution_time = ended.duration_seconds - ended.waited_seconds;
        for (const protocol::Note& note : ended.notes.value_or(std::vector<protocol::Note>{})) {
            result.warnings.push_back(fmt::format("{}; {}", note.text, advice_of(note)));
        }
        if (!streams.withheld.empty()) {
            result.withheld = std::move(streams.withheld);
        }
        return result;
    }

    Task<RawJson> validate_code(CodeToValidate asked, std::shared_ptr<ToolCall> call) {
        protocol::ValidateParams params;
        params.code = asked.code;
        params.language = kernel_language(asked.language.value_or(python_name));
        const protocol::ValidateResult found =
            co_await agent->sidecar.call<protocol::Validate>(std::move(params), std::move(call));
        if (const std::optional<protocol::Diagnostic> unread = protocol::not_checked(found)) {
            throw Error(ErrorCode::unsupported, unread->message);
        }
        ValidatedCode result;
        for (const protocol::Diagnostic& each : found.diagnostics) {
            std::vector<std::string>& lines =
                each.severity == protocol::Severity::error ? result.errors : result.warnings;
            lines.push_back(fmt::format("line {}: {} ({})", each.line + 1, each.message, each.rule));
        }
        result.valid = result.errors.empty();
        if (asked.auto_fix.value_or(true) && protocol::apply_edits(asked.code, found.diagnostics)) {
            result.fixed_code = std::move(asked.code);
        }
        co_return to_raw_json(result);
    }

    Task<RawJson> install_package(PackageRequest asked, std::shared_ptr<ToolCall> call) {
        const std::string language = kernel_language(asked.language.value_or(python_name));
        protocol::PackagesInstallParams params;
        if (language == "python") {
            params.session_id = co_await agent->sidecar.own_session(std::nullopt, call);
            params.packages.push_back(std::move(asked.package));
        } else if (language == "javascript") {
            params.packages.push_back("npm:" + asked.package);
        } else {
            throw Error(ErrorCode::unsupported, "language: packages are installed for python and node");
        }
        SidecarClient::OnLine on_line = [call](const std::string& line) { call->report(plain_text(line)); };
        protocol::PackagesInstallResult made =
            co_await agent->sidecar.install(std::move(params), call, std::move(on_line));
        InstalledPackages result;
        result.success = made.status != protocol::InstallStatus::failed;
        result.installed = std::move(made.installed);
        result.error = std::move(made.reason);
        result.output = std::move(made.output);
        co_return to_raw_json(result);
    }

    Task<RawJson> get_artifacts(ArtifactRequest asked, std::shared_ptr<ToolCall>) {
        ArtifactList result;
        const SandboxmcpRun& run = agent->runs.find(asked.request_id);
        result.request_id = run.request_id;
        result.artifacts = asked.include_content.value_or(false) ? run.artifacts : without_content(run.artifacts);
        co_return to_raw_json(result);
    }

    Task<RawJson> audit_execution(AuditRequest asked, std::shared_ptr<ToolCall>) {
        if (asked.request_id) {
            agent->runs.find(*asked.request_id); // throws for one that is not there
        }
        const auto limit = static_cast<std::size_t>(std::max<std::int64_t>(0, asked.limit.value_or(usual_entries)));
        AuditEntries result;
        for (const SandboxmcpRun& run : agent->runs.all()) {
            if ((asked.request_id && run.request_id != *asked.request_id) ||
                (asked.name_space && run.name_space != *asked.name_space)) {
                continue;
            }
            std::copy(run.entries.begin(), run.entries.end(), std::back_inserter(result.entries));
        }
        result.entries.resize(std::min(limit, result.entries.size()));
        co_return to_raw_json(result);
    }
};

constexpr std::string_view requested_code_input = R"({"type":"object","properties":{
"code":{"type":"string"},
"language":{"enum":["python","node","shell"],"default":"python"},
"session_id":{"type":"string","description":"Of create_session: variables stay. Without, the code has fresh ones."},
"namespace":{"type":"string","default":"default","description":"A name by which audit_execution finds it."},
"allowed_domains":{"type":"array","items":{"type":"string"},"description":"Of python: hosts that your user is asked about before the code runs. Any host is asked about when code connects to it."},
"resource_limits":{"type":"object","properties":{
"timeout_seconds":{"type":"number","exclusiveMinimum":0,"description":"Default 60; at most 300, unless the user set otherwise."},
"max_output_bytes":{"type":"integer","minimum":1,"maximum":1048576},
"max_ram_mb":{"type":"number","exclusiveMinimum":0},"max_cpu_cores":{"type":"number","exclusiveMinimum":0},
"max_processes":{"type":"integer","minimum":1}},"additionalProperties":false}},
"required":["code"],"additionalProperties":false})";

constexpr std::string_view code_to_validate_input = R"({"type":"object","properties":{
"code":{"type":"string"},"language":{"enum":["python","node","shell"],"default":"python"},
"auto_fix":{"type":"boolean","default":true,"description":"Return fixed_code, where something can be mended."}},
"required":["code"],"additionalProperties":false})";

constexpr std::string_view package_request_input = R"({"type":"object","properties":{
"package":{"type":"string","description":"As pip or npm names it, with a version if need be."},
"language":{"enum":["python","node"],"default":"python"}},"required":["package"],"additionalProperties":false})";

constexpr std::string_view artifact_request_input = R"({"type":"object","properties":{
"request_id":{"type":"string","description":"Of the result of execute_code."},
"include_content":{"type":"boolean","default":false,"description":"Return the content of what was displayed; binary data in base64."}},
"required":["request_id"],"additionalProperties":false})";

constexpr std::string_view audit_request_input = R"({"type":"object","properties":{
"request_id":{"type":"string","description":"Default: all of yours."},"namespace":{"type":"string"},
"limit":{"type":"integer","minimum":1,"default":100}},"additionalProperties":false})";

} // namespace

std::vector<mcp::Tool> sandboxmcp_code_tools(std::shared_ptr<SandboxmcpAgent> agent) {
    using Tools = SandboxmcpCodeTools;
    const auto tools = std::make_shared<Tools>(std::move(agent));
    return {
        sandboxmcp_tool(tools, "execute_code", "Run code", Effect::runs,
                        "Runs code in a sandbox: Python, Node.js or shell.", requested_code_input,
                        &Tools::execute_code),
        sandboxmcp_tool(tools, "install_package", "Install a package", Effect::fetches,
                        "Installs a package of pip or npm for your kernels. Your user is asked first.",
                        package_request_input, &Tools::install_package),
        sandboxmcp_tool(tools, "validate_code", "Check code", Effect::reads,
                        "Looks at code without running it: syntax, imports, dangerous patterns.",
                        code_to_validate_input, &Tools::validate_code),
        sandboxmcp_tool(
            tools, "get_artifacts", "List artifacts", Effect::reads,
            "What an execution displayed, and the files of the workspace that changed meanwhile, with their "
            "SHA-256.",
            artifact_request_input, &Tools::get_artifacts),
        sandboxmcp_tool(tools, "audit_execution", "Read the record", Effect::reads,
                        "The record of your executions: what they did, and who allowed it.", audit_request_input,
                        &Tools::audit_execution),
    };
}

} // namespace cellgate::agent
