// What becomes of requests that were on their way when the connection was cut, over a transport that the test plays.

#include "base/fake_clock.hpp"
#include "execution_count.hpp"
#include "reconnect_delay.hpp"
#include "support.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::jupyter;
using namespace cellgate::jupyter::test;

namespace {

struct Sent {
    std::string type;
    std::string msg_id;
};

struct PlayedTransport final : KernelTransport {
    explicit PlayedTransport(std::shared_ptr<std::vector<Sent>> sent_in, TransportListener** listener_in)
        : sent(std::move(sent_in)), listener(listener_in) {}
    void start(TransportListener& started) override { *listener = &started; }
    void send(Channel, const Header& header, std::string_view, std::string_view) override {
        sent->push_back({header.msg_type, header.msg_id});
    }
    std::string silence() const override { return {}; }
    Task<void> close() override { co_return; }
    std::shared_ptr<std::vector<Sent>> sent;
    TransportListener** listener;
};

struct Cut {
    Cut() : client(clock, std::make_unique<PlayedTransport>(sent, &listener), recorder) {}

    void reply(const std::string& type, const std::string& parent, const std::string& content) {
        WireMessage message;
        message.header.msg_type = type;
        message.parent_id = parent;
        message.content = content;
        listener->on_message(Channel::shell, std::move(message));
    }
    void ran(const std::string& parent, int number) {
        reply("execute_reply", parent, fmt::format(R"({{"status":"ok","execution_count":{}}})", number));
    }
    void state(const std::string& parent, const std::string& state) {
        WireMessage message;
        message.header.msg_type = "status";
        message.parent_id = parent;
        message.content = R"({"execution_state":")" + state + "\"}";
        listener->on_message(Channel::iopub, std::move(message));
    }
    // The connection is made again, and its first request answered.
    void connect_again() {
        listener->on_cut();
        listener->on_connected();
        const std::string greeting = sent->back().msg_id;
        state(greeting, "idle");
        reply("kernel_info_reply", greeting, "{}");
    }

    async::Loop loop;
    FakeClock clock;
    Recorder recorder;
    std::shared_ptr<std::vector<Sent>> sent = std::make_shared<std::vector<Sent>>();
    TransportListener* listener = nullptr;
    KernelClient client;
};

struct CutOutcome {
    std::optional<ExecuteReply> reply;
    Event ended;
};

Task<void> execute_over_cut(Cut* cut, std::string id, CutOutcome* outcome) {
    ExecuteRequest request = code(std::move(id), "x");
    outcome->reply = co_await cut->client.execute(std::move(request));
    outcome->ended.set();
}

Task<void> until_sent(Cut* cut, std::size_t count) {
    while (cut->sent->size() < count) {
        co_await cut->loop.yield();
    }
}

// Executions whose replies have these numbers, then one that is cut; `now`: the number that the kernel has then.
Task<void> cut_after(Cut* cut, std::vector<int> numbers, int now, CutOutcome* outcome, TaskScope* scope) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const std::string id = fmt::format("cell-{}", i);
        CutOutcome before;
        scope->spawn(execute_over_cut(cut, id, &before));
        co_await until_sent(cut, i + 1);
        cut->ran(id, numbers[i]);
        cut->state(id, "idle");
        co_await before.ended.wait();
    }
    scope->spawn(execute_over_cut(cut, "cut", outcome));
    co_await until_sent(cut, numbers.size() + 1);
    REQUIRE(cut->sent->back().msg_id == "cut");
    cut->connect_again();
    co_await until_sent(cut, numbers.size() + 3);
    REQUIRE(cut->sent->back().type == "execute_request");
    REQUIRE(cut->sent->back().msg_id != "cut");
    cut->ran(cut->sent->back().msg_id, now);
}

Task<void> not_arrived(Cut* cut, TaskScope* scope) {
    CutOutcome outcome;
    const std::vector<int> numbers{1, 2};
    co_await cut_after(cut, numbers, 2, &outcome, scope);
    co_await until_sent(cut, 6);
    CHECK(cut->sent->back().msg_id == "cut");
    CHECK(cut->sent->back().type == "execute_request");
    CHECK_FALSE(outcome.ended.is_set());
    cut->state("cut", "busy");
    cut->ran("cut", 3);
    cut->state("cut", "idle");
    co_await outcome.ended.wait();
    CHECK(outcome.reply->status == ExecuteStatus::ok);
    CHECK(outcome.reply->execution_count == 3);
    CHECK(cut->sent->size() == 6);
}

template <int... Numbers>
Task<void> ends_with(Cut* cut, TaskScope* scope, int now, std::string ename) {
    CutOutcome outcome;
    const std::vector<int> numbers{Numbers...};
    co_await cut_after(cut, numbers, now, &outcome, scope);
    co_await outcome.ended.wait();
    CHECK(outcome.reply->error->ename == ename);
    CHECK(cut->sent->size() == numbers.size() + 3); // never again
}

Task<void> arrived(Cut* cut, TaskScope* scope) {
    co_await ends_with<1, 2>(cut, scope, 3, "ReplyLost");
}
Task<void> first_cell(Cut* cut, TaskScope* scope) {
    co_await ends_with<>(cut, scope, 1, "ConnectionCut");
}
Task<void> no_count(Cut* cut, TaskScope* scope) {
    co_await ends_with<1, 1, 1>(cut, scope, 1, "ConnectionCut");
}
Task<void> others_ran(Cut* cut, TaskScope* scope) {
    co_await ends_with<1, 2>(cut, scope, 4, "ConnectionCut");
}
Task<void> began_again(Cut* cut, TaskScope* scope) {
    co_await ends_with<1, 2>(cut, scope, 1, "ConnectionCut");
}

Task<void> query_over_cut(Cut* cut, TaskScope* scope) {
    std::string reply;
    const auto ask = [](Cut* asked, std::string* answer) -> Task<void> {
        KernelQuery query{"complete", "{}"};
        *answer = co_await asked->client.ask(std::move(query), asked->clock.now() + std::chrono::hours(1));
    };
    scope->spawn(ask(cut, &reply));
    co_await until_sent(cut, 1);
    const Sent first = cut->sent->back();
    cut->connect_again();
    REQUIRE(cut->sent->size() == 3);
    CHECK(cut->sent->back().type == "complete_request");
    CHECK(cut->sent->back().msg_id == first.msg_id);
    cut->reply("complete_reply", first.msg_id, R"({"a":1})");
    co_await scope->join();
    CHECK(reply == R"({"a":1})");
}

int said_cuts(Cut* cut) {
    const std::string said = cut->recorder.stream_text("stderr");
    int times = 0;
    for (std::size_t at = said.find("made again"); at != std::string::npos; at = said.find("made again", at + 1)) {
        ++times;
    }
    return times;
}

Task<void> cut_at_once(Cut* cut, TaskScope* scope) {
    CutOutcome outcome;
    scope->spawn(execute_over_cut(cut, "cell", &outcome));
    co_await until_sent(cut, 1);
    for (int i = 0; i < 5; ++i) {
        cut->listener->on_cut();
        cut->listener->on_connected();
    }
    CHECK(said_cuts(cut) == 1);
    cut->ran("cell", 1);
    cut->state("cell", "idle");
    cut->connect_again();
    CHECK(said_cuts(cut) == 1);
    cut->connect_again();
    CHECK(said_cuts(cut) == 2);
    co_await outcome.ended.wait();
}

using CutScene = Task<void> (*)(Cut* cut, TaskScope* scope);
Task<void> play_cut(Cut* cut, CutScene scene) {
    TaskScope scope;
    co_await scene(cut, &scope);
    co_await scope.join();
    co_await cut->client.close();
}
void run_cut(CutScene scene) {
    Cut cut;
    cut.loop.run(play_cut(&cut, scene));
}

} // namespace

TEST_CASE("a request that did not arrive before a cut is sent again, once") {
    run_cut(not_arrived);
}

TEST_CASE("a request that ran before a cut is not sent again, and is said to have run") {
    run_cut(arrived);
}

TEST_CASE("a request of which a kernel's number says nothing is not sent again") {
    SUBCASE("no number is known") {
        run_cut(first_cell);
    }
    SUBCASE("it does not rise") {
        run_cut(no_count);
    }
    SUBCASE("other code ran") {
        run_cut(others_ran);
    }
    SUBCASE("it began again") {
        run_cut(began_again);
    }
}

TEST_CASE("a query that a cut may have lost is asked again") {
    run_cut(query_over_cut);
}

TEST_CASE("code that does not count is never taken for lost on its way") {
    ExecutionCount count;
    count.replied(1);
    count.replied(2);
    CHECK(count.fate(2, false, true) == Fate::not_arrived);
    CHECK(count.fate(2, false, false) == Fate::unknown);
    CHECK(count.fate(2, true, true) == Fate::ran);
}

TEST_CASE("connections that drop at once are one notice, until one works") {
    run_cut(cut_at_once);
}

TEST_CASE("a connection is made again at once, then later and later, at most every ten seconds") {
    using namespace std::chrono_literals;
    ReconnectDelay delay;
    CHECK(delay.next(ReconnectDelay::has_worked(1s, true)) == 0s);
    for (const Duration expected : {50ms, 100ms, 200ms, 400ms, 800ms, 1600ms, 3200ms, 6400ms, 10'000ms, 10'000ms}) {
        CHECK(delay.next(ReconnectDelay::has_worked(1s, false)) == expected);
    }
    CHECK(delay.next(ReconnectDelay::has_worked(10s, false)) == 0s);
    CHECK(delay.next(false) == 50ms);
}
