// What becomes of entries that cannot be stored.

#include "record_testing.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <csignal>
#include <fstream>
#include <sys/resource.h>
#include <thread>

using namespace cellgate;
using namespace cellgate::record;

namespace fs = std::filesystem;

namespace {

// Like a full disk: no file of this process grows beyond so many bytes.
class FileLimit {
  public:
    explicit FileLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{bytes, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    FileLimit(const FileLimit&) = delete;
    FileLimit& operator=(const FileLimit&) = delete;
    ~FileLimit() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }

  private:
    rlimit before_{};
    void (*handler_)(int);
};

std::string stored_or_error(Record& record, std::int64_t n) {
    const std::int64_t seq = record.append(numbered_entry(n), Durability::written);
    return error_of(record.stored(seq));
}

// One batch of two entries and, waiting behind it, one of a third.
struct HeldBatches {
    bool held = true;
    Event released;

    Task<void> run(std::function<void()> work) {
        while (held) {
            co_await released.wait();
        }
        work();
    }
};

} // namespace

TEST_CASE("entries that a full disk refuses are counted, and the next that is stored follows a gap") {
    RecordFolder folder;
    fill(folder, 3);
    Record record(folder.options());
    CHECK(stored_or_error(record, 3).empty());
    {
        const FileLimit limit(fs::file_size(folder.path + "/record.sqlite-wal") + 1000);
        for (int n = 4; n < 7; ++n) {
            CHECK(stored_or_error(record, n).find("disk I/O error") != std::string::npos);
        }
    }
    CHECK(stored_or_error(record, 7).empty());
    CHECK(stored_or_error(record, 8).empty());
    result_of(record.close());
    const std::vector<std::string> entries = all_entries(folder.reader());
    REQUIRE(entries.size() == 7);
    CHECK(entries[4].find(R"("data":{"dropped":3,"error":"cannot write )") != std::string::npos);
    CHECK(entries[4].find(R"("type":"record.gap")") != std::string::npos);
    CHECK(entries[5].find("number 7") != std::string::npos);
    CHECK(entries[6].find("number 8") != std::string::npos);
    const VerifyResult result = folder.reader().verify(folder.kept());
    CAPTURE(result.problem);
    CHECK(result.ok);
}

TEST_CASE("what waits behind a batch that is refused is refused with it") {
    RecordFolder folder;
    HeldBatches work;
    RecordOptions options = folder.options();
    options.run_blocking = [&](std::function<void()> job) { return work.run(std::move(job)); };
    Record record(options);
    std::vector<std::string> errors;
    TaskScope scope([&](const std::exception_ptr& error) {
        try {
            std::rethrow_exception(error);
        } catch (const Error& thrown) {
            errors.push_back(thrown.message);
        }
    });
    for (int n = 0; n < 3; ++n) {
        scope.spawn(record.stored(record.append(numbered_entry(n), Durability::written)));
    }
    {
        const FileLimit limit(1000);
        work.held = false;
        work.released.set();
    }
    CHECK(errors.size() == 3);
    record.append(numbered_entry(3), Durability::written);
    result_of(record.close());
    const std::vector<std::string> entries = all_entries(folder.reader());
    REQUIRE(entries.size() == 2);
    CHECK(entries[0].find(R"({"dropped":3,)") != std::string::npos);
    CHECK(entries[1].find("number 3") != std::string::npos);
}

TEST_CASE("a gap is recorded at the end when nothing else comes") {
    RecordFolder folder;
    Record record(folder.options());
    {
        const FileLimit limit(1000);
        CHECK_FALSE(stored_or_error(record, 0).empty());
    }
    result_of(record.close());
    const std::vector<std::string> entries = all_entries(folder.reader());
    REQUIRE(entries.size() == 1);
    CHECK(entries[0].find("record.gap") != std::string::npos);
}

TEST_CASE("a record that cannot be opened refuses entries until it can") {
    RecordFolder folder;
    std::ofstream(folder.path) << "a file in its way";
    Record record(folder.options());
    CHECK(stored_or_error(record, 0).find("expected") != std::string::npos);
    CHECK(stored_or_error(record, 1).find("expected") != std::string::npos);
    fs::remove(folder.path);
    CHECK(stored_or_error(record, 2).empty());
    result_of(record.close());
    CHECK(all_entries(folder.reader()).size() == 2);
    CHECK(folder.reader().verify(folder.kept()).ok);
}

TEST_CASE("one that has entries and could be opened only later goes on with it") {
    RecordFolder folder;
    fill(folder, 5);
    fs::rename(folder.path, folder.path + ".away");
    std::ofstream(folder.path) << "a file in its way";
    Record record(folder.options());
    CHECK_FALSE(stored_or_error(record, 0).empty());
    fs::remove(folder.path);
    fs::rename(folder.path + ".away", folder.path);
    CHECK(stored_or_error(record, 1).empty());
    result_of(record.close());
    const std::vector<std::string> entries = all_entries(folder.reader());
    REQUIRE(entries.size() == 7);
    CHECK(entries[5].find(R"({"dropped":1,)") != std::string::npos);
    CHECK(folder.reader().verify(folder.kept()).ok);
}

TEST_CASE("sidecars that begin a record at the same time begin one record") {
    for (int round = 0; round < 10; ++round) {
        RecordFolder folder;
        std::vector<std::thread> sidecars;
        std::vector<std::string> problems(4);
        for (std::string& problem : problems) {
            sidecars.emplace_back([&folder, &problem] {
                Record record(folder.options());
                problem = stored_or_error(record, 0);
                problem += error_of(record.close());
            });
        }
        for (std::thread& sidecar : sidecars) {
            sidecar.join();
        }
        CHECK(problems == std::vector<std::string>(4));
        CHECK(all_entries(folder.reader()).size() == 4);
        CHECK(folder.reader().verify(folder.kept()).ok);
    }
}

TEST_CASE("two sidecars of a workspace append to one record") {
    RecordFolder folder;
    Record one(folder.options());
    Record two(folder.options());
    for (int i = 0; i < 600; ++i) { // more than two blocks, with turns of both
        CHECK(stored_or_error(i % 7 < 3 ? one : two, i).empty());
    }
    result_of(one.close());
    result_of(two.close());
    CHECK(all_entries(folder.reader()).size() == 600);
    CHECK(folder.reader().verify(folder.kept()).ok);
}

TEST_CASE("a database that is damaged is named, and left alone") {
    RecordFolder folder;
    fill(folder, 2);
    const std::string path = folder.path + "/record.sqlite";
    std::ofstream(path, std::ios::binary) << std::string(5000, 'x');
    Record record(folder.options());
    CHECK(stored_or_error(record, 2).find("file is not a database") != std::string::npos);
    CHECK(error_of(record.close()).find("file is not a database") != std::string::npos);
    CHECK(file_text(path) == std::string(5000, 'x'));
    CHECK(folder.reader().verify(std::nullopt).problem.find("file is not a database") != std::string::npos);
}

TEST_CASE("a lock that another process lets go of is waited for") {
    RecordFolder folder;
    fill(folder, 1);
    Record record(folder.options());
    Database other = folder.open();
    other.run("BEGIN IMMEDIATE");
    std::thread lets_go([&] { other.run("COMMIT"); });
    CHECK(stored_or_error(record, 1).empty());
    lets_go.join();
    result_of(record.close());
}
