#include "server_starter.hpp"

#include "base/text.hpp"
#include "config_inputs.hpp"
#include "mcp/http_connection.hpp"
#include "server_errors.hpp"
#include "server_process.hpp"

#include <algorithm>
#include <utility>

namespace cellgate::tools {

namespace {

// Code that keeps changing a server's program would have a user asked without end.
constexpr int max_start_decisions = 3;

gate::Action action_of(const ServerSpec& spec, const ServerDescription& described) {
    if (spec.config.url) {
        gate::ServerUse use;
        use.server = spec.name;
        use.url = described.url;
        use.header_names = described.header_names;
        use.headers = described.headers;
        use.server_identity = described.identity;
        return use;
    }
    gate::ServerStart start;
    start.server = spec.name;
    start.command = described.command;
    start.cwd = described.cwd;
    start.environment_names = described.environment_names;
    start.environment = described.environment;
    start.server_identity = described.identity;
    if (described.sandbox) {
        start.sandbox = true;
        if (described.sandbox->isolation != sandbox::default_isolation) {
            start.launcher = spec.config.sandbox->launcher;
        }
        start.folders = described.sandbox->folders;
        if (const auto& settings = described.sandbox->settings) {
            start.settings = gate::SandboxSettings{settings->file, RawJson::parse(settings->text)};
        }
    }
    return start;
}

bool is_authorization(const std::pair<std::string, std::string>& field) {
    return lower(field.first) == "authorization";
}

gate::Request start_request(const CallContext& context, const ServerSpec& spec, const ServerDescription& described) {
    gate::Request request;
    request.action = action_of(spec, described);
    request.session_id = context.session_id;
    request.execution_id = context.execution_id;
    request.from_code = context.from_code;
    // Who starts it may be a user who does not know that an agent wrote this.
    request.agent = spec.agent ? spec.agent : context.agent;
    request.origin = context.origin;
    return request;
}

// Throws what expand() and expand_endpoint() would throw whatever is given.
void require_startable(const ServerSpec& spec, const ServerDescription& described, const std::string& workspace,
                       const Environment& environment) {
    constexpr std::string_view any_value = "/"; // is a path, too
    GivenValues given;
    for (const protocol::ServerInput& input : needed_inputs(spec.config)) {
        given.inputs[input.id] = any_value;
    }
    for (const std::string& secret : named_secrets(spec.config)) {
        given.secrets[secret] = any_value;
    }
    if (spec.config.url) {
        expand_endpoint(spec, workspace, environment, given);
    } else {
        expand(spec, described, workspace, environment, given);
    }
}

} // namespace

ServerStarter::ServerStarter(async::Loop& loop, Clock& clock, gate::Gate& gate, const RegistryOptions& options,
                             ServerInputs& inputs, ServerSecrets& secrets, ServerLogins& logins)
    : loop_(loop), clock_(clock), gate_(gate), options_(options), inputs_(inputs), secrets_(secrets), logins_(logins) {}

bool ServerStarter::has_login(const ServerSpec& spec) {
    const Environment headers = spec.config.headers.value_or(Environment{});
    // A login is stored with its URL, and no password is.
    return spec.config.url && !holds_password(*spec.config.url, spec.config) &&
           std::none_of(headers.begin(), headers.end(), is_authorization);
}

std::shared_ptr<ServerAuthorizer> ServerStarter::authorizer_of(const ServerSpec& spec) const {
    return authorizer_of(spec, GivenValues{inputs_.known(spec), secrets_.known(spec)});
}

std::shared_ptr<ServerAuthorizer> ServerStarter::authorizer_of(const ServerSpec& spec, const GivenValues& given) const {
    if (!has_login(spec)) {
        return nullptr;
    }
    const LoginKey key{spec.name, expand_url(spec, options_.workspace, options_.environment, given)};
    OAuthSettings settings = expand_oauth(spec, options_.workspace, options_.environment, given);
    const auto options = options_.login_options.find(spec.name);
    settings.login_options = options == options_.login_options.end() ? std::string() : options->second;
    return logins_.authorizer(key, std::move(settings));
}

std::string ServerStarter::root_for(const ServerSpec& spec) const {
    return spec.config.roots.value_or(true) ? options_.workspace : std::string();
}

ServerDescription ServerStarter::describe_now(const ServerSpec& spec) const {
    return describe(spec, options_.workspace, options_.environment);
}

Task<void> ServerStarter::require_approval(CallContext context, std::shared_ptr<ServerLaunch> launch) {
    for (int decisions = 0; decisions < max_start_decisions; ++decisions) {
        if (launch->described.problem) {
            throw Error(*launch->described.problem); // no user is asked about what cannot be started
        }
        require_startable(launch->spec, launch->described, options_.workspace, options_.environment);
        gate::Request request = start_request(context, launch->spec, launch->described);
        const gate::Decision decision = co_await gate_.decide(std::move(request));
        if (!decision.allowed) {
            throw Error(ErrorCode::denied, decision.reason);
        }
        gate::OutcomeReport outcome = gate_.outcome_report(decision);
        // A cell can change a program of the workspace while a user thinks about it.
        ServerDescription now = describe_now(launch->spec);
        if (now.identity == launch->described.identity) {
            launch->outcome = std::move(outcome);
            co_return;
        }
        outcome.failed("it changed while its start was decided about");
        launch->described = std::move(now);
    }
    throw changed_meanwhile(launch->spec.name);
}

Task<void> ServerStarter::take_values(CallContext context, std::shared_ptr<ServerLaunch> launch) {
    co_await gate::reporting_failure(launch->outcome, take_all(std::move(context), launch));
}

Task<void> ServerStarter::take_all(CallContext context, std::shared_ptr<ServerLaunch> launch) {
    launch->given.inputs = co_await inputs_.take(context, launch->spec);
    launch->given.secrets = co_await secrets_.take(std::move(context), launch->spec);
}

Task<void> ServerStarter::start(std::shared_ptr<ServerLaunch> launch) {
    try {
        co_await gate::reporting_failure(launch->outcome, start_allowed(launch));
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& error) {
        ServerSpec tried = launch->spec;
        if (error.code == ErrorCode::login_required) {
            tried.config.oauth.reset(); // what a login needs was not tried yet
        }
        inputs_.forget_passwords(tried);
        throw;
    }
    launch->outcome.succeeded();
}

Task<void> ServerStarter::start_allowed(std::shared_ptr<ServerLaunch> launch) {
    if (!launch->spec.config.url) {
        launch->link = co_await ServerProcess::start(loop_, options_, launch->spec, launch->described, launch->given);
        launch->server =
            co_await McpToolServer::connect(launch->link, options_.ourselves, root_for(launch->spec), clock_);
        co_return;
    }
    std::optional<Error> not_streamable;
    if (launch->spec.config.type != "sse") {
        try {
            co_await connect(launch, HttpServerLink::Transport::streamable_http);
            co_return;
        } catch (const mcp::NotStreamable& error) {
            not_streamable = error;
        }
    }
    try {
        co_await connect(launch, HttpServerLink::Transport::http_sse);
    } catch (const Cancelled&) {
        throw;
    } catch (const Error&) {
        if (!not_streamable) {
            throw;
        }
        throw failed(launch->spec.name, "did not start: " + not_streamable->message, not_streamable->hint);
    }
}

Task<void> ServerStarter::connect(std::shared_ptr<ServerLaunch> launch, HttpServerLink::Transport transport) {
    mcp::HttpEndpoint endpoint = expand_endpoint(launch->spec, options_.workspace, options_.environment, launch->given);
    endpoint.authorizer = authorizer_of(launch->spec, launch->given);
    launch->link = std::make_shared<HttpServerLink>(loop_, clock_, launch->spec, launch->described, std::move(endpoint),
                                                    transport);
    launch->server = co_await McpToolServer::connect(launch->link, options_.ourselves, root_for(launch->spec), clock_);
}

} // namespace cellgate::tools
