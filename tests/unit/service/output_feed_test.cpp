#include "base/fake_clock.hpp"
#include "output_feed.hpp"
#include "service_house.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::service;

namespace {

constexpr std::size_t record_bytes = 100'000;
constexpr std::size_t most_queued = std::size_t{5} << 20;

struct Feed {
    service_house::TemporaryFolder folder;
    service_house::Line line;
    FakeClock clock;
    session::Execution one{"one", {}, 1, "s", folder.path + "/one.jsonl", clock};
    session::Execution two{"two", {}, 1, "s", folder.path + "/two.jsonl", clock};
    protocol::Peer peer{line.ours, protocol::Dialect::editor};
    OutputFeed feed{peer};
    std::map<std::string, std::int64_t> next_seq;
    TaskScope scope;

    ~Feed() {
        scope.spawn(feed.close());
        line.ours->close();
        REQUIRE(scope.running() == 0);
    }

    std::uint64_t send(const session::Execution& execution, std::size_t bytes = record_bytes, bool late = false) {
        protocol::OutputRecord record;
        record.seq = next_seq[execution.id]++;
        record.output = RawJson::of({{"output_type", "stream"}, {"text", std::string(bytes, 'x')}});
        if (late) {
            record.late = true;
        }
        feed.send(execution, record);
        return record.output->text().size();
    }

    // What has arrived, until the client stops reading.
    std::vector<protocol::ExecuteOutputParams> read(std::size_t messages) {
        std::vector<protocol::ExecuteOutputParams> read;
        const std::shared_ptr<CancelState> reading = scope.spawn(read_some(messages, &read));
        reading->cancel();
        return read;
    }
    Task<void> read_some(std::size_t messages, std::vector<protocol::ExecuteOutputParams>* read) {
        while (read->size() < messages) {
            const std::optional<protocol::Frame> frame = co_await line.theirs->receive();
            const protocol::Message message = protocol::parse_message(frame->text);
            REQUIRE(message.method == "execute/output");
            read->push_back(from_json<protocol::ExecuteOutputParams>(message.payload, "params"));
        }
    }
};

constexpr std::size_t all = 1'000'000;

} // namespace

TEST_CASE("a client that reads gets every record") {
    Feed feed;
    for (std::int64_t i = 0; i < 200; ++i) {
        feed.send(feed.one);
        const auto read = feed.read(1);
        REQUIRE(read.size() == 1);
        CHECK(read.front().seq == i);
        CHECK(read.front().count == 1);
        CHECK(read.front().output);
    }
}

TEST_CASE("a client that does not read costs bounded memory, and hears what it missed before the reply") {
    Feed feed;
    std::vector<std::uint64_t> sizes;
    for (int i = 0; i < 1000; ++i) {
        sizes.push_back(feed.send(feed.one));
        REQUIRE(feed.line.ours->queued_bytes() < most_queued);
    }
    feed.feed.flush("one");
    feed.feed.flush("one"); // nothing is announced twice
    feed.feed.flush("two");
    const auto read = feed.read(all);
    REQUIRE(read.size() > 2);
    std::int64_t next = 0;
    for (const protocol::ExecuteOutputParams& each : read) {
        CHECK(each.seq == next);
        CHECK(each.output.has_value() != each.skipped_bytes.has_value());
        next += each.count;
    }
    CHECK(next == 1000);
    const protocol::ExecuteOutputParams& skipped = read.back();
    REQUIRE(skipped.skipped_bytes);
    std::uint64_t missed = 0;
    for (std::size_t i = static_cast<std::size_t>(skipped.seq); i < sizes.size(); ++i) {
        missed += sizes[i];
    }
    CHECK(*skipped.skipped_bytes == missed);
    CHECK(skipped.count < 1000);
}

TEST_CASE("when the client reads again it hears what it missed in its place, and gets what follows, again and again") {
    Feed feed;
    std::int64_t next = 0;
    int gaps = 0;
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 100; ++i) {
            feed.send(feed.one);
        }
        for (const protocol::ExecuteOutputParams& each : feed.read(all)) { // without any flush
            CHECK(each.seq == next);
            next += each.count;
            gaps += each.skipped_bytes ? 1 : 0;
        }
        feed.send(feed.one);
        const auto after = feed.read(all);
        REQUIRE(after.size() == 1);
        CHECK(after.front().output);
        CHECK(after.front().seq == next++);
    }
    CHECK(gaps == 3);
}

TEST_CASE("each execution has its own gap, and what came after an end is announced apart") {
    Feed feed;
    while (feed.line.ours->queued_bytes() < std::size_t{4} << 20) {
        feed.send(feed.one);
    }
    const std::int64_t sent = feed.next_seq["one"];
    feed.send(feed.one, 10);
    feed.send(feed.two, 20);
    feed.send(feed.one, 30);
    feed.send(feed.one, 40, true);
    feed.send(feed.one, 50, true);
    std::vector<protocol::ExecuteOutputParams> gaps;
    for (const protocol::ExecuteOutputParams& each : feed.read(all)) {
        if (each.skipped_bytes) {
            gaps.push_back(each);
        }
    }
    REQUIRE(gaps.size() == 3);
    CHECK(gaps[0].execution_id == "one");
    CHECK(gaps[0].seq == sent);
    CHECK(gaps[0].count == 2);
    CHECK_FALSE(gaps[0].late);
    CHECK(gaps[1].execution_id == "one");
    CHECK(gaps[1].seq == sent + 2);
    CHECK(gaps[1].count == 2);
    CHECK(gaps[1].late);
    CHECK(gaps[2].execution_id == "two");
    CHECK(gaps[2].seq == 0);
}

TEST_CASE("large data goes into files for who wants that, as long as the journal keeps it") {
    Feed feed;
    protocol::OutputRecord record;
    record.output =
        RawJson::of({{"output_type", "display_data"}, {"data", {{"text/plain", std::string(300'000, 'x')}}}});
    feed.feed.send(feed.one, record);
    CHECK_FALSE(feed.read(1).at(0).files);
    feed.feed.use_files_in(feed.folder.path);
    feed.feed.send(feed.one, record);
    const auto read = feed.read(1);
    REQUIRE(read.at(0).files);
    CHECK(read.at(0).files->front().path == feed.folder.path + "/one.0.0");
    // A journal that could not be made keeps nothing, and so does one at its limit: code must not fill the disk.
    const session::Execution unkept{"three", {}, 1, "s", "/nonexistent/three.jsonl", feed.clock};
    feed.feed.send(unkept, record);
    CHECK_FALSE(feed.read(1).at(0).files);
}
