#include "server_sandbox.hpp"

#include "base/escape_unprintable.hpp"
#include "base/scope_exit.hpp"
#include "base/sync.hpp"
#include "egress/allowed_hosts.hpp"
#include "egress/proxy.hpp"
#include "egress/public_address_policy.hpp"
#include "egress/settings_rules.hpp"
#include "egress/trusted_certificates.hpp"
#include "gate/connection_rule.hpp"
#include "sandbox/explain.hpp"
#include "sandbox/launcher.hpp"
#include "store/locked_temp_dir.hpp"

#include <fmt/format.h>

#include <functional>
#include <utility>

namespace cellgate::service {

class ServerSandbox::Instance final : public tools::SandboxedStart {
  public:
    Instance(ServerSandbox& sandbox, sandbox::Isolation isolation)
        : sandbox_(sandbox), launcher_(sandbox::make_launcher(isolation, sandbox.environment_)) {}

    Task<void> prepare(tools::SandboxedServer server) {
        const auto inspection = std::make_shared<egress::Inspection>();
        inspection->secret_value = sandbox_.request_secret_;
        std::function<void()> make = [this, &server, &inspection] {
            directory_ = store::make_locked_temp_dir(sandbox_.directories_.runtime, "t-");
            egress::make_inspection(*inspection, "cellgate, for one tool server", directory_.path,
                                    server.command.environment);
        };
        co_await sandbox_.loop_.run_blocking(std::move(make));
        const bool inspects = !sandbox_.gate_.request_rules(std::nullopt).empty();
        for (const auto& [name, value] : egress::trust_variables(directory_.path, inspects)) {
            server.command.environment[name] = value;
        }
        name_ = server.name;
        identity_ = server.identity;
        profile_.workspace = sandbox_.workspace_;
        profile_.shows_workspace = server.shows_workspace;
        profile_.session_dir = directory_.path;
        profile_.read_only = std::move(server.folders);
        profile_.hidden = sandbox_.directories_.all();
        profile_.settings = std::move(server.settings);
        profile_.proxy = directory_.path + "/net.sock";
        open_proxy(server, inspection);
        profile_.allowed_hosts = egress::allowed_hosts(sandbox_.gate_, {std::nullopt, server.name});
        std::function<sandbox::Launch()> wrap = [this, &server] {
            return launcher_->wrap(std::move(server.command), profile_);
        };
        launch = co_await sandbox_.loop_.run_blocking(std::move(wrap));
    }

    static Task<std::shared_ptr<tools::SandboxedStart>> prepared(std::shared_ptr<Instance> instance,
                                                                 tools::SandboxedServer server) {
        co_await instance->prepare(std::move(server));
        co_return instance;
    }

    async::ExitStatus exit_of(async::ExitStatus outer) const override { return launcher_->exit_of(outer); }

    Task<std::vector<std::string>> unseen(std::vector<std::string> paths) override {
        std::function<sandbox::Explained()> explain = [this, &paths] {
            return sandbox::explain_paths(profile_, sandbox_.environment_, paths);
        };
        const sandbox::Explained explained = co_await sandbox_.loop_.run_blocking(std::move(explain));
        std::vector<std::string> unseen;
        for (std::size_t i = 0; i < paths.size(); ++i) {
            const sandbox::Visibility visibility = explained.paths[i].visibility;
            if (visibility == sandbox::Visibility::absent || visibility == sandbox::Visibility::unreadable) {
                unseen.push_back(paths[i]);
            }
        }
        co_return unseen;
    }

    std::shared_ptr<void> allow(const std::vector<Endpoint>& endpoints) override {
        std::vector<std::string> rules;
        for (const Endpoint& endpoint : endpoints) {
            if (!egress::needs_explicit_host_rule(endpoint.host, endpoint.host.name)) {
                rules.push_back(add_rule(gate::connection_rule(protocol::Effect::allow, to_string(endpoint))));
            }
        }
        auto withdraw = [&gate = sandbox_.gate_, rules = std::move(rules)] {
            for (const std::string& rule : rules) {
                gate.withdraw(rule);
            }
        };
        return std::make_shared<ScopeExit<decltype(withdraw)>>(std::move(withdraw));
    }

    Task<void> end() override {
        for (const std::string& rule : std::exchange(rules_, {})) {
            sandbox_.gate_.withdraw(rule);
        }
        if (proxy_) {
            proxy_->close();
        }
        co_await serving_.join();
        std::function<void()> remove = [this] {
            launch.group.reset();
            if (!directory_.path.empty()) {
                store::remove_tree(directory_.path);
            }
        };
        co_await sandbox_.loop_.run_blocking(std::move(remove));
    }

  private:
    // For this server alone.
    std::string add_rule(protocol::RuleSpec rule) {
        rule.server = name_;
        return sandbox_.gate_.configure(std::move(rule), protocol::RuleSource::user, identity_).id;
    }

    void open_proxy(const tools::SandboxedServer& server, std::shared_ptr<const egress::Inspection> inspection) {
        for (protocol::RuleSpec& rule : egress::rules_of(profile_.settings.get())) {
            rules_.push_back(add_rule(std::move(rule)));
        }
        for (const Endpoint& host : server.hosts) {
            rules_.push_back(add_rule(gate::connection_rule(protocol::Effect::allow, to_string(host))));
        }
        gate::Connection connection;
        connection.server = server.name;
        connection.server_identity = server.identity;
        egress::ProxyOptions options;
        options.path = profile_.proxy;
        options.inspection = std::move(inspection);
        options.name = fmt::format("the tool server \"{}\"", escape_unprintable(server.name));
        options.asker = [connection, agent = server.agent](const egress::ConnectionSource& caller) {
            gate::Connection asked = connection;
            asked.program = egress::shown_program(caller, "the server");
            gate::Request request;
            request.action = std::move(asked);
            request.agent = agent;
            return request;
        };
        proxy_ = std::make_unique<egress::Proxy>(sandbox_.loop_, sandbox_.loop_.clock(), sandbox_.network_,
                                                 sandbox_.gate_, std::move(options));
        serving_.spawn(proxy_->run());
    }

    ServerSandbox& sandbox_;
    std::string name_;
    std::string identity_;
    std::unique_ptr<sandbox::Launcher> launcher_;
    store::LockedTempDir directory_;
    sandbox::Profile profile_;
    std::vector<std::string> rules_; // of the settings, and of the hosts that it may connect to
    std::unique_ptr<egress::Proxy> proxy_;
    TaskScope serving_;
};

Task<std::shared_ptr<tools::SandboxedStart>> ServerSandbox::prepare(tools::SandboxedServer server) {
    const auto start = std::make_shared<Instance>(*this, server.isolation);
    co_return co_await on_failure(Instance::prepared(start, std::move(server)), start->end());
}

} // namespace cellgate::service
