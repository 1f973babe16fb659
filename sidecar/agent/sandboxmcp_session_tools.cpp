// The tools of sandboxmcp about sessions: create_session, terminate_session, bridge_data, list_runtimes,
// set_resource_limits, sandbox_stats, inspect_state, request_egress.

#include "base/enum_name.hpp"
#include "base/json_codec.hpp"
#include "sandboxmcp_tools.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cellgate::agent {

namespace {

using mcp::ToolCall;

constexpr const char* masked = "***";

// ---- Arguments and results ------------------------------------------------------------------------------------------

struct NewSession {
    static constexpr bool closed = true;
    std::optional<std::string> language;
    std::optional<SandboxmcpLimits> resource_limits;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("language", self.language);
        visit("resource_limits", self.resource_limits);
    }
};

struct OneSession {
    static constexpr bool closed = true;
    std::string session_id;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("session_id", self.session_id);
    }
};

struct SessionOrOwn {
    static constexpr bool closed = true;
    std::optional<std::string> session_id;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("session_id", self.session_id);
    }
};

struct BridgedData {
    static constexpr bool closed = true;
    std::string name;
    std::string to_session;
    std::optional<std::string> from_session;
    std::optional<RawJson> data;
    std::optional<std::string> as;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("name", self.name);
        visit("to_session", self.to_session);
        visit("from_session", self.from_session);
        visit("data", self.data);
        visit("as", self.as);
    }
};

struct LoweredLimits {
    static constexpr bool closed = true;
    std::string session_id;
    std::optional<double> max_ram_mb;
    std::optional<double> max_cpu_cores;
    std::optional<double> timeout_seconds;
    std::optional<std::int64_t> max_processes;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("session_id", self.session_id);
        visit("max_ram_mb", self.max_ram_mb);
        visit("max_cpu_cores", self.max_cpu_cores);
        visit("timeout_seconds", self.timeout_seconds);
        visit("max_processes", self.max_processes);
    }
};

struct RequestedDomain {
    static constexpr bool closed = true;
    std::string domain;
    std::optional<std::string> session_id;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("domain", self.domain);
        visit("session_id", self.session_id);
    }
};

Json session_json(const protocol::SessionInfo& session) {
    return {{"session_id", session.session_id},
            {"language", sandboxmcp_language(session.kernel.language)},
            {"status", enum_name(session.status)},
            {"executions", session.execution_count},
            {"queued", session.queue_length}};
}

// As the parameters of set_resource_limits name them.
SandboxmcpLimits limits_named(const protocol::Limits& limits) {
    constexpr double bytes_of_mb = 1 << 20;
    SandboxmcpLimits named;
    if (limits.memory_bytes) {
        named.max_ram_mb = static_cast<double>(*limits.memory_bytes) / bytes_of_mb;
    }
    named.max_cpu_cores = limits.cpu_cores;
    named.timeout_seconds = limits.wall_seconds;
    named.max_processes = limits.process_count;
    return named;
}

std::string limit_name(protocol::LimitName name) {
    switch (name) {
    case protocol::LimitName::memory_bytes:
        return "max_ram_mb";
    case protocol::LimitName::cpu_cores:
        return "max_cpu_cores";
    case protocol::LimitName::process_count:
        return "max_processes";
    default: // none that set_resource_limits sets
        return std::string(enum_name(name));
    }
}

// Names of variables with their types, and names of the environment's: values are shown by code only.
constexpr std::string_view state_code = R"(
import json, os
from IPython import get_ipython
shell = get_ipython()
names = [name for name in shell.user_ns if name not in shell.user_ns_hidden and not name.startswith("_")]
print(json.dumps({"variables": {name: type(shell.user_ns[name]).__name__ for name in names}, "environment": sorted(os.environ)}))
)";

struct KernelState {
    std::map<std::string, std::string> variables; // their types, by name
    std::vector<std::string> environment;         // names
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("variables", self.variables);
        visit("environment", self.environment);
    }
};

// ---- The tools ------------------------------------------------------------------------------------------------------

struct SandboxmcpSessionTools {
    std::shared_ptr<SandboxmcpAgent> agent;

    Task<RawJson> create_session(NewSession asked, std::shared_ptr<ToolCall> call) {
        const SandboxmcpLimits limits = asked.resource_limits.value_or(SandboxmcpLimits{});
        std::string language = asked.language.value_or("python");
        const protocol::SessionInfo made = co_await agent->create_session(language, limits, std::move(call));
        agent->languages[made.session_id] = std::move(language);
        co_return RawJson::of(session_json(made));
    }

    Task<RawJson> terminate_session(OneSession asked, std::shared_ptr<ToolCall> call) {
        co_await agent->sidecar.close_session(asked.session_id, std::move(call));
        agent->languages.erase(asked.session_id);
        co_return RawJson::of({{"session_id", asked.session_id}, {"terminated", true}});
    }

    Task<RawJson> bridge_data(BridgedData asked, std::shared_ptr<ToolCall> call) {
        if (asked.from_session.has_value() == asked.data.has_value()) {
            throw Error(ErrorCode::invalid_params, "expected either from_session or data");
        }
        protocol::SessionTransferParams params;
        params.name = asked.name;
        params.to = asked.to_session;
        params.as = asked.as;
        if (asked.from_session) {
            params.from = std::move(*asked.from_session);
        } else {
            params.from = co_await keep_data(asked.name, *asked.data, call);
        }
        const protocol::SessionTransferResult copied =
            co_await agent->sidecar.call<protocol::SessionTransfer>(std::move(params), std::move(call));
        co_return RawJson::of({{"to_session", asked.to_session},
                               {"name", asked.as.value_or(asked.name)},
                               {"type", copied.type},
                               {"bytes", copied.bytes}});
    }

    // As a variable of the agent's own Python session, from which it can be copied; the session's id.
    Task<std::string> keep_data(std::string name, RawJson data, std::shared_ptr<ToolCall> call) {
        std::string session = co_await agent->sidecar.own_session(std::nullopt, call);
        std::string code = fmt::format("import json\nfrom IPython import get_ipython\n"
                                       "get_ipython().user_ns[{}] = json.loads({})\nprint('null')\n",
                                       python_literal(name), python_literal(data.text()));
        co_await agent->ask_python(session, "bridge_data", std::move(code), std::move(call));
        co_return session;
    }

    Task<RawJson> list_runtimes(NoArguments, std::shared_ptr<ToolCall> call) {
        Empty nothing;
        const protocol::RuntimesResult known =
            co_await agent->sidecar.call<protocol::Runtimes>(nothing, std::move(call));
        Json runtimes = Json::array();
        for (const char* language : {"python", "node", "shell"}) {
            runtimes.push_back(runtime_of(language, known.runtimes));
        }
        Json backends = Json::array();
        for (const protocol::LauncherInfo& each : known.launchers) {
            Json backend = {{"name", enum_name(each.name)}, {"available", !each.problem}};
            if (each.problem) {
                backend["problem"] = *each.problem;
            }
            backends.push_back(std::move(backend));
        }
        co_return RawJson::of({{"runtimes", runtimes}, {"backends", backends}});
    }

    static Json runtime_of(const std::string& language, const std::vector<protocol::Runtime>& known) {
        const protocol::Runtime* found = nullptr;
        for (const protocol::Runtime& each : known) { // TypeScript's runs JavaScript, too
            if (sandboxmcp_language(each.language) == language && (!found || found->problem)) {
                found = &each;
            }
        }
        Json runtime = {{"language", language}, {"available", found && !found->problem}};
        if (!found) {
            runtime["problem"] = language == "node" ? "needs deno: npm install deno" : "there is no kernel for it";
            return runtime;
        }
        runtime["kernel"] = found->kernel;
        if (found->problem) {
            runtime["problem"] = *found->problem;
        }
        if (found->version) {
            runtime["version"] = language == "node" ? found->language + " " + *found->version : *found->version;
        }
        return runtime;
    }

    Task<RawJson> set_resource_limits(LoweredLimits asked, std::shared_ptr<ToolCall> call) {
        protocol::LimitsSetParams params;
        params.session_id = asked.session_id;
        params.limits =
            session_limits_of({asked.max_ram_mb, asked.max_cpu_cores, std::nullopt, asked.max_processes, std::nullopt});
        params.limits.wall_seconds = asked.timeout_seconds;
        protocol::LimitsSetResult set;
        try {
            set = co_await agent->sidecar.call<protocol::LimitsSet>(std::move(params), std::move(call));
        } catch (const protocol::RemoteError& error) {
            if (error.code != ErrorCode::limit_exceeded) {
                throw;
            }
            throw Error(error.code, error.message,
                        fmt::format("a limit can only be lowered here; your user can raise it: cellgate limits {}",
                                    asked.session_id));
        }
        Json after_restart = Json::array();
        for (const protocol::LimitName name : set.after_restart) {
            after_restart.push_back(limit_name(name));
        }
        co_return RawJson::of({{"session_id", asked.session_id},
                               {"limits", to_raw_json(limits_named(set.limits)).value()},
                               {"after_restart", after_restart}});
    }

    // Of this agent alone: the others' are their users'.
    Task<std::vector<protocol::SessionInfo>> own_sessions(std::shared_ptr<ToolCall> call) {
        Empty nothing;
        protocol::SessionListResult list =
            co_await agent->sidecar.call<protocol::SessionList>(nothing, std::move(call));
        std::erase_if(list.sessions,
                      [this](const protocol::SessionInfo& each) { return !agent->sidecar.owns(each.session_id); });
        co_return std::move(list.sessions);
    }

    Task<RawJson> sandbox_stats(NoArguments, std::shared_ptr<ToolCall> call) {
        const std::vector<protocol::SessionInfo> sessions = co_await own_sessions(std::move(call));
        std::int64_t queued = 0;
        Json listed = Json::array();
        for (const protocol::SessionInfo& each : sessions) {
            queued += each.queue_length;
            listed.push_back(session_json(each));
        }
        co_return RawJson::of({{"sessions", listed},
                               {"executions",
                                {{"running", agent->running},
                                 {"waiting", static_cast<std::int64_t>(agent->waiting) + queued},
                                 {"finished", agent->runs.count()}}},
                               {"max_concurrent", agent->settings.max_concurrent}});
    }

    Task<RawJson> inspect_state(SessionOrOwn asked, std::shared_ptr<ToolCall> call) {
        std::string session;
        if (asked.session_id) {
            session = std::move(*asked.session_id);
        } else {
            session = co_await agent->sidecar.own_session(std::nullopt, call);
        }
        const std::vector<protocol::SessionInfo> sessions = co_await own_sessions(call);
        const auto found = std::find_if(sessions.begin(), sessions.end(),
                                        [&](const protocol::SessionInfo& each) { return each.session_id == session; });
        if (found == sessions.end()) {
            throw Error(ErrorCode::session_not_found, fmt::format("\"{}\" is no session of this agent", session),
                        "sandbox_stats lists them");
        }
        Json state = session_json(*found);
        state["layers"] = found->layers;
        if (found->kernel.language == "python") {
            std::string code(state_code);
            const RawJson answer =
                co_await agent->ask_python(session, "inspect_state", std::move(code), std::move(call));
            const auto known = from_json<KernelState>(answer, "state");
            state["variables"] = known.variables;
            state["environment"] = Json::object();
            for (const std::string& name : known.environment) {
                state["environment"][name] = masked;
            }
        }
        co_return RawJson::of(state);
    }

    Task<RawJson> request_egress(RequestedDomain asked, std::shared_ptr<ToolCall> call) {
        std::string session;
        if (asked.session_id) {
            session = std::move(*asked.session_id);
        } else {
            session = co_await agent->sidecar.own_session(std::nullopt, call);
        }
        const ReachedHost reached =
            co_await agent->connect(std::move(session), "request_egress", asked.domain, std::move(call));
        Json result = {{"domain", asked.domain}, {"approved", reached.approved}, {"reachable", !reached.problem}};
        if (reached.problem) {
            result["reason"] = *reached.problem;
        }
        if (!reached.approved) {
            result["hint"] =
                fmt::format("your user decides, in the editor or by: cellgate policy add 'allow network {}{}'",
                            asked.domain, asked.domain.find(':') == std::string::npos ? ":443" : "");
        } else if (!reached.problem) {
            result["note"] = "it was reached now; whether it is asked about again is as your user answered";
        }
        co_return RawJson::of(result);
    }
};

constexpr std::string_view new_session_input = R"({"type":"object","properties":{
"language":{"enum":["python","node","shell"],"default":"python"},
"resource_limits":{"type":"object","properties":{
"timeout_seconds":{"type":"number","exclusiveMinimum":0,"description":"Of each execution."},
"max_ram_mb":{"type":"number","exclusiveMinimum":0},"max_cpu_cores":{"type":"number","exclusiveMinimum":0},
"max_processes":{"type":"integer","minimum":1}},"additionalProperties":false}},"additionalProperties":false})";

constexpr std::string_view one_session_input = R"({"type":"object","properties":{
"session_id":{"type":"string"}},"required":["session_id"],"additionalProperties":false})";

constexpr std::string_view session_or_own_input = R"({"type":"object","properties":{
"session_id":{"type":"string","description":"Default: the Python session that bridge_data and request_egress use."}},"additionalProperties":false})";

constexpr std::string_view bridged_data_input = R"({"type":"object","properties":{
"name":{"type":"string","description":"Of the variable."},"to_session":{"type":"string"},
"from_session":{"type":"string","description":"Whose variable is copied."},
"data":{"description":"Or any JSON value, in place of from_session."},
"as":{"type":"string","description":"What it is called there. Default: the same."}},
"required":["name","to_session"],"additionalProperties":false})";

constexpr std::string_view lowered_limits_input = R"({"type":"object","properties":{
"session_id":{"type":"string"},"max_ram_mb":{"type":"number","exclusiveMinimum":0},
"max_cpu_cores":{"type":"number","exclusiveMinimum":0},"max_processes":{"type":"integer","minimum":1},
"timeout_seconds":{"type":"number","exclusiveMinimum":0,"description":"Of each execution."}},
"required":["session_id"],"additionalProperties":false})";

constexpr std::string_view requested_domain_input = R"({"type":"object","properties":{
"domain":{"type":"string","description":"Port 443 of it is asked about."},
"session_id":{"type":"string","description":"A Python session that will use it. Default: one of your own."}},
"required":["domain"],"additionalProperties":false})";

} // namespace

std::vector<mcp::Tool> sandboxmcp_session_tools(std::shared_ptr<SandboxmcpAgent> agent) {
    using Tools = SandboxmcpSessionTools;
    const auto tools = std::make_shared<Tools>(std::move(agent));
    return {
        sandboxmcp_tool(tools, "create_session", "Start a session", Effect::adds,
                        "Starts a session, whose variables stay.", new_session_input, &Tools::create_session),
        sandboxmcp_tool(tools, "terminate_session", "End a session", Effect::removes,
                        "Ends a session of yours, with all that it holds.", one_session_input,
                        &Tools::terminate_session),
        sandboxmcp_tool(tools, "bridge_data", "Copy data to a session", Effect::replaces,
                        "Copies a variable, or JSON, into a session of any language.", bridged_data_input,
                        &Tools::bridge_data),
        sandboxmcp_tool(tools, "list_runtimes", "List languages", Effect::reads,
                        "Lists the languages and the sandboxes that there are.", nothing_input, &Tools::list_runtimes),
        sandboxmcp_tool(tools, "set_resource_limits", "Lower limits", Effect::sets,
                        "Lowers limits of a session of yours.", lowered_limits_input, &Tools::set_resource_limits),
        sandboxmcp_tool(tools, "sandbox_stats", "Count executions", Effect::reads,
                        "Your sessions, and how many of your executions run, wait and ended.", nothing_input,
                        &Tools::sandbox_stats),
        sandboxmcp_tool(tools, "inspect_state", "Look at a session", Effect::reads,
                        "A session of yours; of Python also the names and types of its variables, and the names in its "
                        "environment.",
                        session_or_own_input, &Tools::inspect_state),
        sandboxmcp_tool(tools, "request_egress", "Ask for a host", Effect::fetches,
                        "Asks your user for a host, by connecting to it.", requested_domain_input,
                        &Tools::request_egress),
    };
}

} // namespace cellgate::agent
