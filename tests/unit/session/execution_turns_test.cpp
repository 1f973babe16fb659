#include "session/execution_turns.hpp"

#include <doctest/doctest.h>

#include <string>

using cellgate::session::ExecutionTurns;

namespace {

struct Line {
    explicit Line(std::size_t at_a_time) : turns(at_a_time) {}
    std::unique_ptr<ExecutionTurns::Turn> ask(const std::string& name) {
        return turns.ask([this, name] { came += name; });
    }
    ExecutionTurns turns;
    std::string came; // of those that had to wait
};

} // namespace

TEST_CASE("turns come in the order in which they were asked for, so many at a time") {
    Line line(2);
    auto a = line.ask("a");
    auto b = line.ask("b");
    auto c = line.ask("c");
    auto d = line.ask("d");
    CHECK(a->has_come());
    CHECK(b->has_come());
    CHECK_FALSE(c->has_come());
    CHECK(c->behind() == 2);
    CHECK(d->behind() == 3);
    b.reset();
    CHECK(line.came == "c");
    CHECK(d->behind() == 2);
    a.reset();
    c.reset();
    CHECK(line.came == "cd");
}

TEST_CASE("who gives up leaves the line") {
    Line line(1);
    auto a = line.ask("a");
    auto b = line.ask("b");
    auto c = line.ask("c");
    b.reset();
    CHECK(c->behind() == 1);
    a.reset();
    CHECK(line.came == "c");
}

TEST_CASE("who waits for a user does not count, and goes on without a further turn") {
    Line line(1);
    auto a = line.ask("a");
    auto b = line.ask("b");
    auto c = line.ask("c");
    a->set_waits_for_user(true);
    a->set_waits_for_user(true);
    CHECK(line.came == "b");
    a->set_waits_for_user(false);
    CHECK(c->behind() == 2);
    b.reset();
    CHECK(line.came == "b"); // a runs
    a->set_waits_for_user(true);
    CHECK(line.came == "bc");
    a.reset(); // counts no more
    auto d = line.ask("d");
    CHECK(d->behind() == 1);
}

TEST_CASE("a turn that comes may end at once") {
    ExecutionTurns turns(1);
    auto first = turns.ask([] {});
    std::unique_ptr<ExecutionTurns::Turn> second;
    second = turns.ask([&second] { second.reset(); });
    std::string came;
    auto third = turns.ask([&came] { came = "third"; });
    first.reset();
    CHECK(came == "third");
    CHECK(third->has_come());
}
