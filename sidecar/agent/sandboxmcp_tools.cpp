// What the tools of sandboxmcp share.

#include "sandboxmcp_tools.hpp"

#include "base/escape_unprintable.hpp"
#include "run_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace cellgate::agent {

namespace {

// As sandboxmcp and as kernelspecs name them.
constexpr std::pair<std::string_view, std::string_view> sandboxmcp_languages[] = {
    {"python", "python"}, {"node", "javascript"}, {"shell", "bash"}};

constexpr std::size_t max_answer_characters = std::size_t{1} << 20;
constexpr double own_code_seconds = 30;

// A connection of http.client through the proxy of the sandbox, with TLS: what the proxy is asked before it knows the
// protocol is no answer of a user yet. The proxy answers 502 where the connection was allowed and failed.
constexpr std::string_view connect_code = R"(
def connect(domain):
    import http.client, json, os, re, ssl, urllib.parse
    host, port = re.fullmatch(r"(.*?)(?::(\d{1,5}))?", domain, re.DOTALL).groups()
    proxy = urllib.parse.urlsplit(os.environ["HTTPS_PROXY"])
    connection = http.client.HTTPSConnection(proxy.hostname, proxy.port)
    connection.set_tunnel(host, int(port or 443))
    result = {"approved": True}
    try:
        connection.connect()
    except ssl.SSLCertVerificationError:
        pass
    except ssl.SSLError as error:  # it is there, and speaks without TLS
        if error.reason != "WRONG_VERSION_NUMBER":
            result["problem"] = "%s: %s" % (type(error).__name__, error)
    except Exception as error:
        result = {"problem": "%s: %s" % (type(error).__name__, error), "approved": " failed: 502 " in str(error)}
    finally:
        connection.close()
    print(json.dumps(result))
)";

} // namespace

std::string kernel_language(const std::string& language) {
    for (const auto& [name, kernel] : sandboxmcp_languages) {
        if (name == language) {
            return std::string(kernel);
        }
    }
    throw Error(ErrorCode::invalid_params,
                fmt::format("language: expected python, node or shell, found \"{}\"", language));
}

std::string sandboxmcp_language(const std::string& kernel_language) {
    for (const auto& [name, kernel] : sandboxmcp_languages) {
        if (kernel == kernel_language || (name == "node" && kernel_language == "typescript")) {
            return std::string(name);
        }
    }
    return kernel_language;
}

std::string python_literal(const std::string& text) {
    return to_json(text); // a string of JSON is one of Python
}

protocol::Limits session_limits_of(const SandboxmcpLimits& limits) {
    protocol::Limits named;
    if (limits.max_ram_mb) {
        constexpr double max_mb = 1e12;
        named.memory_bytes = static_cast<std::uint64_t>(std::clamp(*limits.max_ram_mb, 0.0, max_mb)) << 20;
    }
    named.cpu_cores = limits.max_cpu_cores;
    named.process_count = limits.max_processes;
    return named;
}

Task<protocol::SessionInfo> SandboxmcpAgent::create_session(std::string language, const SandboxmcpLimits& limits,
                                                            std::shared_ptr<mcp::ToolCall> call) {
    protocol::SessionCreateParams params;
    params.language = kernel_language(language);
    params.limits = session_limits_of(limits);
    if (!params.limits->memory_bytes) {
        params.limits->memory_bytes = settings.memory_bytes;
    }
    params.limits->wall_seconds = limits.timeout_seconds;
    return sidecar.create_session(std::move(params), std::move(call));
}

Task<RawJson> SandboxmcpAgent::ask_python(std::string session, std::string about, std::string code,
                                          std::shared_ptr<mcp::ToolCall> call) {
    protocol::ExecuteParams params;
    params.session_id = std::move(session);
    // The record lists the first line. A user is shown the innermost line of the cell: the one in the lambda.
    params.code =
        fmt::format("# {0}\n(lambda run:\nrun()  # {0}\n)(__import__('functools').partial(__import__('builtins').exec, "
                    "{1}, {{}}))",
                    escape_unprintable(about), python_literal(code));
    params.silent = true;
    const protocol::ExecuteResult ended = co_await run_code(&sidecar, std::move(params), own_code_seconds, call);
    const Streams streams = co_await read_streams(&sidecar, std::move(call), ended.execution_id, max_answer_characters);
    if (ended.status != protocol::ExecutionStatus::ok || !streams.withheld.empty()) {
        const std::string error =
            ended.error ? plain_text(ended.error->evalue) : ended.reason.value_or("it was stopped");
        throw Error(ErrorCode::unsupported,
                    fmt::format("the kernel did not answer: {}", streams.withheld.empty() ? error : streams.withheld));
    }
    co_return RawJson::parse(streams.out.substr(0, streams.out.find_last_not_of('\n') + 1));
}

Task<ReachedHost> SandboxmcpAgent::connect(std::string session, std::string asker, std::string domain,
                                           std::shared_ptr<mcp::ToolCall> call) {
    std::string about = fmt::format("asked for by {}: {}", asker, domain);
    std::string code = fmt::format("{}connect({})\n", connect_code, python_literal(domain));
    const RawJson answer = co_await ask_python(std::move(session), std::move(about), std::move(code), std::move(call));
    co_return from_json<ReachedHost>(answer, "connect");
}

Task<protocol::CallToolResult> json_answer(Task<RawJson> answer) {
    const RawJson value = co_await std::move(answer);
    co_return json_result(value);
}

std::vector<mcp::Tool> sandboxmcp_tools(SidecarClient& sidecar, const SandboxmcpSettings& settings) {
    const auto agent = std::make_shared<SandboxmcpAgent>(sidecar, settings);
    std::vector<mcp::Tool> all = sandboxmcp_code_tools(agent);
    for (std::vector<mcp::Tool> family : {sandboxmcp_session_tools(agent), sandboxmcp_outside_tools(agent)}) {
        std::move(family.begin(), family.end(), std::back_inserter(all));
    }
    return all;
}

} // namespace cellgate::agent
