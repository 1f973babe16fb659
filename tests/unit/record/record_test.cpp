#include "base/fake_clock.hpp"
#include "record/canonical_json.hpp"
#include "record_testing.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>
#include <sys/stat.h>

using namespace cellgate;
using namespace cellgate::record;

namespace fs = std::filesystem;

namespace {

// Holds what is done off the loop.
struct HeldWork {
    bool held = true;
    int jobs = 0;
    Event released;

    RunBlocking run() {
        return [this](std::function<void()> work) { return later(std::move(work)); };
    }
    Task<void> later(std::function<void()> work) {
        ++jobs;
        while (held) {
            co_await released.wait();
        }
        work();
    }
    void release() {
        held = false;
        released.set();
        released.reset();
    }
};

Task<void> set_when_stored(Record* record, std::int64_t seq, std::vector<std::string>* outcomes) {
    try {
        co_await record->stored(seq);
        outcomes->push_back(fmt::format("{} stored", seq));
    } catch (const Error& error) {
        outcomes->push_back(fmt::format("{} {}", seq, error.message));
    }
}

} // namespace

TEST_CASE("an entry is stored as canonical JSON with its number, and reported") {
    RecordFolder folder;
    Record record(folder.options());
    std::vector<StoredEntry> reported;
    record.on_stored([&](const StoredEntry& entry) { reported.push_back(entry); });
    CHECK(record.append(numbered_entry(0), Durability::written) == 0);
    NewEntry bare{first_time + std::chrono::milliseconds(7),
                  "x",
                  "agent \"a\"\b",
                  std::nullopt,
                  std::nullopt,
                  RawJson::parse(R"({ "b":[1.0, "\u00e9"], "a":null })")};
    CHECK(record.append(bare, Durability::synced) == 1);
    result_of(record.stored(1));
    REQUIRE(reported.size() == 2);
    CHECK(reported[0].json == R"({"actor":"user","data":{"n":0,"text":"number 0"},"executionId":"x0","seq":0,)"
                              R"("sessionId":"s0","time":"2027-01-15T08:00:00.000Z","type":"cell.started"})");
    CHECK(reported[1].json == "{\"actor\":\"agent \\\"a\\\"\\b\",\"data\":{\"a\":null,\"b\":[1,\"é\"]},\"seq\":1,"
                              "\"time\":\"2027-01-15T08:00:00.007Z\",\"type\":\"x\"}");
    CHECK(canonical_json(reported[1].json) == reported[1].json);
    CHECK(all_entries(folder.reader()) ==
          std::vector<std::string>{reported[0].json, reported[1].json}); // while it is open
    result_of(record.close());
    CHECK(all_entries(folder.reader()).size() == 2);
}

TEST_CASE("data without a canonical form is kept as its text") {
    RecordFolder folder;
    Record record(folder.options());
    NewEntry entry = numbered_entry(1);
    entry.data = RawJson::parse(R"({"n":1e999})");
    record.append(entry, Durability::written);
    result_of(record.close());
    CHECK(all_entries(folder.reader())[0].find(R"("data":{"text":"{\"n\":1e999}"})") != std::string::npos);
    CHECK(folder.reader().verify(std::nullopt).ok);
}

TEST_CASE("all files are for this user alone") {
    RecordFolder folder;
    Record record(folder.options());
    record.append(numbered_entry(0), Durability::written);
    struct stat status{};
    REQUIRE(::stat(folder.path.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0700);
    std::size_t files = 0;
    for (const auto& each : fs::directory_iterator(folder.path)) {
        CAPTURE(each.path());
        REQUIRE(::stat(each.path().c_str(), &status) == 0);
        CHECK((status.st_mode & 0777) == 0600);
        ++files;
    }
    CHECK(files == 5); // the database, two of WAL, the key, its public half
    result_of(record.close());
    CHECK_FALSE(fs::exists(folder.path + "/record.sqlite-wal"));
}

TEST_CASE("what is appended while a batch is written is the next batch, in order") {
    RecordFolder folder;
    HeldWork work;
    RecordOptions options = folder.options();
    options.run_blocking = work.run();
    Record record(options);
    std::vector<std::int64_t> reported;
    record.on_stored([&](const StoredEntry& entry) { reported.push_back(entry.seq); });
    std::vector<std::string> outcomes;
    TaskScope scope;
    for (std::int64_t n = 0; n < 100; ++n) {
        CHECK(record.append(numbered_entry(n), Durability::written) == n);
        scope.spawn(set_when_stored(&record, n, &outcomes));
    }
    CHECK(outcomes.empty());
    CHECK(work.jobs == 1);
    work.release();
    CHECK(outcomes.size() == 100);
    CHECK(work.jobs == 2);
    CHECK(reported.size() == 100);
    CHECK(std::is_sorted(reported.begin(), reported.end()));
    result_of(record.close());
    CHECK(folder.reader().verify(std::nullopt).entries == 100);
}

TEST_CASE("a record that is opened again goes on where it ended") {
    RecordFolder folder;
    std::int64_t size = 0;
    for (const std::int64_t until : {1, 2, 255, 256, 257, 512, 700, 768}) {
        Record record(folder.options());
        for (; size < until; ++size) {
            record.append(numbered_entry(size), Durability::written);
        }
        result_of(record.close());
        const VerifyResult result = folder.reader().verify(folder.kept());
        CAPTURE(result.problem);
        CHECK(result.ok);
        CHECK(result.entries == until);
        CHECK(result.checkpoint_size == until);
    }
    Record(folder.options()); // opened and closed, without an entry
    CHECK(folder.reader().verify(folder.kept()).ok);
}

TEST_CASE("a checkpoint is written after a thousand entries and at the end, and copied") {
    RecordFolder folder;
    Record record(folder.options());
    for (std::int64_t n = 0; n < 2100; ++n) {
        record.append(numbered_entry(n), Durability::written);
    }
    CHECK(folder.open().integer("SELECT count(*) FROM checkpoints") == 2);
    CHECK(folder.open().integer("SELECT max(size) FROM checkpoints") == 2000);
    result_of(record.close());
    std::string stored;
    {
        Database database = folder.open();
        Statement rows(database, "SELECT text FROM checkpoints ORDER BY size");
        while (rows.step()) {
            stored += rows.text(0);
        }
    }
    CHECK(stored == folder.kept());
    const VerifyResult result = folder.reader().verify(stored);
    CHECK(result.ok);
    CHECK(result.checkpoints_checked == 6);
    CHECK(result.checkpoint.starts_with("cellgate/test\n2100\n"));
}

TEST_CASE("a copy that ends in the middle of a checkpoint is gone on with") {
    RecordFolder folder;
    fill(folder, 2);
    const std::string whole = folder.kept();
    std::int64_t size = 2;
    for (std::size_t length = 0; length < whole.size(); length += 7) {
        std::ofstream(folder.copy, std::ios::binary) << whole.substr(0, length);
        Record record(folder.options());
        record.append(numbered_entry(2), Durability::written);
        result_of(record.close());
        CHECK(folder.kept().ends_with(folder.reader().verify(std::nullopt).checkpoint));
        const VerifyResult result = folder.reader().verify(folder.kept());
        CAPTURE(result.problem);
        CHECK(result.ok);
        CHECK(result.entries == ++size);
    }
}

TEST_CASE("without a record a reader says so") {
    RecordFolder folder;
    try {
        folder.reader();
        FAIL("was made");
    } catch (const Error& error) {
        CHECK(error.code == ErrorCode::store_failed);
        CHECK_FALSE(error.hint.empty());
    }
}

TEST_CASE("a record of another format is left alone") {
    RecordFolder folder;
    fill(folder, 1);
    const std::string path = folder.path + "/record.sqlite";
    for (const int version : {1, 3}) {
        folder.open().run(fmt::format("PRAGMA user_version={}", version));
        Record record(folder.options());
        record.append(numbered_entry(1), Durability::written);
        const std::string expected = fmt::format("{} has the format {}, expected 2", path, version);
        CHECK(error_of(record.close()) == expected);
        CHECK_THROWS_WITH_AS(folder.reader().query({}), expected.c_str(), Error);
        CHECK_THROWS_WITH_AS(all_entries(folder.reader()), expected.c_str(), Error);
        CHECK_THROWS_WITH_AS(folder.reader().proof(0), expected.c_str(), Error);
        CHECK(folder.reader().verify(std::nullopt).problem == expected);
    }
    folder.open().run("PRAGMA user_version=2");
    CHECK(all_entries(folder.reader()).size() == 1);
}

TEST_CASE("an entry is durable at once, and in the database with those of the next 50 ms") {
    RecordFolder folder;
    FakeClock clock;
    RecordOptions options = folder.options();
    options.clock = &clock;
    Record record(options);
    for (int n = 0; n < 3; ++n) {
        CHECK(error_of(record.stored(record.append(numbered_entry(n), Durability::written))).empty());
    }
    CHECK_FALSE(RecordReader::exists(folder.path));
    clock.advance(std::chrono::milliseconds(50));
    CHECK(all_entries(folder.reader()).size() == 3);
    // What is synced does not wait, and neither does a reader.
    record.append(numbered_entry(3), Durability::synced);
    CHECK(all_entries(folder.reader()).size() == 4);
    record.append(numbered_entry(4), Durability::written);
    CHECK(all_entries(folder.reader()).size() == 4);
    result_of(record.flushed());
    CHECK(all_entries(folder.reader()).size() == 5);
    record.append(numbered_entry(5), Durability::written);
    result_of(record.close());
    CHECK(all_entries(folder.reader()).size() == 6);
    CHECK(clock.sleepers() == 0);
}

TEST_CASE("an entry that is in a file when the database cannot be written is there once it can") {
    RecordFolder folder;
    fill(folder, 1);
    FakeClock clock;
    RecordOptions options = folder.options();
    options.clock = &clock;
    Record record(options);
    const std::string database = folder.path + "/record.sqlite";
    std::filesystem::rename(database, database + ".away");
    std::filesystem::create_directory(database); // in its way
    CHECK(error_of(record.stored(record.append(numbered_entry(1), Durability::written))).empty());
    clock.advance(std::chrono::milliseconds(50));
    CHECK_FALSE(error_of(record.flushed()).empty());
    // From now on entries are refused, until the database can be written.
    CHECK_FALSE(error_of(record.stored(record.append(numbered_entry(2), Durability::written))).empty());
    std::filesystem::remove(database);
    std::filesystem::rename(database + ".away", database);
    CHECK(error_of(record.stored(record.append(numbered_entry(3), Durability::written))).empty());
    result_of(record.close());
    const std::vector<std::string> entries = all_entries(folder.reader());
    REQUIRE(entries.size() == 4);
    CHECK(entries[1].find("number 1") != std::string::npos);
    CHECK(entries[2].find(R"("dropped":1,)") != std::string::npos);
    CHECK(entries[3].find("number 3") != std::string::npos);
    CHECK(folder.reader().verify(folder.kept()).ok);
}
