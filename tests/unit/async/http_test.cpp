#include "async/http.hpp"
#include "helpers.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

using namespace cellgate;
using namespace cellgate::async;

namespace {

// tests/fixtures/http_server.py, which answers by the path.
class Server {
  public:
    explicit Server(Loop& loop, std::vector<std::string> arguments = {}) {
        Command command;
        command.argv = {"/usr/bin/python3", "-B", CELLGATE_FIXTURES "/http_server.py"};
        command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
        command.environment = {{"PATH", "/usr/bin:/bin"}};
        process_ = start_process(loop, std::move(command));
        scheme_ = arguments.empty() ? "http" : "https";
    }

    // What it says next.
    Task<std::string> line() {
        std::size_t end = said_.find('\n');
        while (end == std::string::npos) {
            const std::string bytes = co_await process_->stdio().read();
            if (bytes.empty()) {
                co_return "it has ended: " + process_->stderr_tail();
            }
            said_ += bytes;
            end = said_.find('\n');
        }
        std::string line = said_.substr(0, end);
        said_.erase(0, end + 1);
        co_return line;
    }
    Task<void> listen() { port_ = co_await line(); }
    void go_on() { process_->stdio().write("\n"); }
    HttpRequest request(const std::string& path) const {
        HttpRequest made;
        made.url = fmt::format("{}://127.0.0.1:{}{}", scheme_, port_, path);
        return made;
    }
    Task<void> end() { co_await process_->stop(Duration::zero()); }

  private:
    std::unique_ptr<Process> process_;
    std::string scheme_;
    std::string said_;
    std::string port_;
};

struct Fixture {
    Loop loop;
    std::optional<Server> server;
    std::optional<HttpClient> http;

    void run(Task<void> (*scene)(Fixture*), std::vector<std::string> arguments = {}) {
        loop.run(whole(scene, std::move(arguments)));
    }
    Task<void> whole(Task<void> (*scene)(Fixture*), std::vector<std::string> arguments) {
        server.emplace(loop, std::move(arguments));
        http.emplace(loop);
        co_await server->listen();
        std::exception_ptr error;
        try {
            co_await scene(this);
        } catch (...) {
            error = std::current_exception();
        }
        http.reset();
        co_await server->end();
        if (error) {
            std::rethrow_exception(error);
        }
    }
};

Task<std::string> read_all(HttpExchange* exchange) {
    std::string all;
    std::string bytes = co_await exchange->read();
    while (!bytes.empty()) {
        all += bytes;
        bytes = co_await exchange->read();
    }
    co_return all;
}

// The body, or what is wrong.
Task<std::string> answer_of(HttpExchange* exchange) {
    try {
        co_await exchange->head();
        co_return co_await read_all(exchange);
    } catch (const Error& error) {
        co_return "error: " + error.message;
    }
}

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

Task<void> ordinary(Fixture* fixture) {
    HttpRequest request = fixture->server->request("/echo");
    request.method = "POST";
    request.body = std::string(5000, 'b');
    request.fields = {{"X-Field", "a"}};
    const auto exchange = fixture->http->start(std::move(request));
    const HttpHead head = co_await exchange->head();
    CHECK(head.status == 200);
    CHECK(head.field("x-name") == "a value");
    CHECK_FALSE(head.field("x-other"));
    const std::string body = co_await read_all(exchange.get());
    CHECK(body == "POST a - " + std::string(5000, 'b')); // no Expect, and the interim head was none
    const auto second = fixture->http->start(fixture->server->request("/echo"));
    const std::string again = co_await answer_of(second.get());
    CHECK(again == "GET  - ");
}

Task<void> in_pieces(Fixture* fixture) {
    const auto exchange = fixture->http->start(fixture->server->request("/pieces"));
    const HttpHead head = co_await exchange->head();
    CHECK(head.field("content-type") == "text/event-stream");
    for (const char* piece : {"one", "two"}) {
        const std::string bytes = co_await exchange->read();
        CHECK(bytes == piece);
        fixture->server->go_on();
    }
    const std::string rest = co_await read_all(exchange.get());
    CHECK(rest == "three");
}

Task<void> redirect(Fixture* fixture) {
    const auto exchange = fixture->http->start(fixture->server->request("/elsewhere"));
    const HttpHead head = co_await exchange->head();
    CHECK(head.status == 302);
    CHECK(head.field("location") == "/secret");
    CHECK((co_await answer_of(exchange.get())).empty());
    const auto after = fixture->http->start(fixture->server->request("/echo"));
    co_await answer_of(after.get());
    CHECK(co_await fixture->server->line() == "GET /elsewhere ");
    CHECK(co_await fixture->server->line() == "GET /echo ");
}

Task<void> bad_answers(Fixture* fixture) {
    const std::pair<const char*, const char*> cases[] = {
        {"/endless-head", "expected the head of an answer within 65536 bytes"},
        {"/interim", "expected the head of an answer within 65536 bytes"},
        {"/cut", "the answer of 127.0.0.1 was cut off: "},
        {"/nothing", "cannot reach 127.0.0.1: Empty reply from server"}};
    for (const auto& [path, expected] : cases) {
        const auto exchange = fixture->http->start(fixture->server->request(path));
        const std::string answer = co_await answer_of(exchange.get());
        CHECK_MESSAGE(has(answer, expected), path, ": ", answer);
    }
    HttpRequest refused;
    refused.url = "http://127.0.0.1:1/";
    const auto exchange = fixture->http->start(std::move(refused));
    CHECK(has(co_await answer_of(exchange.get()), "cannot reach 127.0.0.1: "));
    HttpRequest unknown;
    unknown.url = "http://nothing.invalid/";
    const auto nowhere = fixture->http->start(std::move(unknown));
    CHECK(has(co_await answer_of(nowhere.get()), "cannot reach nothing.invalid: "));
}

Task<void> unread_body(Fixture* fixture) {
    const auto exchange = fixture->http->start(fixture->server->request("/large"));
    co_await exchange->head();
    CHECK(co_await fixture->server->line() == "GET /large ");
    const std::string blocked = co_await fixture->server->line();
    REQUIRE(blocked.starts_with("blocked "));
    // What the sockets hold comes to it; a control that reads takes all.
    CHECK(std::stoull(blocked.substr(8)) < (std::size_t{64} << 20));
    const std::string first = co_await exchange->read();
    CHECK(first.size() <= HttpClient::max_unread_bytes);
    std::size_t total = first.size();
    fixture->server->go_on();
    while (total < (std::size_t{100} << 20)) { // it goes on
        const std::string bytes = co_await exchange->read();
        REQUIRE(!bytes.empty());
        total += bytes.size();
    }
}

Task<void> given_up(Fixture* fixture) {
    CHECK_THROWS_AS(fixture->http->start(HttpRequest{"GET", "file:///etc/passwd", {}, {}}), Error);
    CHECK_THROWS_AS(fixture->http->start(HttpRequest{"GET", "127.0.0.1", {}, {}}), Error);
    for (const auto& [name, value] :
         HttpFields{{"a b", "x"}, {"", "x"}, {"a", "x\r\nb: c"}, {"a\n", "x"}, {"a", "x\n"}}) {
        HttpRequest request = fixture->server->request("/echo");
        request.fields = {{name, value}};
        CHECK_THROWS_AS(fixture->http->start(std::move(request)), Error);
    }
    auto exchange = fixture->http->start(fixture->server->request("/hang"));
    TaskScope tasks;
    std::string answer;
    const auto keep = [](std::string* kept, HttpExchange* from) -> Task<void> {
        try {
            co_await from->head();
        } catch (const Cancelled&) {
            *kept = "cancelled";
        }
    };
    const std::shared_ptr<CancelState> task = tasks.spawn(keep(&answer, exchange.get()));
    CHECK(co_await fixture->server->line() == "GET /hang ");
    task->cancel();
    co_await tasks.join();
    CHECK(answer == "cancelled");
    exchange.reset();
    CHECK(co_await fixture->server->line() == "ended");

    std::vector<std::unique_ptr<HttpExchange>> many;
    for (int i = 0; i < 50; ++i) {
        many.push_back(fixture->http->start(fixture->server->request("/echo")));
    }
    for (const auto& each : many) {
        CHECK(co_await answer_of(each.get()) == "GET  - ");
    }
    const auto left = fixture->http->start(fixture->server->request("/hang"));
    fixture->http.reset();
    CHECK(co_await answer_of(left.get()) == "error: the HTTP client has ended");
}

Task<void> tls_refused(Fixture* fixture) {
    const auto exchange = fixture->http->start(fixture->server->request("/echo"));
    const std::string answer = co_await answer_of(exchange.get());
    CHECK_MESSAGE(has(answer, "certificate"), answer);
}

Task<void> tls_accepted(Fixture* fixture) {
    const auto exchange = fixture->http->start(fixture->server->request("/echo"));
    CHECK(co_await answer_of(exchange.get()) == "GET  - ");
}

} // namespace

TEST_CASE("a request is answered, with a body, and connections are used again") {
    Fixture().run(ordinary);
}

TEST_CASE("what a server sends over time can be read as it comes") {
    Fixture().run(in_pieces);
}

TEST_CASE("a redirect is not followed") {
    Fixture().run(redirect);
}

TEST_CASE("an answer that is broken, cut off, endless or missing is an error that names the host") {
    Fixture().run(bad_answers);
}

TEST_CASE("a body that is not read does not fill the memory") {
    Fixture().run(unread_body);
}

TEST_CASE("what would break a request is refused, and what is given up ends at the server") {
    Fixture().run(given_up);
}

TEST_CASE("a certificate that no authority signed is refused, unless the user trusts it") {
    TempFolder folder;
    const std::string certificate = folder.at("certificate");
    const std::string key = folder.at("key");
    const std::string make =
        fmt::format("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
                    "-subj /CN=here -addext subjectAltName=IP:127.0.0.1 -out {} -keyout {} 2>/dev/null",
                    certificate, key);
    REQUIRE(std::system(make.c_str()) == 0);
    Fixture().run(tls_refused, {certificate, key});
    ::setenv("SSL_CERT_FILE", certificate.c_str(), 1);
    Fixture().run(tls_accepted, {certificate, key});
    ::unsetenv("SSL_CERT_FILE");
}
