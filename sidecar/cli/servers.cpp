// `cellgate servers`: the tool servers of the workspace's sidecar.

#include "base/enum_name.hpp"
#include "base/escape_unprintable.hpp"
#include "base/json_codec.hpp"
#include "protocol/messages/tool_servers.hpp"
#include "running_sidecar.hpp"
#include "text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace cellgate::cli {

namespace {

struct ServersArguments {
    std::string workspace = ".";
    std::string name;
    bool json = false;
    int exit_code = 1;

    protocol::ToolServerParams params() const { return {name}; }
};

std::vector<std::string> server_row(const protocol::ToolServerInfo& server) {
    std::string state(enum_name(server.state));
    if (server.authorization && *server.authorization == protocol::ToolServerAuthorization::needed) {
        state += ", needs a login";
    }
    return {server.name,
            std::move(state),
            server.transport ? std::string(enum_name(*server.transport)) : "-",
            server.tools ? std::to_string(server.tools->size()) : "-",
            server.sandbox ? std::string(enum_name(*server.sandbox)) : "-",
            std::string(enum_name(server.source)) + (server.file ? ": " + *server.file : "")};
}

const std::vector<std::string> server_headings{"SERVER", "STATE", "TRANSPORT", "TOOLS", "SANDBOX", "FROM"};

void print_error(const protocol::ToolServerInfo& server) {
    if (server.error) {
        fmt::print("{} failed: {}\n", server.name, escape_unprintable(*server.error, true));
    }
}

Task<void> list_servers(WorkspaceClient* client, ServersArguments* arguments) {
    const protocol::ToolServersListResult list = co_await client->call<protocol::ToolServersList>();
    if (arguments->json) {
        fmt::print("{}\n", to_json(list));
        co_return;
    }
    std::vector<std::vector<std::string>> rows{server_headings};
    for (const protocol::ToolServerInfo& server : list.servers) {
        rows.push_back(server_row(server));
    }
    fmt::print("{}", text_table(rows));
    std::for_each(list.servers.begin(), list.servers.end(), print_error);
}

Task<void> list_tools(WorkspaceClient* client, ServersArguments* arguments) {
    const protocol::ToolServersListResult list = co_await client->call<protocol::ToolServersList>();
    const auto server = std::find_if(list.servers.begin(), list.servers.end(),
                                     [&](const auto& each) { return each.name == arguments->name; });
    if (server == list.servers.end()) {
        throw Error(ErrorCode::tool_server_not_found,
                    fmt::format("there is no tool server \"{}\"", escape_unprintable(arguments->name)),
                    "`cellgate servers list` lists those that there are");
    }
    if (!server->tools) {
        throw Error(ErrorCode::tool_server_not_found,
                    fmt::format("{} has not run: its tools are not known", server->name),
                    fmt::format("`cellgate servers restart {}` starts it", server->name));
    }
    std::vector<std::vector<std::string>> rows{{"TOOL", "WHAT IT DOES"}};
    for (const protocol::ToolInfo& tool : *server->tools) {
        if (arguments->json) {
            fmt::print("{}\n", to_json(tool));
        }
        const std::string meaning = tool.hints.description.value_or(tool.hints.title.value_or(""));
        rows.push_back({tool.name, meaning.substr(0, meaning.find('\n'))});
    }
    if (!arguments->json) {
        fmt::print("{}", text_table(rows));
    }
}

Task<void> print_log(WorkspaceClient* client, ServersArguments* arguments) {
    protocol::ToolServerParams params = arguments->params();
    const protocol::ToolServersLogResult result = co_await client->call<protocol::ToolServersLog>(std::move(params));
    fmt::print("{}", arguments->json ? to_json(result) + "\n" : escape_unprintable(result.text, true));
}

Task<void> restart_server(WorkspaceClient* client, ServersArguments* arguments) {
    protocol::ToolServerParams params = arguments->params();
    const protocol::ToolServerInfo server = co_await client->call<protocol::ToolServersRestart>(std::move(params));
    fmt::print("{}", arguments->json ? to_json(server) + "\n" : text_table({server_headings, server_row(server)}));
}

Task<void> remove_server(WorkspaceClient* client, ServersArguments* arguments) {
    protocol::ToolServerParams params = arguments->params();
    const Empty result = co_await client->call<protocol::ToolServersRemove>(std::move(params));
    if (arguments->json) {
        fmt::print("{}\n", to_json(result));
    }
}

} // namespace

void add_servers(CLI::App& app, Invocation& invocation) {
    CLI::App* command =
        app.add_subcommand("servers", "The tool servers of the workspace's sidecar: list, restart and remove them");
    Parts<ServersArguments> parts(*command, invocation, beside_sidecar(list_servers));
    parts.add("list", "List the tool servers", beside_sidecar(list_servers));
    std::string& name = parts.arguments().name;
    parts.add("tools", "List the tools of one that has run", beside_sidecar(list_tools), "SERVER", name);
    parts.add("log", "Print what it wrote to stderr since it was started", beside_sidecar(print_log), "SERVER", name);
    parts.add("restart", "End it, if it runs, and start it", beside_sidecar(restart_server), "SERVER", name);
    parts.add("remove", "End it and forget it", beside_sidecar(remove_server), "SERVER", name);
}

} // namespace cellgate::cli
