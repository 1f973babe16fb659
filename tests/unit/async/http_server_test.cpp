// The HTTP server, with our HTTP client.

#include "async/http_server.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace cellgate;
using namespace cellgate::async;

namespace {

// Answers with what it got; /stream with a stream that the test writes.
struct Handler final : HttpHandler {
    std::optional<ServedReply> refuse(const ServedRequest& head) override {
        return head.path == "/refused" ? std::optional(ServedReply{403}) : std::nullopt;
    }
    Task<void> answer(ServedRequest request, std::shared_ptr<HttpResponder> responder) override {
        if (request.path == "/stream") {
            stream = responder;
            responder->on_gone([this] { gone.set(); });
            responder->begin_stream({{"Content-Type", "text/plain"}});
            begun.set();
            co_await released.wait();
        } else if (request.path != "/nothing") {
            const std::string field = request.only("x-field").value_or("none");
            responder->reply({200, {{"X-Field", field}}, request.method + " " + request.body});
        }
    }
    std::shared_ptr<HttpResponder> stream;
    Event begun;
    Event gone;
    Event released;
};

struct Fixture {
    Loop loop;
    Handler handler;
    std::optional<HttpServer> server;
    std::optional<HttpClient> http;

    std::unique_ptr<HttpExchange> start(const std::string& path, const std::string& body = "") {
        HttpRequest request;
        request.method = body.empty() ? "GET" : "POST";
        request.url = fmt::format("http://127.0.0.1:{}{}", server->port(), path);
        request.fields = {{"X-Field", " a  b "}};
        request.body = body;
        return http->start(std::move(request));
    }
    void run(Task<void> (*scene)(Fixture*)) { loop.run(whole(scene)); }
    Task<void> whole(Task<void> (*scene)(Fixture*)) {
        HttpServerOptions options;
        options.endpoint = Endpoint{*parse_host("127.0.0.1"), 0};
        options.max_body_bytes = 100'000;
        server.emplace(loop, std::move(options));
        server->serve(handler);
        http.emplace(loop);
        std::exception_ptr error;
        try {
            co_await scene(this);
        } catch (...) {
            error = std::current_exception();
        }
        co_await server->close();
        http.reset();
        if (error) {
            std::rethrow_exception(error);
        }
    }
};

Task<std::string> whole_body(HttpExchange* exchange) {
    std::string body;
    for (std::string bytes = co_await exchange->read(); !bytes.empty(); bytes = co_await exchange->read()) {
        body += bytes;
    }
    co_return body;
}

Task<void> whole_answers(Fixture* fixture) {
    const std::unique_ptr<HttpExchange> get = fixture->start("/a?b=c");
    const HttpHead head = co_await get->head();
    CHECK(head.status == 200);
    CHECK(head.field("x-field") == "a  b");
    const std::string nothing = co_await whole_body(get.get());
    CHECK(nothing == "GET ");
    const std::string longest(100'000, 'x');
    const std::unique_ptr<HttpExchange> post = fixture->start("/", longest);
    const std::string back = co_await whole_body(post.get());
    CHECK(back == "POST " + longest);
    for (const auto& [path, body, status] : {std::tuple{"/refused", "x", 403}, std::tuple{"/nothing", "x", 500}}) {
        const std::unique_ptr<HttpExchange> refused = fixture->start(path, body);
        const HttpHead answer = co_await refused->head();
        CHECK(answer.status == status);
    }
}

Task<void> streams(Fixture* fixture) {
    const std::unique_ptr<HttpExchange> exchange = fixture->start("/stream");
    const HttpHead head = co_await exchange->head();
    CHECK(head.field("content-type") == "text/plain");
    for (const std::string& part : {std::string("one"), std::string(1'000'000, 'y')}) {
        TaskScope writing;
        writing.spawn(fixture->handler.stream->write(part));
        std::string got;
        while (got.size() < part.size()) {
            got += co_await exchange->read();
        }
        CHECK(got == part);
        co_await writing.join();
    }
    fixture->handler.released.set(); // which ends it
    const std::string end = co_await exchange->read();
    CHECK(end.empty());
    CHECK_FALSE(fixture->handler.gone.is_set());
}

Task<void> a_client_goes(Fixture* fixture) {
    std::unique_ptr<HttpExchange> exchange = fixture->start("/stream");
    co_await exchange->head();
    CHECK_FALSE(fixture->handler.stream->is_gone());
    exchange.reset();
    co_await fixture->handler.gone.wait();
    CHECK(fixture->handler.stream->is_gone());
    std::string bytes(10'000'000, 'x');
    co_await fixture->handler.stream->write(std::move(bytes)); // does not wait
}

Task<void> it_closes(Fixture* fixture) {
    const std::unique_ptr<HttpExchange> exchange = fixture->start("/stream");
    co_await exchange->head();
}

} // namespace

TEST_CASE("a request has a whole answer, whatever its handler does") {
    Fixture fixture;
    fixture.run(whole_answers);
}

TEST_CASE("a stream is sent as it is written, and ends when its handler does") {
    Fixture fixture;
    fixture.run(streams);
}

TEST_CASE("a handler learns that its client is gone while there is nothing to send") {
    Fixture fixture;
    fixture.run(a_client_goes);
}

TEST_CASE("a server closes while streams are open") {
    Fixture fixture;
    fixture.run(it_closes);
    CHECK(fixture.handler.stream->is_gone());
}
