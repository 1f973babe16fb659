#include "base/fake_clock.hpp"
#include "base/run_blocking.hpp"
#include "session/execution_queue.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::session;

namespace {

struct Fixture {
    std::shared_ptr<Execution> made(const std::string& id, ClientId client = 1, std::size_t code_bytes = 1) {
        protocol::ExecuteParams params;
        params.code = std::string(code_bytes, 'x');
        return std::make_shared<Execution>(id, std::move(params), client, "s", journals, clock);
    }
    void push(const std::string& id, ClientId client = 1, std::size_t code_bytes = 1) {
        queue.require_space(id, code_bytes);
        queue.push(made(id, client, code_bytes));
    }
    void end_running() {
        const std::shared_ptr<Execution> running = queue.running();
        queue.release();
        queue.keep(*running);
    }
    std::string ids() const {
        std::string text;
        for (const std::shared_ptr<Execution>& execution : queue.all()) {
            text += execution->id + " ";
        }
        return text;
    }

    TempFolder folder;
    FakeClock clock;
    store::Journals journals{folder.path, run_inline};
    ExecutionQueue queue{"s"};
};

} // namespace

TEST_CASE("executions run in their order, and positions count the running one") {
    Fixture fixture;
    ExecutionQueue& queue = fixture.queue;
    CHECK(queue.push(fixture.made("a")) == 0);
    CHECK(queue.push(fixture.made("b")) == 1);
    CHECK(queue.take()->id == "a");
    CHECK(queue.push(fixture.made("c")) == 2);
    CHECK(queue.position(*queue.find("a")) == std::nullopt);
    CHECK(queue.position(*queue.find("b")) == 1);
    CHECK(queue.latest()->id == "a");
    fixture.end_running();
    CHECK(queue.latest()->id == "a");
    CHECK(queue.position(*queue.find("b")) == 0);
    CHECK(fixture.ids() == "a b c ");
}

TEST_CASE("only the executions of one client are removed, and their code no longer counts") {
    Fixture fixture;
    ExecutionQueue& queue = fixture.queue;
    constexpr std::size_t half = std::size_t{16} << 20;
    fixture.push("a", 1, half);
    fixture.push("b", 2, half);
    CHECK_THROWS_AS(queue.require_space("c", 1), Error);
    const std::vector<std::shared_ptr<Execution>> removed = queue.remove_all(1);
    REQUIRE(removed.size() == 1);
    CHECK(removed.front()->id == "a");
    CHECK_NOTHROW(queue.require_space("c", half));
    CHECK(queue.size() == 1);
}

TEST_CASE("an id is used once, as long as its execution is kept; the oldest finished ones are dropped") {
    Fixture fixture;
    ExecutionQueue& queue = fixture.queue;
    for (int i = 0; i < 1001; ++i) {
        fixture.push(std::to_string(i));
        queue.take();
        CHECK_THROWS_AS(queue.require_space(std::to_string(i), 1), Error);
        fixture.end_running();
    }
    CHECK_NOTHROW(queue.require_space("0", 1));
    CHECK_FALSE(queue.find("0"));
    CHECK_THROWS_AS(queue.require_space("1", 1), Error);
    CHECK(queue.all().size() == 1000);
}

TEST_CASE("another agent's execution is found whether it waits or runs") {
    Fixture fixture;
    ExecutionQueue& queue = fixture.queue;
    gate::Agent one;
    one.client = 1;
    gate::Agent other;
    other.client = 2;
    fixture.push("a");
    CHECK_FALSE(queue.has_other_agent(one));
    queue.find("a")->agent = one;
    CHECK_FALSE(queue.has_other_agent(one));
    CHECK(queue.has_other_agent(other));
    queue.take();
    CHECK(queue.has_other_agent(other));
    fixture.end_running();
    CHECK_FALSE(queue.has_other_agent(other));
}
