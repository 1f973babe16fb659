// `cellgate decider --host HOST…`: the decider of srt's proxy, on stdin and stdout. Each request that the proxy would
// forward is decided by the workspace's rules and users. When it ends, for whatever reason, the proxy forwards nothing.

#include "base/error.hpp"
#include "base/escape_unprintable.hpp"
#include "base/host.hpp"
#include "base/names.hpp"
#include "base/sync.hpp"
#include "commands.hpp"
#include "daemon/connect.hpp"
#include "daemon/stdio.hpp"
#include "decider_wire.hpp"
#include "run_on_loop.hpp"
#include "workspace_client.hpp"
#include "workspace_option.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cellgate::cli {

namespace {

// The proxy waits five seconds for a verdict, and then refuses the request itself.
constexpr Duration verdict_time = std::chrono::milliseconds(4500);
// An answer that came later is for the same request, if it comes again so soon.
constexpr Duration answer_time = std::chrono::seconds(60);
constexpr int forbidden = 403;
constexpr int too_large = 413;
constexpr int try_again = 503;

struct DeciderArguments {
    std::string workspace = ".";
    std::vector<std::string> hosts;
};

// One request that users are asked about, and that may come again meanwhile.
struct AskedRequest {
    Event answered;
    std::optional<protocol::ActionDecideResult> result;
    Instant at{}; // of the answer
    bool taken = false;
};

class Decider {
  public:
    Decider(WorkspaceClient& client, ByteStream& proxy) : client_(client), proxy_(proxy) {}

    // Until the proxy ends. Throws Error when the sidecar does, or when the proxy says something else than the
    // protocol.
    Task<void> run(std::vector<std::string> hosts) {
        tasks_.spawn(end_with_sidecar());
        co_await finally(serve(std::move(hosts)), cancel_and_join(tasks_));
        if (sidecar_ended_) {
            throw Error(ErrorCode::internal_error, "the workspace's sidecar has ended");
        }
    }

  private:
    Task<void> end_with_sidecar() {
        co_await client_.wait();
        sidecar_ended_ = true;
        proxy_.close();
    }

    Task<void> serve(std::vector<std::string> hosts) {
        std::string rest;
        std::optional<DeciderMessage> message = co_await read_decider_message(&proxy_, &rest);
        if (!message || message->type != "hello" || message->version != 1) {
            throw Error(ErrorCode::invalid_request, "expected the proxy's hello of protocol 1");
        }
        proxy_.write(decider_hello(hosts));
        while (true) {
            message = co_await read_decider_message(&proxy_, &rest);
            if (!message) {
                co_return;
            }
            take(std::move(*message));
        }
    }

    void take(DeciderMessage message) {
        if (!message.id) {
            throw Error(ErrorCode::invalid_request, "expected a message with an id");
        }
        const std::int64_t id = *message.id;
        if (message.type == "req") {
            protocol::Action action = requested_action(message);
            if (announces_body(message)) {
                without_body_[id] = std::move(action);
                proxy_.write(need_body_verdict(id));
            } else {
                tasks_.spawn(decide(id, std::move(action)));
            }
            return;
        }
        auto waiting = without_body_.extract(id);
        if (message.type != "body" || !waiting) {
            throw Error(ErrorCode::invalid_request, "expected a request, or the body of one");
        }
        if (message.cut.value_or(false)) {
            proxy_.write(deny_verdict(id, too_large, "cellgate shows bodies of at most 8 MiB"));
            return;
        }
        add_body(waiting.mapped(), message);
        tasks_.spawn(decide(id, std::move(waiting.mapped())));
    }

    // The proxy gives a request up by itself, so what is written for one of those is ignored.
    Task<void> decide(std::int64_t id, protocol::Action action) {
        const std::string key = to_json(action);
        const Instant deadline = client_.loop().clock().now() + verdict_time;
        while (true) {
            const std::shared_ptr<AskedRequest> asked = find_or_ask(key, action);
            const bool in_time = co_await wait_until(client_.loop().clock(), asked->answered, deadline);
            if (!in_time) {
                proxy_.write(deny_verdict(id, try_again, "cellgate asks its user; try again once they have answered"));
                co_return;
            }
            if (!std::exchange(asked->taken, true)) { // unless the same request, sent twice, has taken the answer
                const bool allowed = asked->result->decision == protocol::ClientVerdict::allow;
                proxy_.write(allowed ? allow_verdict(id) : deny_verdict(id, forbidden, asked->result->reason));
                co_return;
            }
        }
    }

    std::shared_ptr<AskedRequest> find_or_ask(const std::string& key, const protocol::Action& action) {
        const Instant now = client_.loop().clock().now();
        std::erase_if(asked_, [now](const auto& each) {
            return each.second->taken || (each.second->result && now - each.second->at > answer_time);
        });
        std::shared_ptr<AskedRequest>& asked = asked_[key];
        if (!asked) {
            asked = std::make_shared<AskedRequest>();
            tasks_.spawn(ask(asked, action));
        }
        return asked;
    }

    Task<void> ask(std::shared_ptr<AskedRequest> asked, protocol::Action action) {
        protocol::ActionDecideParams params;
        params.action = std::move(action);
        params.client_session = session_;
        protocol::ActionDecideResult result; // a denial
        try {
            result = co_await client_.call<protocol::ActionDecide>(std::move(params));
        } catch (const Cancelled&) {
            throw;
        } catch (const Error& error) {
            result.reason = error.message;
        }
        asked->result = std::move(result);
        asked->at = client_.loop().clock().now();
        asked->answered.set();
    }

    WorkspaceClient& client_;
    ByteStream& proxy_;
    const std::string session_ = random_id();
    std::map<std::int64_t, protocol::Action> without_body_;
    std::map<std::string, std::shared_ptr<AskedRequest>> asked_; // by their actions
    bool sidecar_ended_ = false;
    TaskScope tasks_;
};

Task<void> run_decider(async::Loop* loop, const DeciderArguments* arguments) {
    daemon::WorkspaceSidecarOptions options;
    options.workspace = arguments->workspace;
    std::unique_ptr<async::UnixStream> stream = co_await daemon::connect_to_workspace(*loop, std::move(options));
    WorkspaceClient client(*loop, std::move(stream), "srt-proxy");
    const std::unique_ptr<ByteStream> proxy = daemon::take_stdio(*loop);
    Decider decider(client, *proxy);
    Task<void> decided = decider.run(arguments->hosts);
    co_await client.run(std::move(decided));
}

// As the proxy takes them: each once.
void name_hosts(DeciderArguments& arguments) {
    for (std::string& host : arguments.hosts) {
        if (!parse_host_pattern(host)) {
            throw Error(ErrorCode::config_invalid,
                        fmt::format("--host: expected a host, found {}", escape_unprintable(host)),
                        "for example api.example.org, *.example.org or 192.0.2.1:8080");
        }
    }
    std::sort(arguments.hosts.begin(), arguments.hosts.end());
    arguments.hosts.erase(std::unique(arguments.hosts.begin(), arguments.hosts.end()), arguments.hosts.end());
}

} // namespace

void add_decider(CLI::App& app, Invocation& invocation) {
    auto arguments = std::make_shared<DeciderArguments>();
    CLI::App* command =
        app.add_subcommand("decider", "Decide about the requests of srt's proxy, as its decider on stdin and stdout");
    add_root(*command, arguments->workspace);
    command
        ->add_option("--host", arguments->hosts,
                     "A host that may be asked about: example.org, *.example.org, example.org:443. The proxy refuses "
                     "all others")
        ->required()
        ->type_name("HOST");
    run_on_loop(*command, invocation, arguments, [](async::Loop* loop, DeciderArguments* parsed) {
        name_hosts(*parsed);
        return run_decider(loop, parsed);
    });
}

} // namespace cellgate::cli
