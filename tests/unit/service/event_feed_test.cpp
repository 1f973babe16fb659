#include "base/fake_clock.hpp"
#include "event_feed.hpp"
#include "service_fixture.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <vector>

using namespace cellgate;
using namespace cellgate::service;
using namespace std::chrono_literals;

namespace {

using Numbers = std::vector<std::int64_t>;

// The record of a workspace, and what happens in it.
struct Activity {
    TempFolder folder{"/dev/shm"}; // where synchronising takes no time
    std::string directory = (folder.path / "record").string();
    FakeClock clock;
    ActivityRecord activity{clock, run_inline, directory, {}};
    TaskScope closing;

    ~Activity() {
        closing.spawn(activity.close());
        REQUIRE(closing.running() == 0);
    }
    // An entry of type login.ended.
    void log_in(const std::string& server) {
        protocol::ToolServersLoginEndedParams ended;
        ended.server = server;
        ended.status = protocol::LoginStatus::granted;
        activity.login_ended(ended);
    }
    // An entry of type policy.removed.
    void remove_rule() { activity.rule_removed("r1"); }
    // Entries of types session.created and kernel.started.
    void start_session(const std::string& id) {
        protocol::SessionInfo session;
        session.session_id = id;
        activity.session_started(session);
    }
};

// A client that subscribes.
struct Subscriber {
    service_fixture::ConnectionPair pair;
    protocol::Peer peer{pair.ours, protocol::Dialect::editor};
    TaskScope tasks;
    EventFeed feed;

    explicit Subscriber(Activity& of) : feed(of.activity, peer, tasks) {}
    ~Subscriber() {
        tasks.cancel();
        REQUIRE(tasks.running() == 0);
    }
    // Where it begins.
    std::int64_t subscribe(protocol::EventsSubscribeParams params = {}) {
        std::int64_t begin = -1;
        tasks.spawn(store(&begin, feed.subscribe(std::move(params))));
        return begin;
    }
    std::int64_t subscribe_from(std::int64_t seq) {
        protocol::EventsSubscribeParams params;
        params.from_seq = seq;
        return subscribe(std::move(params));
    }
    static Task<void> store(std::int64_t* begin, Task<protocol::EventsSubscribeResult> subscribing) {
        const protocol::EventsSubscribeResult result = co_await std::move(subscribing);
        *begin = result.from_seq;
    }
    // The numbers of what has arrived.
    Numbers read() {
        Numbers read;
        const std::shared_ptr<CancelState> reading = tasks.spawn(read_all(&read));
        reading->cancel();
        return read;
    }
    Task<void> read_all(Numbers* read) {
        while (const std::optional<protocol::Frame> frame = co_await pair.theirs->receive()) {
            const protocol::Message message = protocol::parse_message(frame->text);
            REQUIRE(message.method == "events/entry");
            read->push_back(from_json<protocol::RecordEntry>(message.payload, "params").seq);
        }
    }
};

Numbers from_to(std::int64_t first, std::int64_t end) {
    Numbers numbers;
    for (std::int64_t n = first; n < end; ++n) {
        numbers.push_back(n);
    }
    return numbers;
}

} // namespace

TEST_CASE("a subscriber gets what is stored from now on, in order") {
    Activity activity;
    activity.remove_rule();
    Subscriber subscriber(activity);
    CHECK(subscriber.subscribe() == 1);
    CHECK(subscriber.read().empty());
    for (std::int64_t n = 1; n < 300; ++n) {
        activity.remove_rule();
        CHECK(subscriber.read() == Numbers{n});
    }
}

TEST_CASE("before there is a record a subscriber waits for its first entry") {
    Activity activity;
    Subscriber subscriber(activity);
    CHECK(subscriber.subscribe() == 0);
    activity.remove_rule();
    CHECK(subscriber.read() == Numbers{0});
}

TEST_CASE("a subscriber may begin with older entries, page after page") {
    Activity activity;
    for (int n = 0; n < 350; ++n) {
        activity.remove_rule();
    }
    Subscriber all(activity);
    CHECK(all.subscribe_from(0) == 0);
    CHECK(all.read() == from_to(0, 350));
    Subscriber some(activity);
    CHECK(some.subscribe_from(340) == 340);
    CHECK(some.read() == from_to(340, 350));
    activity.remove_rule();
    CHECK(all.read() == Numbers{350});
    CHECK(some.read() == Numbers{350});
}

TEST_CASE("types and a session narrow it down, for each subscriber by itself") {
    Activity activity;
    Subscriber logins(activity);
    protocol::EventsSubscribeParams wanted;
    wanted.types = {"login.ended", "session.closed"};
    logins.subscribe(wanted);
    Subscriber of_session(activity);
    wanted = {};
    wanted.session_id = "b";
    of_session.subscribe(wanted);
    activity.start_session("a"); // 0, 1
    activity.start_session("b"); // 2, 3
    activity.log_in("web");      // 4
    activity.remove_rule();      // 5
    activity.activity.session_closed("b");
    CHECK(logins.read() == Numbers{4, 6});
    CHECK(of_session.read() == Numbers{2, 3, 6});
}

TEST_CASE("a subscriber that does not read costs bounded memory, and loses nothing") {
    constexpr std::size_t max_queued = std::size_t{3} << 20; // a page of large entries, and what is there before it
    Activity activity;
    Subscriber slow(activity);
    Subscriber quick(activity);
    slow.subscribe();
    quick.subscribe();
    const std::string large(50'000, 'x');
    for (std::int64_t n = 0; n < 200; ++n) {
        activity.log_in(large);
        CHECK(quick.read() == Numbers{n});
        REQUIRE(slow.pair.ours->queued_bytes() < max_queued);
    }
    CHECK(slow.read() == from_to(0, 200));
    activity.remove_rule();
    CHECK(slow.read() == Numbers{200});
}

TEST_CASE("what another sidecar of the workspace stores comes within a second, or with the next entry") {
    Activity activity;
    activity.remove_rule();
    Subscriber subscriber(activity);
    subscriber.subscribe();
    ActivityRecord other(activity.clock, run_inline, activity.directory, {});
    other.rule_removed("r2");
    CHECK(subscriber.read().empty());
    activity.clock.advance(1s);
    CHECK(subscriber.read() == Numbers{1});
    other.rule_removed("r3");
    activity.remove_rule();
    CHECK(subscriber.read() == Numbers{2, 3});
    activity.closing.spawn(other.close());
}

TEST_CASE("a subscription ends by unsubscribe, and when another one takes its place") {
    Activity activity;
    Subscriber subscriber(activity);
    subscriber.subscribe();
    activity.remove_rule();
    CHECK(subscriber.read() == Numbers{0});
    subscriber.feed.unsubscribe();
    activity.remove_rule();
    CHECK(subscriber.read().empty());
    protocol::EventsSubscribeParams wanted;
    wanted.types = {"login.ended"};
    subscriber.subscribe(wanted);
    subscriber.subscribe_from(0);
    activity.log_in("web");
    CHECK(subscriber.read() == Numbers{0, 1, 2}); // each once
    CHECK(subscriber.tasks.running() == 1);
}

TEST_CASE("what was pruned is skipped, and said so") {
    Activity activity;
    for (int n = 0; n < 600; ++n) {
        activity.remove_rule();
    }
    activity.clock.advance(1h);
    RecordSettings settings;
    settings.max_bytes = 1;
    ActivityRecord pruning(activity.clock, run_inline, activity.directory, settings);
    activity.closing.spawn(pruning.prune());
    Subscriber subscriber(activity);
    CHECK(subscriber.subscribe_from(0) == 512);
    CHECK(subscriber.read() == from_to(512, 601)); // the last is record.pruned
    activity.closing.spawn(pruning.close());
}
