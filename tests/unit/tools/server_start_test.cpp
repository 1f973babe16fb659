#include "http_address.hpp"
#include "tools_fixture.hpp"

#include <utility>

using namespace tools_fixture;
using namespace std::chrono_literals;

namespace {

Task<void> say_that_it_serves_http(Fixture* fixture, FakeClock* clock) {
    fixture->add(fixture->fixture("s", {"--silent", "--say", "MCP Streamable HTTP Server listening on port 3001"}));
    const auto call = fixture->start_call("s", "tool-1", R"({"s":"x"})");
    CHECK(co_await fixture->until([&fixture] { return has(fixture->registry->log("s"), "3001"); }));
    CHECK(co_await fixture->until([&clock] { return clock->sleepers() == 2; }));
    clock->advance(4s);
    CHECK_FALSE(call->done.is_set());
    clock->advance(1s);
    co_await call->done.wait();
    CHECK_MESSAGE(has(call->text(), "serves HTTP, and said nothing on its stdout"), call->text());
    CHECK_MESSAGE(has(call->error->hint, "--url http://localhost:3001/mcp"), call->error->hint);
}

Task<void> start_beside_a_broken_one(Fixture* fixture) {
    write_text(fixture->workspace / "broken.json", "{");
    tools::ServerSpec broken = fixture->fixture("broken");
    broken.config.sandbox.emplace();
    broken.config.sandbox->isolated = true;
    broken.config.sandbox->config_file = "broken.json";
    fixture->registry->add({broken, fixture->fixture("whole")});
    const auto works = co_await fixture->call("whole", "tool-1", R"({"s":"x"})");
    CHECK_MESSAGE(works->result, works->text());
    const auto refused = co_await fixture->call("broken", "tool-1", R"({"s":"x"})");
    CHECK(refused->code() == ErrorCode::config_invalid);
    CHECK_MESSAGE(has(refused->text(), "the tool server \"broken\" cannot be used: "), refused->text());
    CHECK(has(refused->text(), "broken.json"));
    const protocol::ToolServerInfo info = fixture->registry->info("broken");
    CHECK(info.state == protocol::ToolServerState::failed);
    CHECK(has(info.error.value(), "broken.json"));
    CHECK_THROWS_AS(fixture->registry->require_startable("broken"), Error);
}

} // namespace

TEST_CASE("a program that serves HTTP is given up after five seconds, with the URL that it names") {
    FakeClock clock;
    Fixture fixture;
    fixture.start_registry(clock);
    fixture.run(say_that_it_serves_http(&fixture, &clock));
}

TEST_CASE("a settings file that cannot be read names its server and stops no other") {
    Fixture fixture;
    fixture.run(start_beside_a_broken_one(&fixture));
}

TEST_CASE("where a server says that it serves HTTP is found in what it prints") {
    for (const auto& [output, address] : std::initializer_list<std::pair<const char*, const char*>>{
             {"MCP Streamable HTTP Server listening on port 3001", "http://localhost:3001/mcp"},
             {"Starting\nServer is running on port: 8080\n", "http://localhost:8080/mcp"},
             {"Listening on http://localhost:8931\nPut this in your client config", "http://localhost:8931/mcp"},
             {"INFO:  Uvicorn running on http://127.0.0.1:8000 (Press CTRL+C to quit)", "http://127.0.0.1:8000/mcp"},
             {"with transport 'sse' on http://127.0.0.1:8000/sse", "http://127.0.0.1:8000/sse"},
             {"Dashboard started at http://127.0.0.1:24282/dashboard", ""},
             {"see https://example.org/docs for what it does", ""},
             {"listening for events", ""},
             {"", ""},
         }) {
        CAPTURE(output);
        CHECK(tools::http_address_in(output) == address);
    }
}
