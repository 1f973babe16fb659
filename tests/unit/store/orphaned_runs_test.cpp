#include "base/json_codec.hpp"
#include "store/directories.hpp"
#include "store/journal.hpp"
#include "store/journals.hpp"
#include "store/ledger.hpp"
#include "store/orphaned_runs.hpp"
#include "store/recovered_journal.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

using namespace cellgate;
using namespace cellgate::store;

namespace fs = std::filesystem;

namespace {

LedgerEntry entry(const std::string& execution_id) {
    LedgerEntry made;
    made.execution_id = execution_id;
    made.session_id = "s";
    return made;
}

RawJson text_output(const std::string& text) {
    return RawJson::checked(R"({"output_type":"stream","name":"stdout","text":)" + to_json(text) + "}");
}

// A root's directory of journals, with a sidecar in it that may crash.
struct Root {
    TempFolder folder;
    std::string path = folder.path;
    Journals journals{path, run_inline};
    Ledger ledger{journals.directory()};

    // The directory that would be left if it were killed now: the copy is not locked.
    std::string crash(const std::string& name = "run-crashed") const {
        fs::copy(journals.directory(), path + "/" + name);
        return path + "/" + name;
    }
};

std::vector<std::string> ids_of(const std::vector<LedgerEntry>& entries) {
    std::vector<std::string> ids;
    for (const LedgerEntry& each : entries) {
        ids.push_back(each.execution_id);
    }
    return ids;
}

} // namespace

TEST_CASE("after a crash it is known what was open, what ran, what waited, and what had ended how") {
    Root root;
    root.ledger.session_opened("s");
    root.ledger.session_opened("closed");
    root.ledger.session_closed("closed");
    LedgerEntry first = entry("ended");
    root.ledger.queued(first);
    root.ledger.started("ended");
    root.ledger.finished("ended", RawJson::parse(R"({"status":"ok"})"));
    LedgerEntry second = entry("ran");
    second.cell = RawJson::parse(R"({"uri":"file:///a.py","line":3})");
    root.ledger.queued(second);
    root.ledger.started("ran");
    root.ledger.queued(entry("waited"));
    const std::string crashed = root.crash();

    const std::vector<OrphanedRun> runs = find_unreported_runs(root.path);
    REQUIRE(runs.size() == 1);
    CHECK(runs[0].directory == crashed);
    CHECK(runs[0].sessions == std::vector<std::string>{"s"});
    REQUIRE(ids_of(runs[0].executions) == std::vector<std::string>{"ran", "waited"});
    CHECK(runs[0].executions[0].started);
    CHECK(runs[0].executions[0].cell == second.cell);
    CHECK_FALSE(runs[0].executions[1].started);

    CHECK(find_orphaned_execution(root.path, "ended")->entry.result->text() == R"({"status":"ok"})");
    CHECK_FALSE(find_orphaned_execution(root.path, "ran")->entry.result);
    CHECK_FALSE(find_orphaned_execution(root.path, "never"));
}

TEST_CASE("a running sidecar is not reported, and a reported run is not reported again") {
    Root root;
    root.ledger.session_opened("s");
    root.ledger.queued(entry("a"));
    CHECK(find_unreported_runs(root.path).empty());
    CHECK_FALSE(find_orphaned_execution(root.path, "a"));
    const std::string crashed = root.crash();
    CHECK(find_unreported_runs(root.path).size() == 1);
    mark_reported(crashed);
    CHECK(find_unreported_runs(root.path).empty());
    CHECK(find_orphaned_execution(root.path, "a"));
}

TEST_CASE("a crash with nothing to lose is not worth a word") {
    Root root;
    root.ledger.session_opened("s");
    root.ledger.queued(entry("a"));
    root.ledger.finished("a", RawJson());
    root.ledger.session_closed("s");
    root.crash();
    CHECK(find_unreported_runs(root.path).empty());
}

TEST_CASE("a ledger that was cut off, or that is none, is read as far as it goes") {
    Root root;
    root.ledger.queued(entry("a"));
    root.ledger.queued(entry("b"));
    const std::string crashed = root.crash();
    const std::string file = crashed + "/ledger";
    fs::resize_file(file, fs::file_size(file) - 3);
    CHECK(ids_of(read_ledger(crashed).executions) == std::vector<std::string>{"a"});
    std::ofstream(file) << "\n{}\nnull\n[\n{\"queued\":3}\n{\"finished\":{\"executionId\":\"x\",\"result\":1}}\n";
    CHECK(read_ledger(crashed).executions.empty());
    fs::remove(file);
    CHECK(read_ledger(crashed).executions.empty());
    CHECK(find_unreported_runs(root.path).empty());
}

TEST_CASE("a ledger does not grow without bound, and keeps what is open") {
    Root root;
    root.ledger.session_opened("s");
    root.ledger.queued(entry("open"));
    root.ledger.started("open");
    const RawJson large = RawJson::checked('"' + std::string(std::size_t{1} << 20, 'x') + '"');
    for (int i = 0; i < 100; ++i) {
        const std::string id = "e" + std::to_string(i);
        root.ledger.queued(entry(id));
        root.ledger.finished(id, large);
    }
    CHECK(fs::file_size(root.journals.directory() + "/ledger") < std::size_t{33} << 20);
    const LedgerContents contents = read_ledger(root.journals.directory());
    CHECK(contents.sessions == std::vector<std::string>{"s"});
    REQUIRE(!contents.executions.empty());
    CHECK(contents.executions.front().execution_id == "open");
    CHECK(contents.executions.front().started);
    CHECK(contents.executions.back().execution_id == "e99");
}

TEST_CASE("the output of a crashed sidecar is found in its files") {
    Root root;
    Journal wanted(root.journals, {"wanted", "s"});
    Journal other(root.journals, {"other", "s"});
    std::vector<RawJson> outputs;
    for (int i = 0; i < 1000; ++i) {
        outputs.push_back(text_output(std::to_string(i) + std::string(500, 'x') + "\n"));
        wanted.append(outputs.back(), i == 999);
        other.append(text_output("other"), false);
    }
    const std::string crashed = root.crash();
    const RecoveredJournal left(crashed, "wanted");
    CHECK(left.next_seq() == 1000);
    CHECK(left.output_bytes() == wanted.output_bytes());
    std::int64_t next = 0;
    int pages = 0;
    while (next < left.next_seq()) {
        for (const JournalRecord& record : left.page(next, 20'000).read()) {
            REQUIRE(record.seq == next);
            CHECK(record.output->text() == outputs[static_cast<std::size_t>(next)].text());
            CHECK(record.late == (next == 999));
            ++next;
        }
        ++pages;
    }
    CHECK(pages > 10);
    CHECK(RecoveredJournal(crashed, "none").next_seq() == 0);
}

TEST_CASE(
    "records missing in the middle of a recovered journal are counted, and a line that was cut off is not there") {
    Root root;
    Journal journal(root.journals, {"a", "s"});
    for (int i = 0; i < 6; ++i) {
        journal.append(text_output(std::to_string(i)), false);
    }
    const std::string crashed = root.crash();
    for (const fs::directory_entry& file : fs::directory_iterator(crashed)) {
        if (file.path().extension() != ".jsonl" || file.file_size() == 0) {
            continue;
        }
        std::ifstream in(file.path());
        std::string kept;
        for (std::string line; std::getline(in, line);) {
            if (!line.starts_with(R"({"seq":2,)") && !line.starts_with(R"({"seq":3,)")) {
                kept += line + "\n";
            }
        }
        kept.resize(kept.size() - 4);
        std::ofstream(file.path()) << kept;
    }
    const RecoveredJournal left(crashed, "a");
    CHECK(left.next_seq() == 5);
    const std::vector<JournalRecord> records = left.page(0, 1000).read();
    REQUIRE(records.size() == 4);
    CHECK_FALSE(records[2].output);
    CHECK(records[2].seq == 2);
    CHECK(records[2].count == 2);
    CHECK(records[3].seq == 4);
}
