#include "tools/registry.hpp"

#include "host.hpp"
#include "rule_check.hpp"
#include "running_servers.hpp"
#include "server_catalog.hpp"

namespace cellgate::tools {

namespace {

std::unique_ptr<ServerCatalog> make_catalog(const RegistryOptions& options, ServerCatalog::OnRemoved on_removed) {
    return std::make_unique<ServerCatalog>(
        [&options](const ServerSpec& spec) { return describe(spec, options.workspace, options.environment); },
        std::move(on_removed));
}

} // namespace

Registry::Registry(async::Loop& loop, Clock& clock, gate::Gate& gate, RegistryOptions options)
    : options_(std::move(options)),
      catalog_(make_catalog(options_, [this](const ServerEntryPtr& entry,
                                             std::string reason) { servers_->retire(entry, std::move(reason)); })),
      servers_(std::make_unique<RunningServers>(*catalog_, ServerStarter(loop, clock, gate, options_))),
      dispatcher_(clock, gate, *servers_) {
    servers_->adopt(catalog_->add_built_in(host_server_name, HostTools::identity()),
                    std::make_shared<HostTools>(loop, options_.workspace, options_.environment));
}

Registry::~Registry() = default;

void Registry::add(const std::vector<ServerSpec>& specs) {
    catalog_->add(specs);
}

void Registry::add_from_agent(ServerSpec spec) {
    catalog_->add_from_agent(std::move(spec));
}

void Registry::on_agent_disconnected(std::uint64_t client) {
    catalog_->on_agent_disconnected(client);
}

std::vector<std::string> Registry::read_workspace_files() {
    return catalog_->set_workspace_files(read_workspace_config(options_.workspace));
}

Task<void> Registry::remove(std::string server) {
    const ServerEntryPtr entry = catalog_->take(server);
    co_await servers_->stop(entry, "it was removed");
}

Task<void> Registry::restart(CallContext context, std::string server) {
    const ServerEntryPtr entry = catalog_->find(server);
    co_await servers_->stop(entry, "it is restarted");
    co_await servers_->running(std::move(context), std::move(server));
}

void Registry::require_startable(const std::string& server) const {
    if (const std::optional<Error>& problem = catalog_->find(server)->described.problem) {
        throw Error(*problem);
    }
}

protocol::ToolServerInfo Registry::info(const std::string& server) const {
    return servers_->info(catalog_->find(server));
}

std::vector<protocol::ToolServerInfo> Registry::list() const {
    std::vector<protocol::ToolServerInfo> all;
    for (const ServerEntryPtr& entry : catalog_->entries()) {
        all.push_back(servers_->info(entry));
    }
    return all;
}

std::string Registry::log(const std::string& server) const {
    return servers_->log(catalog_->find(server));
}

Task<std::vector<protocol::ToolSpec>> Registry::tools(CallContext context, std::string server) {
    const std::shared_ptr<ToolServer> running = co_await servers_->running(std::move(context), std::move(server));
    co_await running->refresh();
    std::vector<protocol::ToolSpec> specs;
    for (const ToolPtr& tool : running->tools()) {
        specs.push_back(tool->spec);
    }
    co_return specs;
}

void Registry::require_fitting(const protocol::RuleSpec& rule) const {
    for (const ServerEntryPtr& entry : catalog_->entries()) {
        if (const auto problem = check_rule(rule, entry->spec.name, servers_->known_tools(entry))) {
            throw Error(ErrorCode::rule_invalid, problem->what, problem->hint);
        }
    }
}

Task<void> Registry::close() {
    co_await servers_->close();
}

} // namespace cellgate::tools
