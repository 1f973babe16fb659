#pragma once
// `Fixture` is a proxy with everything that a test of whole connections needs: a gate, a user who answers, and a
// server. The network's names and addresses are the test's own; the sockets are real.

#include "async/stream.hpp"
#include "base/fake_clock.hpp"
#include "egress/proxy.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace egress_test {

using namespace cellgate;
using namespace cellgate::egress;
using protocol::Effect;
using protocol::RuleSpec;
using protocol::Verdict;
namespace fs = std::filesystem;

// A network of names and addresses in memory. Every connection goes to the test's server.
struct TestNetwork final : Network {
    TestNetwork(async::Loop& loop_, std::string server_) : loop(loop_), server(std::move(server_)) {}

    Task<std::vector<Host>> resolve(Host host) override {
        if (host.is_address) {
            co_return std::vector<Host>(1, host);
        }
        looked_up.push_back(host.name);
        if (host.name.ends_with(".stuck.example")) {
            max_stuck = std::max(max_stuck, ++stuck);
            co_await nothing.wait();
            co_await loop.yield();
            --stuck;
        }
        std::vector<Host> found;
        for (const std::string& address : names[host.name]) {
            found.push_back(parse_host(address).value());
        }
        if (found.empty()) {
            throw Error(ErrorCode::internal_error, "cannot look up " + host.name);
        }
        co_return found;
    }
    Task<std::unique_ptr<async::SocketStream>> connect(Endpoint endpoint) override {
        connected.push_back(to_string(endpoint));
        if (endpoint.host.name == deaf) {
            co_await nothing.wait();
        }
        if (hold != nullptr) {
            co_await hold->wait();
        }
        std::unique_ptr<async::SocketStream> stream = co_await async::connect_unix(loop, server);
        co_return stream;
    }

    async::Loop& loop;
    std::string server;
    std::map<std::string, std::vector<std::string>> names = {
        {"example.org", {"93.184.215.14"}},  {"www.example.org", {"93.184.215.15"}},
        {"inside.example", {"10.0.0.5"}},    {"both.example", {"93.184.215.14", "127.0.0.1"}},
        {"localhost", {"127.0.0.1", "::1"}}, {"two.example", {"93.184.215.16", "93.184.215.17"}}};
    std::string deaf;
    Event nothing;
    Event* hold = nullptr; // connecting waits for it
    int stuck = 0;         // lookups that wait for `nothing`
    int max_stuck = 0;
    std::vector<std::string> looked_up;
    std::vector<std::string> connected;
};

struct User final : gate::ApprovalClient {
    explicit User(gate::Gate& gate_) : gate(gate_) {}

    void on_requested(const protocol::Approval& approval) override {
        requested.push_back(approval);
        asked.set();
        if (answer) {
            respond(*answer);
        }
    }
    void on_resolved(const protocol::ApprovalResolvedParams& params) override { resolved.push_back(params); }
    void respond(Verdict verdict) { respond(verdict, requested.back()); }
    void respond(Verdict verdict, const protocol::Approval& approval) {
        protocol::ApprovalRespondParams params;
        params.approval_ids = {approval.approval_id};
        params.decision = verdict;
        params.scope = scope;
        answers.spawn(gate.respond(std::move(params)));
    }

    gate::Gate& gate;
    std::optional<Verdict> answer = Verdict::allow;
    protocol::Scope scope = protocol::Scope::once;
    std::vector<protocol::Approval> requested;
    std::vector<protocol::ApprovalResolvedParams> resolved;
    Event asked;
    TaskScope answers;
};

// A proxy with a gate, a user and a server of the test. Times are moved by hand.
struct Fixture {
    Fixture() {
        fs::create_directory(folder / "root");
        gate::GateOptions options;
        options.root = (folder / "root").string();
        options.policy_directory = (folder / "policy").string();
        options.run_blocking = run_inline;
        gate.emplace(clock, std::move(options));
        user.emplace(*gate);
        gate->attach(*user);
    }
    Fixture(const Fixture&) = delete;
    Fixture& operator=(const Fixture&) = delete;

    void rule(Effect effect, const std::string& host,
              std::optional<protocol::NetworkProtocol> protocol = std::nullopt) {
        RuleSpec spec;
        spec.protocol = protocol;
        spec.effect = effect;
        spec.kind = protocol::ActionKind::network;
        spec.host = host;
        gate->configure(std::move(spec), protocol::RuleSource::user);
    }

    // Runs `scene` together with the proxy and the server.
    void run(std::function<Task<void>()> scene) { loop.run(run_with_servers(std::move(scene))); }
    Task<void> run_with_servers(std::function<Task<void>()> scene) {
        async::UnixListener listener(loop, network.server);
        ProxyOptions options;
        options.path = (folder / "proxy").string();
        options.asker = [this](const ConnectionSource& source) {
            ++wanted;
            gate::Connection connection;
            connection.program = shown_program(source, "the kernel");
            gate::Request request;
            request.action = std::move(connection);
            if (source.socket) {
                protocol::Origin origin;
                origin.line = *source.socket;
                request.origin = std::move(origin);
            }
            request.session_id = "session";
            request.execution_id = execution;
            return request;
        };
        options.on_refused = [this](const Endpoint& endpoint, const gate::Decision& decision) {
            refused.push_back(to_string(endpoint));
            CHECK(!decision.reason.empty());
        };
        proxy.emplace(loop, clock, network, *gate, std::move(options));
        TaskScope scope;
        scope.spawn(proxy->run());
        TaskScope connections;
        scope.spawn(serve(&listener, &connections));
        std::exception_ptr error;
        try {
            co_await scene();
        } catch (const std::exception&) {
            error = std::current_exception();
        }
        proxy->close();
        listener.close();
        scope.cancel();
        co_await scope.join();
        connections.cancel();
        co_await connections.join();
        proxy.reset();
        network.nothing.set();
        co_await user->answers.join();
        co_await gate->close();
        if (error) {
            std::rethrow_exception(error);
        }
    }

    // Answers each connection once, and keeps the bytes that were read from it until then.
    Task<void> serve(async::UnixListener* listener, TaskScope* connections) {
        std::unique_ptr<async::SocketStream> stream = co_await listener->accept();
        while (stream) {
            connections->spawn(answer(std::move(stream)));
            stream = co_await listener->accept();
        }
    }
    Task<void> answer(std::unique_ptr<async::SocketStream> stream) {
        const std::size_t number = received.size();
        received.emplace_back();
        while (received[number].find(awaited) == std::string::npos) {
            const std::string bytes = co_await stream->read();
            if (bytes.empty()) {
                break;
            }
            received[number] += bytes;
        }
        while (ignores_the_end && !stream->peer_gone()) {
            stream->write("x");
            co_await loop.yield();
        }
        ++ended;
        stream->write("the answer");
        stream->close();
    }

    // Sends `bytes` and reads to the end.
    Task<std::string> say(std::string bytes) {
        const std::unique_ptr<async::UnixStream> stream =
            co_await async::connect_unix(loop, (folder / "proxy").string());
        stream->write(std::move(bytes));
        std::string all;
        std::string more = co_await stream->read();
        while (!more.empty()) {
            all += more;
            more = co_await stream->read();
        }
        co_return all;
    }
    // The same, as a whole scene.
    std::string said(const std::string& bytes) {
        std::string answered;
        run([&]() -> Task<void> { return keep(&answered, say(bytes)); });
        return answered;
    }
    static Task<void> keep(std::string* kept, Task<std::string> task) { *kept = co_await std::move(task); }

    TempFolder temporary;
    const fs::path folder = temporary.path;
    async::Loop loop;
    FakeClock clock;
    std::optional<gate::Gate> gate;
    std::optional<User> user;
    std::string awaited = "\r\n\r\n"; // the server answers when it has read this
    std::vector<std::string> received;
    TestNetwork network{loop, (folder / "server").string()};
    int wanted = 0; // connections that asked the gate
    int ended = 0;  // connections that the server ended
    bool ignores_the_end = false;
    std::optional<std::string> execution;
    std::optional<Proxy> proxy;
    std::vector<std::string> refused;
};

inline std::string get(const std::string& url, const std::string& host) {
    return "GET " + url + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
}

inline std::string connect_to(const std::string& target) {
    return "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n";
}

inline const std::string established = "HTTP/1.1 200 Connection established\r\n\r\n";

inline bool is_refused(const std::string& answer, const char* status) {
    return answer.starts_with(std::string("HTTP/1.1 ") + status + " ");
}

} // namespace egress_test
