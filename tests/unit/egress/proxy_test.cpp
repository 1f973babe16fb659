// Whole connections through the proxy, to a server of the test's: what a hostile client may say, and what the gate says
// to it. The network's names and addresses are the test's own; the sockets are real.

#include "async/fd_reservation.hpp"
#include "async/stream.hpp"
#include "base/fake_clock.hpp"
#include "egress/proxy.hpp"
#include "hello.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <sys/resource.h>

using namespace cellgate;
using namespace cellgate::egress;
using namespace egress_test;
using protocol::Effect;
using protocol::RuleSpec;
using protocol::Verdict;

namespace {

namespace fs = std::filesystem;

// Every address is the test's server.
struct OwnNetwork final : Network {
    OwnNetwork(async::Loop& loop_, std::string server_) : loop(loop_), server(std::move(server_)) {}

    Task<std::vector<Host>> resolve(Host host) override {
        if (host.is_address) {
            co_return std::vector<Host>(1, host);
        }
        looked_up.push_back(host.name);
        if (host.name.ends_with(".stuck.example")) {
            co_await nothing.wait();
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
    Event* hold = nullptr; // what connects waits for it
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

struct Stage {
    Stage() {
        std::string name = (fs::temp_directory_path() / "egressXXXXXX").string();
        folder = fs::canonical(::mkdtemp(name.data()));
        fs::create_directory(folder / "root");
        gate::GateOptions options;
        options.root = (folder / "root").string();
        options.policy_directory = (folder / "policy").string();
        options.run_blocking = run_inline;
        gate.emplace(clock, std::move(options));
        user.emplace(*gate);
        gate->attach(*user);
    }
    Stage(const Stage&) = delete;
    Stage& operator=(const Stage&) = delete;
    ~Stage() { fs::remove_all(folder); }

    void rule(Effect effect, const std::string& host) {
        RuleSpec spec;
        spec.effect = effect;
        spec.kind = protocol::ActionKind::network;
        spec.host = host;
        gate->configure(std::move(spec), protocol::RuleSource::user);
    }

    // Runs `scene` with a proxy and a server beside it.
    void play(std::function<Task<void>()> scene) { loop.run(play_whole(std::move(scene))); }
    Task<void> play_whole(std::function<Task<void>()> scene) {
        async::UnixListener listener(loop, network.server);
        ProxyOptions options;
        options.path = (folder / "proxy").string();
        options.asker = [this](const ConnectionSource& source) {
            ++wanted;
            gate::Request request;
            request.action.program = shown_program(source, "the kernel");
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

    // Answers each connection once: what it has read of it by then is kept.
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
    // The same as a scene of its own.
    std::string said(const std::string& bytes) {
        std::string answered;
        play([&]() -> Task<void> { return keep(&answered, say(bytes)); });
        return answered;
    }
    static Task<void> keep(std::string* kept, Task<std::string> task) { *kept = co_await std::move(task); }

    async::Loop loop;
    FakeClock clock;
    fs::path folder;
    std::optional<gate::Gate> gate;
    std::optional<User> user;
    std::string awaited = "\r\n\r\n"; // the server answers when it has read this
    std::vector<std::string> received;
    OwnNetwork network{loop, ""};
    int wanted = 0; // connections
    int ended = 0;  // of the server's
    bool ignores_the_end = false;
    std::optional<std::string> execution;
    std::optional<Proxy> proxy;
    std::vector<std::string> refused;
};

struct Scene : Stage {
    Scene() { network.server = (folder / "server").string(); }
};

std::string get(const std::string& url, const std::string& host) {
    return "GET " + url + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
}

std::string connect_to(const std::string& target) {
    return "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n";
}

const std::string established = "HTTP/1.1 200 Connection established\r\n\r\n";

bool is_refused(const std::string& answer, const char* status) {
    return answer.starts_with(std::string("HTTP/1.1 ") + status + " ");
}

} // namespace

TEST_CASE("an unknown host is asked for, with its port, and reached after the yes") {
    Scene scene;
    CHECK(scene.said(get("http://Example.org/a?b", "example.org")) == "the answer");
    REQUIRE(scene.user->requested.size() == 1);
    const protocol::Approval& approval = scene.user->requested[0];
    CHECK(approval.action.kind == protocol::ActionKind::network);
    CHECK(approval.action.host == "example.org");
    CHECK(approval.action.port == 80);
    CHECK(approval.session_id == "session");
    CHECK(approval.display.at(0) == "connect to example.org port 80");
    CHECK(scene.network.connected == std::vector<std::string>{"93.184.215.14:80"});
    CHECK(scene.received.at(0) == "GET /a?b HTTP/1.1\r\nhost: example.org\r\nconnection: close\r\n\r\n");
}

TEST_CASE("after a no nothing is looked up, and the client is told why") {
    Scene scene;
    scene.user->answer = Verdict::deny;
    const std::string answer = scene.said(connect_to("secret-in-a-name.example.org:443"));
    CHECK(is_refused(answer, "403"));
    CHECK(answer.find("Failed to resolve 'secret-in-a-name.example.org'") != std::string::npos);
    CHECK(scene.network.looked_up.empty());
    CHECK(scene.network.connected.empty());
}

TEST_CASE("rules for hosts ask nobody") {
    Scene scene;
    scene.rule(Effect::allow, "*.example.org:443");
    scene.rule(Effect::deny, "example.org");
    scene.awaited = "hello";
    const std::string hello = client_hello("www.example.org");
    CHECK(scene.said(connect_to("www.example.org:443") + hello + "hello") == established + "the answer");
    CHECK(scene.received.at(0) == hello + "hello");
    CHECK(scene.user->requested.empty());
    Scene other;
    other.rule(Effect::deny, "example.org");
    CHECK(is_refused(other.said(connect_to("EXAMPLE.org.:443")), "403"));
    CHECK(other.user->requested.empty());
}

TEST_CASE("the program that the bridge names is shown, made visible, and binds nothing") {
    Scene scene;
    scene.said(std::string("\0\x0a", 2) + "curl\x1b[2J x" + get("http://example.org/", "example.org"));
    REQUIRE(scene.user->requested.size() == 1);
    const std::optional<std::string> program = scene.user->requested[0].action.program;
    REQUIRE(program);
    CHECK(program->starts_with("curl"));
    CHECK(program->find('\x1b') == std::string::npos);
    CHECK(scene.user->requested[0].display.size() == 2);
}

TEST_CASE("hosts in here are reached by a rule that names them, and nobody is asked") {
    for (const char* target : {"127.0.0.1:80", "10.0.0.1:80", "169.254.169.254:80", "[::1]:80", "localhost:80",
                               "[::ffff:127.0.0.1]:80", "x.localhost:80", "0.0.0.0:80"}) {
        CAPTURE(target);
        Scene scene;
        CHECK(is_refused(scene.said(connect_to(target)), "403"));
        CHECK(scene.user->requested.empty());
        CHECK(scene.network.connected.empty());
    }
    Scene listed;
    listed.rule(Effect::allow, "127.0.0.1:80");
    CHECK(listed.said(get("http://127.0.0.1/", "127.0.0.1")) == "the answer");
    Scene local;
    local.rule(Effect::allow, "localhost");
    CHECK(local.said(get("http://localhost:8000/", "localhost:8000")) == "the answer");
    CHECK(local.network.connected == std::vector<std::string>{"127.0.0.1:8000"});
}

TEST_CASE("a public name that leads in here is refused, whatever else it leads to") {
    for (const char* name : {"inside.example", "both.example"}) {
        CAPTURE(name);
        Scene scene;
        scene.rule(Effect::allow, name);
        const std::string answer = scene.said(connect_to(std::string(name) + ":443"));
        CHECK(is_refused(answer, "403"));
        CHECK(answer.find("leads to") != std::string::npos);
        REQUIRE(scene.refused.size() == 1); // what a rule would have to name
        CHECK(scene.refused[0] == (std::string(name) == "inside.example" ? "10.0.0.5:443" : "127.0.0.1:443"));
        CHECK(scene.network.connected.empty());
    }
    // The control: with the address listed it is reached, so nothing else stood in the way.
    Scene listed;
    listed.rule(Effect::allow, "inside.example");
    listed.rule(Effect::allow, "10.0.0.5");
    CHECK(listed.said(get("http://inside.example/", "inside.example")) == "the answer");
}

TEST_CASE("a name is looked up once, and that very address is dialled") {
    Scene scene;
    scene.said(get("http://two.example/", "two.example"));
    CHECK(scene.network.looked_up == std::vector<std::string>{"two.example"});
    CHECK(scene.network.connected == std::vector<std::string>{"93.184.215.16:80"});
}

TEST_CASE("names that are spelled to deceive are no hosts") {
    Scene scene;
    scene.rule(Effect::allow, "*.example.org");
    std::vector<std::string> answers;
    scene.play([&]() -> Task<void> {
        for (const std::string& target :
             {std::string("evil.example\0.example.org:443", 29), std::string("evil.example%00.example.org:443"),
              std::string("user@www.example.org:443"), std::string("evil.example\r\nX: .example.org:443"),
              std::string("::1%x.example.org:443"), std::string("0x7f000001:443"), std::string("2130706433:443"),
              std::string("127.1:443"), std::string("www.example.org"), std::string("www.example.org:99999"),
              std::string("/:443"), std::string(":443")}) {
            answers.push_back(co_await scene.say("CONNECT " + target + " HTTP/1.1\r\n\r\n"));
        }
    });
    for (const std::string& answer : answers) {
        CHECK(is_refused(answer, "400"));
    }
    CHECK(answers.size() == 12);
    CHECK(scene.user->requested.empty());
    CHECK(scene.network.looked_up.empty());
}

TEST_CASE("requests that are made to be read in two ways are refused") {
    Scene scene;
    scene.rule(Effect::allow, "example.org");
    std::vector<std::string> answers;
    const std::string url = "http://example.org/";
    scene.play([&]() -> Task<void> {
        for (const std::string& text :
             {"GET " + url + " HTTP/1.1\r\nHost: evil.example\r\n\r\n",
              "GET " + url + " HTTP/1.1\r\nHost: example.org\r\nHost: evil.example\r\n\r\n",
              "GET " + url + " HTTP/1.1\r\n\r\n", std::string("GET / HTTP/1.1\r\nHost: example.org\r\n\r\n"),
              std::string("GET ftp://example.org/ HTTP/1.1\r\nHost: example.org\r\n\r\n"),
              std::string("GET http://user@example.org/ HTTP/1.1\r\nHost: example.org\r\n\r\n"),
              std::string("GET http://evil.example#@example.org/ HTTP/1.1\r\nHost: example.org\r\n\r\n"),
              "POST " + url +
                  " HTTP/1.1\r\nHost: example.org\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
              std::string("CONNECT example.org:443 HTTP/1.1\r\nContent-Length: 5\r\n\r\n"),
              std::string("CONNECT example.org:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
              "GET " + url + " HTTP/1.1\r\nX: " + std::string(70'000, 'x')}) {
            answers.push_back(co_await scene.say(text));
        }
    });
    CHECK(answers.size() == 11);
    for (const std::string& answer : answers) {
        CAPTURE(answer.substr(0, 200));
        const bool refused = is_refused(answer, "400") || is_refused(answer, "403") || is_refused(answer, "431");
        CHECK(refused);
    }
    CHECK(scene.received.empty());
}

TEST_CASE("what comes behind a request is not passed on") {
    Scene scene;
    scene.rule(Effect::allow, "example.org");
    const std::string second = get("http://evil.example/", "evil.example");
    CHECK(scene.said(get("http://example.org/", "example.org") + second) == "the answer");
    CHECK(scene.received.at(0).find("evil.example") == std::string::npos);
    Scene with_body;
    with_body.rule(Effect::allow, "example.org");
    with_body.awaited = "12345";
    CHECK(with_body.said("POST http://example.org/ HTTP/1.1\r\nHost: example.org\r\nContent-Length: 5\r\n\r\n12345" +
                         second) == "the answer");
    CHECK(with_body.received.at(0).ends_with("\r\n\r\n12345"));
}

TEST_CASE("a tunnel is for the host that it was asked for") {
    const std::string alert{"\x15\x03\x03\x00\x02\x02\x31", 7};
    Scene scene;
    scene.rule(Effect::allow, "example.org");
    CHECK(scene.said(connect_to("example.org:443") + client_hello("evil.example")) == established + alert);
    CHECK((scene.received.empty() || scene.received[0].empty()));
    Scene plain;
    plain.rule(Effect::allow, "example.org");
    const std::string answer = plain.said(connect_to("example.org:80") + get("/", "evil.example"));
    CHECK(answer.starts_with(established));
    CHECK(is_refused(answer.substr(established.size()), "403"));
    CHECK((plain.received.empty() || plain.received[0].empty()));
}

TEST_CASE("SOCKS5 leads to the same gate") {
    const std::string greeting{"\5\1\0", 3};
    const std::string request = std::string("\5\1\0\3\x0b", 5) + "example.org" + std::string("\0\x50", 2);
    const std::string accepted = std::string("\5\0", 2) + std::string("\5\0\0\1\0\0\0\0\0\0", 10);
    Scene scene;
    CHECK(scene.said(greeting + request + get("/", "example.org")) == accepted + "the answer");
    CHECK(scene.user->requested.size() == 1);
    Scene denied;
    denied.user->answer = Verdict::deny;
    CHECK(denied.said(greeting + request) == std::string("\5\0\5\2\0\1\0\0\0\0\0\0", 12));
    Scene locked;
    CHECK(locked.said(std::string("\5\1\2", 3)) == std::string("\5\xff", 2));
}

TEST_CASE("who asks at the same time for the same is one question, and a yes to one connection is for one") {
    for (const protocol::Scope scope : {protocol::Scope::session, protocol::Scope::once}) {
        Scene scene;
        scene.user->answer.reset();
        scene.user->scope = scope;
        std::vector<std::string> answers(20);
        scene.play([&]() -> Task<void> {
            TaskScope clients;
            for (std::string& answer : answers) {
                clients.spawn(Stage::keep(&answer, scene.say(get("http://example.org/", "example.org"))));
            }
            while (scene.wanted < 20) {
                co_await scene.loop.yield();
            }
            CHECK(scene.user->requested.size() == 1);
            scene.user->answer = Verdict::allow;
            scene.user->respond(Verdict::allow);
            co_await clients.join();
        });
        for (const std::string& answer : answers) {
            CHECK(answer == "the answer");
        }
        CHECK(scene.user->requested.size() == (scope == protocol::Scope::once ? 20 : 1));
    }
}

TEST_CASE("a question names one program and line, and its answer is for that one") {
    Scene scene;
    scene.user->answer.reset();
    std::vector<std::string> answers(3);
    scene.play([&]() -> Task<void> {
        TaskScope clients;
        clients.spawn(Stage::keep(&answers[0], scene.say(std::string("\0\x03pip", 5) + connect_to("example.org:443"))));
        clients.spawn(
            Stage::keep(&answers[1], scene.say(std::string("\0\x04", 2) + "evil" + connect_to("example.org:443"))));
        clients.spawn(
            Stage::keep(&answers[2], scene.say(std::string("\0\x05", 2) + "7\npip" + connect_to("example.org:443"))));
        while (scene.user->requested.size() < answers.size()) {
            co_await scene.loop.yield();
        }
        for (const protocol::Approval& approval : scene.user->requested) {
            scene.user->respond(Verdict::deny, approval);
        }
        co_await clients.join();
    });
    for (const std::string& answer : answers) {
        CHECK(is_refused(answer, "403"));
    }
    CHECK(scene.user->requested[2].origin->line == 7);
}

TEST_CASE("what all sessions have open is bounded, and who comes last is told") {
    Scene scene;
    scene.rule(Effect::allow, "example.org");
    rlimit most{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &most) == 0);
    std::optional<async::FdReservation> others = async::FdReservation::take(most.rlim_cur / 2 - 2);
    std::optional<async::FdReservation> another = async::FdReservation::take(1);
    REQUIRE(others);
    REQUIRE(another); // and one is left, where a connection takes two
    const std::string answer = scene.said(connect_to("example.org:443"));
    CHECK(answer.starts_with("HTTP/1.1 503 "));
    CHECK(answer.find("too many connections") != std::string::npos);
    CHECK(scene.network.connected.empty());
    another.reset();
    for (int time = 0; time < 3; ++time) { // each gives back what it took
        Scene next;
        next.rule(Effect::allow, "example.org");
        CHECK(next.said(get("http://example.org/", "example.org")) == "the answer");
    }
}

TEST_CASE("a grant for everything does not reach what only a rule can name") {
    Scene scene;
    gate::ExecutionGrants running;
    running.session_id = "session";
    running.execution_id = "execution";
    running.mode = protocol::ApprovalMode::allow;
    scene.gate->begin_execution(std::move(running));
    scene.execution = "execution";
    std::vector<std::string> answers;
    scene.play([&]() -> Task<void> {
        answers.push_back(co_await scene.say(get("http://example.org/", "example.org")));
        answers.push_back(co_await scene.say(connect_to("127.0.0.1:80")));
        answers.push_back(co_await scene.say(connect_to("inside.example:80")));
    });
    CHECK(answers[0] == "the answer"); // the control
    CHECK(is_refused(answers[1], "403"));
    CHECK(is_refused(answers[2], "403"));
}

TEST_CASE("a rule that denies an address holds for the names that lead there") {
    Scene scene;
    scene.rule(Effect::allow, "two.example");
    scene.rule(Effect::deny, "93.184.215.17");
    CHECK(is_refused(scene.said(connect_to("two.example:443")), "403"));
    CHECK(scene.network.connected.empty());
}

TEST_CASE("what an execution was allowed ends with it, and what a rule allows goes on") {
    for (const bool by_rule : {false, true}) {
        CAPTURE(by_rule);
        Scene scene;
        if (by_rule) {
            scene.rule(Effect::allow, "example.org");
        }
        scene.execution = "execution";
        scene.awaited = "never";
        scene.play([&]() -> Task<void> {
            const std::unique_ptr<async::UnixStream> stream =
                co_await async::connect_unix(scene.loop, (scene.folder / "proxy").string());
            stream->write(connect_to("example.org:443"));
            CHECK(co_await stream->read() == established);
            scene.proxy->end_execution("another");
            scene.proxy->end_execution("execution");
            if (by_rule) {
                stream->write(client_hello("example.org"));
                while (scene.received.empty() || scene.received[0].empty()) {
                    co_await scene.loop.yield();
                }
                scene.proxy->close_all();
            }
            CHECK(co_await stream->read() == "");
        });
    }
}

TEST_CASE("a client that ends its request is answered, and one that has gone is not waited for") {
    Scene scene;
    scene.rule(Effect::allow, "example.org");
    std::string answer;
    scene.play([&]() -> Task<void> {
        const std::unique_ptr<async::UnixStream> stream =
            co_await async::connect_unix(scene.loop, (scene.folder / "proxy").string());
        stream->write(get("http://example.org/", "example.org"));
        stream->close_output();
        answer = co_await stream->read();
    });
    CHECK(answer == "the answer");
    Scene quiet;
    quiet.rule(Effect::allow, "example.org");
    quiet.awaited = "never";
    quiet.ignores_the_end = true;
    quiet.play([&]() -> Task<void> {
        {
            const std::unique_ptr<async::UnixStream> stream =
                co_await async::connect_unix(quiet.loop, (quiet.folder / "proxy").string());
            stream->write(connect_to("example.org:443") + client_hello("example.org"));
            while (quiet.received.empty() || quiet.received[0].empty()) {
                co_await quiet.loop.yield();
            }
            stream->close();
        }
        while (quiet.clock.sleepers() == 0) {
            co_await quiet.loop.yield();
        }
        while (quiet.ended == 0) { // the server sees that nobody is there any more
            quiet.clock.advance(std::chrono::seconds(61));
            co_await quiet.loop.yield();
        }
    });
    CHECK(quiet.ended == 1);
}

TEST_CASE("names that no resolver answers for are few at a time, and are given up") {
    Scene scene;
    scene.rule(Effect::allow, "*.stuck.example");
    std::vector<std::string> answers(20);
    scene.play([&]() -> Task<void> {
        TaskScope clients;
        for (std::size_t i = 0; i < answers.size(); ++i) {
            clients.spawn(
                Stage::keep(&answers[i], scene.say(connect_to("n" + std::to_string(i) + ".stuck.example:443"))));
        }
        while (scene.network.looked_up.size() < 4) {
            co_await scene.loop.yield();
        }
        scene.clock.advance(std::chrono::seconds(21));
        while (answers[0].empty()) {
            co_await scene.loop.yield();
        }
        CHECK(scene.network.looked_up.size() == 4);
        scene.network.nothing.set(); // the resolver answers at last, that there is none
        co_await clients.join();
    });
    for (const std::string& answer : answers) {
        CHECK(is_refused(answer, "502"));
    }
}

TEST_CASE("a client that goes withdraws its question") {
    Scene scene;
    scene.user->answer.reset();
    scene.play([&]() -> Task<void> {
        {
            const std::unique_ptr<async::UnixStream> stream =
                co_await async::connect_unix(scene.loop, (scene.folder / "proxy").string());
            stream->write(connect_to("example.org:443"));
            co_await scene.user->asked.wait();
            stream->close();
        }
        while (scene.user->resolved.empty()) {
            co_await scene.loop.yield();
        }
    });
    CHECK(scene.user->resolved.at(0).by == protocol::ResolvedBy::cancelled);
    CHECK(scene.network.looked_up.empty());
}

TEST_CASE("a client that does not say what it wants is not waited for") {
    Scene scene;
    std::string answer = "none";
    scene.play([&]() -> Task<void> {
        TaskScope clients;
        clients.spawn(Stage::keep(&answer, scene.say("GET http://exam")));
        while (scene.clock.sleepers() == 0) {
            co_await scene.loop.yield();
        }
        scene.clock.advance(std::chrono::seconds(31));
        co_await clients.join();
    });
    CHECK(answer.empty());
}

TEST_CASE("an address that does not answer gives way to the next one") {
    Scene scene;
    scene.network.deaf = "93.184.215.16";
    std::string answer;
    scene.play([&]() -> Task<void> {
        TaskScope clients;
        clients.spawn(Stage::keep(&answer, scene.say(get("http://two.example/", "two.example"))));
        while (scene.network.connected.empty()) {
            co_await scene.loop.yield();
        }
        scene.clock.advance(std::chrono::seconds(16));
        co_await clients.join();
    });
    CHECK(answer == "the answer");
    CHECK(scene.network.connected == std::vector<std::string>{"93.184.215.16:80", "93.184.215.17:80"});
}

TEST_CASE("ten thousand connections are served a few at a time") {
    Scene scene;
    scene.rule(Effect::allow, "example.org");
    constexpr int all = 10'000;
    int answered = 0;
    Event let_go;
    scene.network.hold = &let_go;
    std::size_t at_once_with_all_waiting = 0;
    scene.play([&]() -> Task<void> {
        TaskScope clients;
        const auto connection = [&]() -> Task<void> {
            const std::string answer = co_await scene.say(get("http://example.org/", "example.org"));
            answered += answer == "the answer" ? 1 : 0;
        };
        const auto many = [&](int count) -> Task<void> {
            for (int i = 0; i < count; ++i) {
                co_await connection();
            }
        };
        constexpr int at_once = 400; // as many as descriptors allow
        for (int i = 0; i < at_once; ++i) {
            clients.spawn(many(all / at_once));
        }
        while (scene.network.connected.size() < 64) {
            co_await scene.loop.yield();
        }
        for (int i = 0; i < 1000; ++i) { // time enough for one more
            co_await scene.loop.yield();
        }
        at_once_with_all_waiting = scene.network.connected.size();
        let_go.set();
        co_await clients.join();
    });
    CHECK(answered == all);
    CHECK(at_once_with_all_waiting == 64);
}
