#include "base/fake_clock.hpp"
#include "large_data.hpp"
#include "output_feed.hpp"
#include "service_fixture.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::service;

namespace {

constexpr std::size_t record_bytes = 100'000;
constexpr std::size_t max_queued = std::size_t{1} << 20; // of the connection; what is beyond waits or is skipped

struct Feed {
    TempFolder folder;
    service_fixture::ConnectionPair pair;
    FakeClock clock;
    store::Journals journals{folder.path, run_inline};
    session::Execution one{"one", {}, 1, "s", journals, clock};
    session::Execution two{"two", {}, 1, "s", journals, clock};
    protocol::Peer peer{pair.ours, protocol::Dialect::editor};
    Event may_write; // into files
    OutputFeed feed{peer, [this](std::function<void()> work) { return aside(std::move(work)); }};
    TaskScope scope;

    Feed() { may_write.set(); }
    ~Feed() {
        pair.ours->close();
        scope.spawn(feed.close());
        REQUIRE(scope.running() == 0);
    }

    Task<void> aside(std::function<void()> work) {
        co_await may_write.wait();
        work();
    }

    // As the session does: into the journal, then here. Returns the bytes.
    std::uint64_t send(session::Execution& execution, const std::string& text, bool late = false,
                       const std::string& name = "stdout") {
        std::string quoted;
        append_json_string(quoted, text);
        return send_json(execution, R"({"output_type":"stream","name":")" + name + R"(","text":)" + quoted + "}", late);
    }
    std::uint64_t send_json(session::Execution& execution, const std::string& json, bool late = false) {
        protocol::OutputRecord record;
        record.output = RawJson::parse(json);
        record.seq = execution.journal.append(*record.output, late);
        if (late) {
            record.late = true;
        }
        feed.send(execution, record);
        return json.size();
    }
    std::uint64_t send_picture(session::Execution& execution, std::size_t bytes) {
        return send_json(execution, R"({"output_type":"display_data","data":{"text/plain":"p","text/html":")" +
                                        std::string(bytes, 'x') + R"("},"metadata":{}})");
    }
    // Fills what the client does not read, until records wait.
    void fill() {
        while (pair.ours->queued_bytes() <= std::size_t{256} << 10) {
            send(two, std::string(record_bytes, 'f'));
        }
    }

    // What has arrived, until the client stops reading.
    std::vector<protocol::ExecuteOutputParams> read(std::size_t messages = 1'000'000) {
        std::vector<protocol::ExecuteOutputParams> read;
        const std::shared_ptr<CancelState> reading = scope.spawn(read_some(messages, &read));
        reading->cancel();
        return read;
    }
    std::vector<protocol::ExecuteOutputParams> read_of(const session::Execution& execution) {
        std::vector<protocol::ExecuteOutputParams> all = read();
        std::erase_if(all, [&](const auto& each) { return each.execution_id != execution.id; });
        return all;
    }
    Task<void> read_some(std::size_t messages, std::vector<protocol::ExecuteOutputParams>* read) {
        while (read->size() < messages) {
            const std::optional<protocol::Frame> frame = co_await pair.theirs->receive();
            const protocol::Message message = protocol::parse_message(frame->text);
            REQUIRE(message.method == "execute/output");
            read->push_back(from_json<protocol::ExecuteOutputParams>(message.payload, "params"));
        }
    }

    bool flushed(const session::Execution& execution) {
        const std::shared_ptr<CancelState> waiting = scope.spawn(feed.flushed(execution.id));
        const bool done = scope.running() == 0;
        waiting->cancel();
        return done;
    }
};

std::string text_of(const protocol::ExecuteOutputParams& output) {
    return output.output->value().at("text");
}

// Every record once, in order. Returns the bytes that were skipped.
std::uint64_t check_order(const std::vector<protocol::ExecuteOutputParams>& read, std::int64_t records) {
    std::int64_t next = 0;
    std::uint64_t skipped = 0;
    for (const protocol::ExecuteOutputParams& each : read) {
        CHECK(each.seq == next);
        CHECK(each.output.has_value() != each.skipped_bytes.has_value());
        next += each.count;
        skipped += each.skipped_bytes.value_or(0);
    }
    CHECK(next == records);
    return skipped;
}

} // namespace

TEST_CASE("a client that reads gets every record at once") {
    Feed feed;
    for (std::int64_t i = 0; i < 200; ++i) {
        feed.send(feed.one, std::string(record_bytes, 'x'));
        const auto read = feed.read(1);
        REQUIRE(read.size() == 1);
        CHECK(read.front().seq == i);
        CHECK(read.front().count == 1);
        CHECK(read.front().output);
        CHECK(feed.flushed(feed.one));
    }
}

TEST_CASE("a client that is behind gets adjacent records of one stream joined, and loses nothing") {
    Feed feed;
    feed.fill();
    std::string out;
    for (int i = 0; i < 10'000; ++i) {
        const std::string text = "zeile \"" + std::to_string(i) + "\" \xc3\xa9\n";
        feed.send(feed.one, text);
        out += text;
    }
    feed.send(feed.one, "err\n", false, "stderr");
    feed.send(feed.one, "out\n");
    CHECK_FALSE(feed.flushed(feed.one));
    const auto read = feed.read_of(feed.one);
    CHECK(check_order(read, 10'002) == 0);
    CHECK(read.size() < 10);
    std::string got;
    for (std::size_t i = 0; i + 2 < read.size(); ++i) {
        CHECK(read[i].output->text().size() <= std::size_t{256} << 10);
        got += text_of(read[i]);
    }
    CHECK(got == out);
    CHECK(text_of(read[read.size() - 2]) == "err\n");
    CHECK(text_of(read.back()) == "out\n");
    CHECK(feed.flushed(feed.one));
}

TEST_CASE("what looks like a stream's text inside other outputs is not joined") {
    Feed feed;
    feed.fill();
    feed.send(feed.one, "a");
    feed.send_json(feed.one, R"({"output_type":"display_data","data":{"text/plain":"\"text\":\"x"},"metadata":{}})");
    feed.send(feed.one, "b");
    feed.send(feed.one, "c", true); // after the end
    const auto read = feed.read_of(feed.one);
    REQUIRE(read.size() == 4);
    CHECK(text_of(read[2]) == "b");
    CHECK_FALSE(read[2].late);
    CHECK(read[3].late);
}

TEST_CASE("a client that does not read costs bounded memory, and hears what it missed before the reply") {
    Feed feed;
    std::vector<std::uint64_t> sizes;
    for (int i = 0; i < 1000; ++i) {
        sizes.push_back(feed.send(feed.one, std::string(record_bytes, 'x')));
        REQUIRE(feed.pair.ours->queued_bytes() < max_queued);
    }
    CHECK_FALSE(feed.flushed(feed.one));
    CHECK(feed.flushed(feed.two));
    const auto read = feed.read();
    REQUIRE(read.size() > 2);
    check_order(read, 1000);
    const protocol::ExecuteOutputParams& skipped = read.back();
    REQUIRE(skipped.skipped_bytes);
    std::uint64_t missed = 0;
    for (std::size_t i = static_cast<std::size_t>(skipped.seq); i < sizes.size(); ++i) {
        missed += sizes[i];
    }
    CHECK(*skipped.skipped_bytes == missed);
    CHECK(skipped.count > 800);
    CHECK(feed.flushed(feed.one));
}

TEST_CASE("what is waited for was there before: code that prints on delays it for no longer") {
    Feed feed;
    feed.fill();
    feed.send(feed.one, "before");
    feed.scope.spawn(feed.feed.flushed(feed.one.id));
    std::size_t reads = 0;
    for (; feed.scope.running() != 0 && reads < 1000; ++reads) {
        feed.send(feed.one, std::string(record_bytes, 'x'), false, "stderr");
        feed.send(feed.one, std::string(record_bytes, 'x'));
        feed.read(1);
    }
    CHECK(reads < 1000);
    CHECK_FALSE(feed.flushed(feed.one)); // the control: what came meanwhile still waits
}

TEST_CASE("nothing is waited for once the client has gone") {
    Feed feed;
    feed.fill();
    feed.send(feed.one, "before");
    feed.scope.spawn(feed.feed.flushed(feed.one.id));
    REQUIRE(feed.scope.running() == 1);
    feed.scope.spawn(feed.feed.close());
    CHECK(feed.scope.running() == 0);
}

TEST_CASE("when the client reads again it hears what it missed in its place, and gets what follows, again and again") {
    Feed feed;
    std::vector<protocol::ExecuteOutputParams> all;
    std::int64_t sent = 0;
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 300; ++i, ++sent) {
            feed.send(feed.one, std::string(record_bytes, 'x'));
        }
        for (auto& each : feed.read()) {
            all.push_back(std::move(each));
        }
        feed.send(feed.one, "after");
        ++sent;
        const auto after = feed.read();
        REQUIRE(after.size() == 1);
        CHECK(text_of(after.front()) == "after");
        all.push_back(after.front());
    }
    CHECK(check_order(all, sent) > 0);
    CHECK(std::count_if(all.begin(), all.end(), [](const auto& each) { return each.skipped_bytes.has_value(); }) == 3);
}

TEST_CASE("each execution has its own gap, and what came after an end is announced apart") {
    Feed feed;
    for (int i = 0; i < 300; ++i) {
        feed.send(feed.one, std::string(record_bytes, 'x'));
    }
    feed.send(feed.two, std::string(20, 'x'));
    feed.send(feed.one, std::string(30, 'x'));
    feed.send(feed.one, std::string(40, 'x'), true);
    feed.send(feed.one, std::string(50, 'x'), true);
    std::vector<protocol::ExecuteOutputParams> gaps;
    for (const protocol::ExecuteOutputParams& each : feed.read()) {
        if (each.skipped_bytes) {
            gaps.push_back(each);
        }
    }
    REQUIRE(gaps.size() == 3);
    CHECK(gaps[0].execution_id == "one");
    CHECK(gaps[0].seq + gaps[0].count == 301);
    CHECK_FALSE(gaps[0].late);
    CHECK(gaps[1].execution_id == "two");
    CHECK(gaps[1].seq == 0);
    CHECK(gaps[2].execution_id == "one");
    CHECK(gaps[2].seq == 301);
    CHECK(gaps[2].count == 2);
    CHECK(gaps[2].late);
}

TEST_CASE("large data goes into files for who wants that, as long as the journal keeps it") {
    Feed feed;
    feed.send_picture(feed.one, 300'000);
    CHECK_FALSE(feed.read(1).at(0).files);
    feed.feed.use_files();
    feed.send_picture(feed.one, 300'000);
    const auto read = feed.read(1);
    REQUIRE(read.at(0).files);
    CHECK(read.at(0).files->front().path == feed.journals.directory() + "/0.1.0");
    // What the journal does not keep goes into no file: code must not fill the disk.
    feed.one.journal.drop_all("for this test");
    feed.send_picture(feed.one, 300'000);
    CHECK_FALSE(feed.read(1).at(0).files);
}

TEST_CASE("while a file is written, what comes behind it waits and keeps its place") {
    Feed feed;
    feed.feed.use_files();
    feed.may_write.reset();
    feed.send_picture(feed.one, 300'000);
    feed.send(feed.one, "behind");
    CHECK(feed.read().empty());
    CHECK_FALSE(feed.flushed(feed.one));
    CHECK(feed.flushed(feed.two));
    feed.may_write.set();
    const auto read = feed.read();
    REQUIRE(read.size() == 2);
    CHECK(read[0].files);
    CHECK(text_of(read[1]) == "behind");
    CHECK(feed.flushed(feed.one));
}

TEST_CASE("what does not fit into a message is a file for every client, and skipped when it cannot be one") {
    Feed feed;
    feed.send_picture(feed.one, max_message_bytes);
    const auto read = feed.read(1);
    REQUIRE(read.at(0).files);
    CHECK(read.at(0).files->front().bytes == max_message_bytes);
    feed.one.journal.drop_all("for this test");
    const std::uint64_t bytes = feed.send_picture(feed.one, max_message_bytes);
    const auto skipped = feed.read(1);
    CHECK_FALSE(skipped.at(0).files);
    CHECK(skipped.at(0).skipped_bytes == bytes);
}
