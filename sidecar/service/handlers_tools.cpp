// toolServers/*, tools/call, tools/search, wrappers/generate.

#include "base/escape_unprintable.hpp"
#include "base/log.hpp"
#include "handlers.hpp"
#include "progress.hpp"
#include "shown_output.hpp"
#include "tools/tool_search.hpp"
#include "wrappers/generate.hpp"
#include "wrappers/signature.hpp"
#include "wrappers/write_package.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <numeric>

namespace cellgate::service {

namespace {

struct Tools {
    SidecarServices& sidecar;
    Client& client;

    Task<protocol::ToolServersListResult> list(Empty) {
        for (const std::string& problem : sidecar.registry.read_workspace_files()) {
            log_warning("{}", problem);
        }
        co_await sidecar.registry.refresh();
        protocol::ToolServersListResult result;
        result.servers = sidecar.registry.list();
        if (client.role == protocol::Role::agent) {
            // Arguments and URLs of a user's servers may contain secrets.
            for (protocol::ToolServerInfo& server : result.servers) {
                server.command.reset();
                server.url.reset();
                server.sandbox_config.reset();
                server.sandbox_notices.reset();
            }
        }
        co_return result;
    }

    void trust(const std::string& server, const protocol::McpServerConfig& config) {
        sidecar.trusted_servers.add({{server, config}}, protocol::ToolServerSource::user);
    }

    // A user's server may start; an agent's starts only after an approval.
    void configure(const std::string& server, const protocol::McpServerConfig& config) {
        if (client.role == protocol::Role::user) {
            trust(server, config);
        } else {
            sidecar.registry.add_from_agent(
                {server, config, protocol::ToolServerSource::agent, std::nullopt, client.agent});
        }
    }

    Task<protocol::ToolServerInfo> add(protocol::ToolServersAddParams params) {
        trust(params.server, params.config);
        sidecar.registry.require_startable(params.server);
        co_return sidecar.registry.info(params.server);
    }

    Task<protocol::ToolServersLogResult> log(protocol::ToolServerParams params) {
        protocol::ToolServersLogResult result;
        result.text = sidecar.registry.log(params.server);
        co_return result;
    }

    Task<protocol::ToolServerInfo> restart(protocol::ToolServerParams params) {
        const std::string server = params.server;
        tools::CallContext context;
        co_await sidecar.registry.restart(std::move(context), server);
        co_return sidecar.registry.info(server);
    }

    Task<protocol::ToolServersLoginResult> login(protocol::ToolServerParams params) {
        tools::CallContext context;
        co_return co_await sidecar.registry.login(std::move(context), std::move(params.server));
    }

    Task<Empty> cancel_login(protocol::ToolServerParams params) {
        co_await sidecar.registry.cancel_login(std::move(params.server));
        co_return Empty{};
    }

    Task<Empty> logout(protocol::ToolServerParams params) {
        co_await sidecar.registry.logout(std::move(params.server));
        co_return Empty{};
    }

    Task<Empty> remove(protocol::ToolServerParams params) {
        const std::string server = params.server;
        co_await sidecar.registry.remove(std::move(params.server));
        sidecar.trusted_servers.distrust(server);
        co_return Empty{};
    }

    Task<protocol::CallToolResult> call(protocol::ToolsCallParams params) {
        tools::CallContext context;
        context.agent = client.agent;
        if (params.session_id) {
            context.session_id = sidecar.sessions.find(*params.session_id)->id();
        }
        Progress progress(client.peer, std::move(params.work_done_token),
                          fmt::format("{}: {}", params.server, params.tool));
        std::string reviewed; // the tool, if a user wants to see its results before this agent does
        context.on_progress = [&](const std::string&, const std::string&, std::optional<std::string> words) {
            if (words && reviewed.empty()) {
                progress.report(std::move(*words));
            }
        };
        if (client.agent) {
            context.on_reviewed = [&reviewed](const std::string& tool) { reviewed = tool; };
        }
        protocol::CallToolResult result;
        std::optional<Error> failure;
        try {
            result = co_await sidecar.registry.dispatcher().call(std::move(context), std::move(params.server),
                                                                 std::move(params.tool), std::move(params.arguments));
        } catch (const Cancelled&) {
            throw;
        } catch (const Error& error) {
            failure = error;
        }
        if (!reviewed.empty()) {
            std::string text = failure ? failure->message : shown_text(result);
            co_await sidecar.review.require_allowed(*client.agent, std::move(params.session_id), reviewed,
                                                    std::move(text));
        }
        if (failure) {
            throw *failure;
        }
        const std::shared_ptr<const SecretMask>& mask = sidecar.known_secrets.mask();
        if (client.role != protocol::Role::user && mask) {
            result = from_json<protocol::CallToolResult>(masked_json(mask, to_raw_json(result)), "result");
        }
        co_return result;
    }

    Task<protocol::ToolsSearchResult> search(protocol::ToolsSearchParams params) {
        const std::vector<protocol::ToolServerInfo> servers = sidecar.registry.list();
        if (params.server) {
            sidecar.registry.info(*params.server); // throws if there is none
        }
        std::function<protocol::ToolsSearchResult()> work = [&] { return found_tools(servers, params); };
        co_return co_await sidecar.loop.run_blocking(std::move(work));
    }

    static protocol::ToolsSearchResult found_tools(const std::vector<protocol::ToolServerInfo>& servers,
                                                   const protocol::ToolsSearchParams& params) {
        constexpr std::int64_t default_limit = 10;
        std::vector<tools::SearchedTool> searched;
        std::vector<const protocol::ToolInfo*> infos;
        for (const protocol::ToolServerInfo& server : servers) {
            if (!server.tools || (params.server && *params.server != server.name)) {
                continue;
            }
            for (const protocol::ToolInfo& tool : *server.tools) {
                searched.push_back(tools::searched_tool(server.name, tool));
                infos.push_back(&tool);
            }
        }
        protocol::ToolsSearchResult result;
        result.searched = static_cast<std::int64_t>(searched.size());
        const auto limit = static_cast<std::size_t>(params.limit.value_or(default_limit));
        for (const std::size_t place : places_of(searched, params.query, limit)) {
            const protocol::ToolInfo& tool = *infos[place];
            const std::string& server = searched[place].server;
            const std::string signature = wrappers::signature(server, spec_of(tool));
            result.tools.push_back({server, tool.name, tools::summary_of(tool), escape_unprintable(signature, true)});
        }
        return result;
    }

    static std::vector<std::size_t> places_of(const std::vector<tools::SearchedTool>& searched,
                                              const std::optional<std::string>& query, std::size_t limit) {
        if (query) {
            return tools::search_tools(searched, *query, limit);
        }
        std::vector<std::size_t> all(std::min(limit, searched.size()));
        std::iota(all.begin(), all.end(), std::size_t{0});
        return all;
    }

    static protocol::ToolSpec spec_of(const protocol::ToolInfo& tool) {
        protocol::ToolSpec spec;
        spec.name = tool.name;
        spec.input_schema = tool.input_schema;
        spec.output_schema = tool.output_schema;
        return spec;
    }

    Task<protocol::WrappersGenerateResult> generate(protocol::WrappersGenerateParams params) {
        const std::string out_dir = sidecar.workspace.resolve(params.out_dir.value_or("."));
        Progress progress(client.peer, params.work_done_token, "Generating wrappers");
        if (params.config) {
            configure(params.server, *params.config);
        }
        tools::CallContext context;
        context.agent = client.agent;
        const std::vector<protocol::ToolSpec> specs =
            co_await sidecar.registry.tools(std::move(context), params.server);
        const wrappers::Language language = params.language == protocol::WrapperLanguage::typescript
                                                ? wrappers::Language::typescript
                                                : wrappers::Language::python;
        std::function<wrappers::Package()> work = [&] {
            wrappers::Package package = wrappers::generate(params.server, specs, language);
            wrappers::write_package(package, out_dir);
            return package;
        };
        const wrappers::Package package = co_await sidecar.loop.run_blocking(std::move(work));
        protocol::WrappersGenerateResult result;
        result.package = "mcptools." + package.package;
        for (const wrappers::Module& module : package.modules) {
            result.modules.push_back({module.tool, result.package + "." + module.module,
                                      (std::filesystem::path(out_dir) / module.path).string()});
        }
        for (const wrappers::Skipped& skipped : package.skipped) {
            result.skipped.push_back({skipped.tool, skipped.reason});
        }
        co_return result;
    }
};

} // namespace

void add_tool_handlers(SidecarServices& sidecar, Client& client) {
    const auto handlers = std::make_shared<Tools>(sidecar, client);
    client.peer.on_request<protocol::ToolServersList>([handlers](Empty params) { return handlers->list(params); });
    client.peer.on_request<protocol::ToolServersAdd>(
        [handlers](protocol::ToolServersAddParams params) { return handlers->add(std::move(params)); });
    client.peer.on_request<protocol::ToolServersLog>(
        [handlers](protocol::ToolServerParams params) { return handlers->log(std::move(params)); });
    client.peer.on_request<protocol::ToolServersRestart>(
        [handlers](protocol::ToolServerParams params) { return handlers->restart(std::move(params)); });
    client.peer.on_request<protocol::ToolServersRemove>(
        [handlers](protocol::ToolServerParams params) { return handlers->remove(std::move(params)); });
    client.peer.on_request<protocol::ToolServersLogin>(
        [handlers](protocol::ToolServerParams params) { return handlers->login(std::move(params)); });
    client.peer.on_request<protocol::ToolServersCancelLogin>(
        [handlers](protocol::ToolServerParams params) { return handlers->cancel_login(std::move(params)); });
    client.peer.on_request<protocol::ToolServersLogout>(
        [handlers](protocol::ToolServerParams params) { return handlers->logout(std::move(params)); });
    client.peer.on_request<protocol::ToolsCall>(
        [handlers](protocol::ToolsCallParams params) { return handlers->call(std::move(params)); });
    client.peer.on_request<protocol::ToolsSearch>(
        [handlers](protocol::ToolsSearchParams params) { return handlers->search(std::move(params)); });
    client.peer.on_request<protocol::WrappersGenerate>(
        [handlers](protocol::WrappersGenerateParams params) { return handlers->generate(std::move(params)); });
}

} // namespace cellgate::service
