// A program that tests kill while it appends, and that measures:
//   record_tool append DIRECTORY    appends numbered entries without end, and prints the number of each that is stored
//   record_tool log DIRECTORY FIRST the same from that number on, by way of files, and prints what each entry has as n
//   record_tool measure DIRECTORY COUNT    makes a record of so many entries, and prints what that and reading it took

#include "async/loop.hpp"
#include "record/record.hpp"
#include "record/record_reader.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <string>

using namespace cellgate;
using namespace cellgate::record;

namespace {

RecordOptions options_for(async::Loop& loop, const std::string& directory) {
    return {directory, "cellgate/test", directory + ".checkpoints",
            [&loop](std::function<void()> work) { return loop.run_blocking(std::move(work)); }};
}

NewEntry entry_of(std::int64_t n) {
    constexpr int kinds = 20;
    return {
        WallTime(std::chrono::seconds(1'800'000'000) + std::chrono::milliseconds(100 * n)),
        n % kinds == 0 ? "cell.started" : fmt::format("kind.{}", n % kinds),
        "agent",
        fmt::format("session-{}", n / 1000 % 10),
        fmt::format("execution-{}", n / kinds),
        RawJson::checked(fmt::format(R"({{"n":{},"text":"{}","arguments":{{"path":"/home/user/{}.txt","line":{}}}}})",
                                     n, std::string(150, 'x'), n, n % 100))};
}

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Task<void> append_without_end(async::Loop* loop, std::string directory) {
    Record record(options_for(*loop, directory));
    record.on_stored([](const StoredEntry& entry) {
        std::printf("%lld\n", static_cast<long long>(entry.seq));
        std::fflush(stdout);
    });
    for (std::int64_t n = 0;; ++n) {
        // Batches of one, several and many entries; at times, what is the oldest goes.
        for (std::int64_t i = 0; i < n % 20; ++i) {
            record.append(entry_of(n), Durability::written);
        }
        const std::int64_t seq = record.append(entry_of(n), n % 7 == 0 ? Durability::synced : Durability::written);
        co_await record.stored(seq);
        if (n % 6 == 5) {
            const WallTime now = WallTime(std::chrono::seconds(1'800'000'000));
            Pruning pruning{now, now, 200'000};
            co_await record.prune(pruning);
        }
    }
}

Task<void> log_without_end(async::Loop* loop, std::string directory, std::int64_t first) {
    RecordOptions options = options_for(*loop, directory);
    options.clock = &loop->clock();
    Record record(std::move(options));
    for (std::int64_t n = first;; ++n) {
        const Durability durability = n % 500 == 499 ? Durability::synced : Durability::written;
        co_await record.stored(record.append(entry_of(n), durability));
        std::printf("%lld\n", static_cast<long long>(n));
        std::fflush(stdout);
        if (n % 50 == 0) {
            co_await sleep_for(loop->clock(), std::chrono::milliseconds(n % 100)); // batches are written
        }
    }
}

Task<void> measure_appends(async::Loop* loop, std::string directory, std::int64_t count) {
    RecordOptions options = options_for(*loop, directory);
    options.clock = &loop->clock();
    Record record(std::move(options));
    std::int64_t n = 0;
    const auto measure = [&](const char* what, std::int64_t batch, std::int64_t batches,
                             Durability durability) -> Task<void> {
        const auto start = std::chrono::steady_clock::now();
        for (std::int64_t i = 0; i < batches; ++i) {
            std::int64_t seq = 0;
            for (std::int64_t each = 0; each < batch; ++each) {
                seq = record.append(entry_of(n++), durability);
            }
            co_await record.stored(seq);
        }
        std::printf("%-24s %8.1f us an entry\n", what,
                    seconds_since(start) * 1e6 / static_cast<double>(batch * batches));
    };
    co_await measure("written, one by one", 1, 2000, Durability::written);
    co_await measure("synced, one by one", 1, 200, Durability::synced);
    co_await measure("written, batches of 100", 100, 100, Durability::written);
    co_await measure("synced, batches of 100", 100, 20, Durability::synced);
    if (n < count) {
        co_await measure("written, batches of 1000", 1000, (count - n + 999) / 1000, Durability::written);
    }
    co_await record.close();
}

void measure_reading(const std::string& directory) {
    const RecordReader reader(directory);
    const auto timed = [&](const char* what, const Query& query) {
        const auto start = std::chrono::steady_clock::now();
        const std::size_t found = reader.query(query).size();
        std::printf("%-24s %8.1f ms, %zu entries\n", what, seconds_since(start) * 1e3, found);
    };
    Query query;
    timed("newest", query);
    query.types = {"cell.started", "kind.7"};
    timed("two types", query);
    query.session_id = "session-3";
    timed("... of a session", query);
    query = {};
    query.execution_id = "execution-5";
    timed("an execution", query);
    query = {};
    query.until = WallTime(std::chrono::seconds(1'800'000'100));
    timed("the oldest 1,000", query);
    query.types = {"cell.started"};
    timed("... of a type", query);
    query = {};
    query.since = WallTime(std::chrono::seconds(1'800'000'100));
    timed("all but those", query);
    query = {};
    query.text = "/home/user/77.txt";
    timed("a text, near the end", query);
    const auto start = std::chrono::steady_clock::now();
    const VerifyResult result = reader.verify(std::nullopt);
    const double seconds = seconds_since(start);
    std::printf("%-24s %8.2f us an entry, %lld entries, %s%s\n", "verify",
                seconds * 1e6 / static_cast<double>(result.entries), static_cast<long long>(result.entries),
                result.ok ? "ok" : "not ok: ", result.problem.c_str());
}

} // namespace

int main(int count, char** arguments) {
    const std::string mode = count > 2 ? arguments[1] : "";
    async::Loop loop;
    if (mode == "append") {
        loop.run(append_without_end(&loop, arguments[2]));
    } else if (mode == "log" && count > 3) {
        loop.run(log_without_end(&loop, arguments[2], std::stoll(arguments[3])));
    } else if (mode == "measure" && count > 3) {
        loop.run(measure_appends(&loop, arguments[2], std::stoll(arguments[3])));
        measure_reading(arguments[2]);
    } else {
        std::fputs("usage: record_tool append DIRECTORY | log DIRECTORY FIRST | measure DIRECTORY COUNT\n", stderr);
        return 2;
    }
    return 0;
}
