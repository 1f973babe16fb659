#include "tools/registry.hpp"

#include "base/log.hpp"
#include "config_inputs.hpp"
#include "gate/gate.hpp"
#include "host.hpp"
#include "program_starts.hpp"
#include "rule_check.hpp"
#include "running_servers.hpp"
#include "saved_tools.hpp"
#include "server_catalog.hpp"
#include "server_errors.hpp"
#include "server_inputs.hpp"
#include "server_logins.hpp"
#include "server_secrets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cellgate::tools {

namespace {

std::unique_ptr<ServerCatalog> make_catalog(const RegistryOptions& options, ServerCatalog::OnRemoved on_removed,
                                            ServerCatalog::ReadFilesFor read_files_for) {
    return std::make_unique<ServerCatalog>(
        [&options](const ServerSpec& spec) { return describe(spec, options.workspace, options.environment); },
        std::move(on_removed), std::move(read_files_for));
}

bool names_server(const ConfigFile& files, const std::string& name) {
    return std::any_of(files.servers.begin(), files.servers.end(),
                       [&name](const ServerSpec& spec) { return spec.name == name; });
}

} // namespace

Registry::Registry(async::Loop& loop, Clock& clock, gate::Gate& gate, RegistryOptions options)
    : options_(std::move(options)),
      catalog_(make_catalog(
          options_,
          [this](const ServerEntryPtr& entry, std::string reason) { servers_->retire(entry, std::move(reason)); },
          [this](const std::string& name) { read_workspace_files_for(name); })),
      inputs_(std::make_unique<ServerInputs>(options_.elicitor)), secrets_(std::make_unique<ServerSecrets>(options_)),
      logins_(std::make_unique<ServerLogins>(
          loop, clock, options_.logins_directory,
          [this](const protocol::ToolServersLoginEndedParams& ended) { on_login_ended(ended); })),
      servers_(std::make_unique<RunningServers>(
          *catalog_, ServerStarter(loop, clock, gate, options_, *inputs_, *secrets_, *logins_))),
      dispatcher_(clock, gate, *servers_, options_.elicitor) {
    saved_ = std::make_shared<SavedTools>(
        loop, options_.saved_tools_directory, options_.saved_tools,
        [this](const std::string& server) { return catalog_->identity_of(server); },
        [this](const protocol::RuleSpec& rule) { require_fitting(rule); }, options_.recorded_rules);
    servers_->adopt(catalog_->add_built_in(host_server_name, HostTools::identity()),
                    std::make_shared<HostTools>(loop, options_.workspace, options_.environment, *saved_));
    servers_->adopt(catalog_->add_built_in(saved_server_name, HostTools::identity()), saved_);
    servers_->adopt(catalog_->add_built_in(kernel_server_name, HostTools::identity()),
                    std::make_shared<ProgramStarts>(HostTools::identity()));
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

// Code can ask for any name: only one that is new to the files has their servers described again.
void Registry::read_workspace_files_for(const std::string& server) {
    if (names_server(read_workspace_config(options_.workspace), server)) {
        for (const std::string& problem : read_workspace_files()) {
            log_warning("{}", problem);
        }
    }
}

std::vector<std::string> Registry::read_workspace_files() {
    std::vector<std::string> found = catalog_->set_workspace_files(read_workspace_config(options_.workspace));
    const std::vector<std::string> known = std::exchange(file_problems_, found);
    std::erase_if(found, [&](const std::string& problem) {
        return std::find(known.begin(), known.end(), problem) != known.end();
    });
    return found;
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
        const std::string& name = entry->spec.name;
        const bool is_hidden = name == kernel_server_name || (name == saved_server_name && saved_->tools().empty());
        if (!is_hidden) {
            all.push_back(servers_->info(entry));
        }
    }
    return all;
}

std::string Registry::log(const std::string& server) const {
    std::string log = servers_->log(catalog_->find(server));
    return options_.known_secrets == nullptr ? log : masked_text(options_.known_secrets->mask(), std::move(log));
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

std::map<std::string, std::vector<std::string>> Registry::secret_users() const {
    std::map<std::string, std::vector<std::string>> users;
    for (const ServerEntryPtr& entry : catalog_->entries()) {
        for (const std::string& secret : named_secrets(entry->spec.config)) {
            users[secret].push_back(entry->spec.name);
        }
    }
    return users;
}

Task<void> Registry::refresh() {
    co_await logins_->refresh();
    co_await saved_->refresh();
}

Task<protocol::ToolServersLoginResult> Registry::login(CallContext context, std::string server) {
    const ServerEntryPtr entry = catalog_->find(server);
    RunningServers::require_login(entry);
    co_await logins_->refresh();
    // A server that wants a login says how when it starts, and its start is what a user has to agree to.
    std::optional<Error> problem;
    try {
        co_await servers_->running(std::move(context), std::move(server));
    } catch (const Error& error) {
        if (error.code != ErrorCode::login_required && error.code != ErrorCode::tool_server_failed) {
            throw;
        }
        problem = error;
    }
    const std::shared_ptr<ServerAuthorizer> authorizer = servers_->require_authorizer(entry);
    const bool may_want_login = !problem || problem->code == ErrorCode::login_required ||
                                authorizer->state() != protocol::ToolServerAuthorization::none;
    if (!may_want_login) {
        throw Error(*problem);
    }
    co_return co_await logins_->begin(authorizer);
}

Task<void> Registry::cancel_login(std::string server) {
    catalog_->find(server);
    return logins_->cancel(std::move(server));
}

Task<void> Registry::logout(std::string server) {
    const ServerEntryPtr entry = catalog_->find(server);
    const std::shared_ptr<ServerAuthorizer> authorizer = servers_->require_authorizer(entry);
    co_await servers_->stop(entry, "a user logged out");
    co_await logins_->logout(authorizer);
}

// What ran had another login, or none: its session and its tools may be others.
void Registry::on_login_ended(const protocol::ToolServersLoginEndedParams& ended) {
    if (ended.status == protocol::LoginStatus::granted) {
        for (const ServerEntryPtr& entry : catalog_->entries()) {
            if (entry->spec.name == ended.server) {
                servers_->retire(entry, "a user logged in");
            }
        }
    }
    if (options_.on_login_ended) {
        options_.on_login_ended(ended);
    }
}

Task<void> Registry::close() {
    co_await logins_->close();
    co_await servers_->close();
}

} // namespace cellgate::tools
