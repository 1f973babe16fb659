// `cellgate login SERVER` and `cellgate logout SERVER`: the login of a user at the authorization server of a tool
// server at a URL. What is kept holds for every sidecar of the user.

#include "base/escape_unprintable.hpp"
#include "base/sync.hpp"
#include "commands.hpp"
#include "json_output.hpp"
#include "sidecar_arguments.hpp"
#include "terminal_client.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>

namespace cellgate::cli {

namespace {

struct LoginArguments {
    SidecarArguments sidecar;
    bool json = false;
    int exit_code = 0;
};

using LoginAction = Task<void> (*)(LoginArguments*, TerminalClient&);

Task<void> cancel_on_interrupt(std::string server, TerminalClient* client) {
    while (true) {
        co_await async::wait_for_signal(client->loop(), SIGINT);
        protocol::ToolServerParams params{server};
        co_await client->sidecar().call<protocol::ToolServersCancelLogin>(std::move(params));
    }
}

Task<void> wait_for_end(LoginArguments* arguments, TerminalClient* client) {
    const protocol::ToolServersLoginEndedParams ended = co_await client->login_end();
    if (arguments->json) {
        fmt::print("{}\n", to_json(ended));
        arguments->exit_code = ended.status == protocol::LoginStatus::granted ? 0 : 1;
        co_return;
    }
    const std::string name = escape_unprintable(arguments->sidecar.server);
    switch (ended.status) {
    case protocol::LoginStatus::granted:
        fmt::print("logged in to {}\n", name);
        co_return;
    case protocol::LoginStatus::cancelled:
        client->printer().note(fmt::format("cellgate: the login to {} was given up", name));
        break;
    case protocol::LoginStatus::failed:
        client->printer().note(fmt::format("cellgate: the login to {} failed: {}", name,
                                           escape_unprintable(ended.message.value_or(""), true)));
        break;
    }
    arguments->exit_code = 1;
}

Task<void> begin_and_wait(LoginArguments* arguments, TerminalClient* client) {
    protocol::ToolServerParams params{arguments->sidecar.server};
    const protocol::ToolServersLoginResult begun =
        co_await client->sidecar().call<protocol::ToolServersLogin>(std::move(params));
    if (arguments->json) {
        fmt::print("{}\n", to_json(begun));
    } else {
        fmt::print("Open this page at {} in a browser, and log in there:\n{}\n", escape_unprintable(begun.host),
                   escape_unprintable(begun.authorization_url));
    }
    std::fflush(stdout);
    client->printer().note("cellgate waits for ten minutes; Ctrl-C gives up");
    co_await wait_for_end(arguments, client);
}

Task<void> log_in(LoginArguments* arguments, TerminalClient& client) {
    TaskScope signals;
    signals.spawn(cancel_on_interrupt(arguments->sidecar.server, &client));
    co_await finally(begin_and_wait(arguments, &client), cancel_and_join(signals));
}

// As far as it is known without asking the server.
Task<bool> has_login(TerminalClient* client, std::string server) {
    const Empty nothing;
    const protocol::ToolServersListResult known = co_await client->sidecar().call<protocol::ToolServersList>(nothing);
    const auto& all = known.servers;
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name == server; });
    co_return found == all.end() || found->authorization != protocol::ToolServerAuthorization::none;
}

Task<void> log_out(LoginArguments* arguments, TerminalClient& client) {
    std::string server = arguments->sidecar.server;
    const bool had_login = co_await has_login(&client, std::move(server));
    protocol::ToolServerParams params{arguments->sidecar.server};
    const Empty result = co_await client.sidecar().call<protocol::ToolServersLogout>(std::move(params));
    if (arguments->json) {
        fmt::print("{}\n", to_json(result));
    } else {
        fmt::print("{} {}\n", had_login ? "logged out of" : "there was no login to",
                   escape_unprintable(arguments->sidecar.server));
    }
}

void add_login_command(CLI::App& app, Invocation& invocation, const char* name, const char* meaning,
                       LoginAction action) {
    auto arguments = std::make_shared<LoginArguments>();
    CLI::App* command = app.add_subcommand(name, meaning);
    command
        ->add_option("SERVER", arguments->sidecar.server,
                     "A server at a URL: of .mcp.json, .vscode/mcp.json or --mcp-config, or any name with --url")
        ->type_name("")
        ->required();
    arguments->sidecar.add_to(*command);
    add_json(*command, arguments->json);
    command->callback([arguments, action, &invocation] {
        arguments->sidecar.check();
        invocation.run = on_loop(arguments, with_client(action));
    });
}

} // namespace

void add_login(CLI::App& app, Invocation& invocation) {
    add_login_command(app, invocation, "login", "Log in to a tool server at a URL, in a browser", log_in);
}

void add_logout(CLI::App& app, Invocation& invocation) {
    add_login_command(app, invocation, "logout", "Forget the login to a tool server, and revoke it there", log_out);
}

} // namespace cellgate::cli
