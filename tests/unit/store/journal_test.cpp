#include "store/directories.hpp"
#include "store/journal.hpp"
#include "store/journals.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>

using namespace cellgate;
using namespace cellgate::store;

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t any_size = std::uint64_t{1} << 30;
constexpr std::uint64_t not_yet_removed = std::uint64_t{64} << 10; // at most, by JournalFiles

struct TestDirectory {
    TempFolder folder;
    std::string parent = folder.path;
    Journals journals;

    explicit TestDirectory(JournalLimits limits = {}) : journals(parent, run_inline, limits) {}

    // Without those that were made ahead.
    std::vector<std::string> files() const {
        std::vector<std::string> names;
        for (const fs::directory_entry& entry : fs::directory_iterator(journals.directory())) {
            if (entry.file_size() > 0) {
                names.push_back(entry.path().filename());
            }
        }
        std::sort(names.begin(), names.end());
        return names;
    }
    std::uint64_t bytes() const {
        std::uint64_t bytes = 0;
        for (const std::string& name : files()) {
            bytes += fs::file_size(journals.directory() + "/" + name);
        }
        return bytes;
    }
};

RawJson text_output(const std::string& text) {
    return RawJson::of({{"output_type", "stream"}, {"text", text}});
}

std::vector<JournalRecord> read(const Journal& journal, std::int64_t from = 0, std::uint64_t max_bytes = any_size) {
    return journal.page(from, max_bytes).read();
}

// Every number once, in order; returns the bytes of what was dropped.
std::uint64_t check_numbers(const Journal& journal, const std::vector<JournalRecord>& records) {
    std::int64_t next = 0;
    std::uint64_t dropped = 0;
    for (const JournalRecord& record : records) {
        CHECK(record.seq == next);
        next += record.count;
        dropped += record.output ? 0 : record.bytes;
    }
    CHECK(next == journal.next_seq());
    return dropped;
}

// A file may grow no further than this, as on a full disk.
struct FullDisk {
    rlimit before{};
    explicit FullDisk(rlim_t bytes) {
        std::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &before);
        const rlimit now{bytes, before.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &now);
    }
    ~FullDisk() { ::setrlimit(RLIMIT_FSIZE, &before); }
};

} // namespace

TEST_CASE("what was appended is read back, in pages, byte for byte") {
    TestDirectory place;
    Journal journal(place.journals, {"a", "s"});
    constexpr std::int64_t count = 5000; // several blocks
    for (std::int64_t i = 0; i < count; ++i) {
        CHECK(journal.append(text_output(std::to_string(i)), i >= count - 2) == i);
    }
    for (const std::uint64_t max_bytes : {std::uint64_t{1}, std::uint64_t{500}, std::uint64_t{100'000}, any_size}) {
        CAPTURE(max_bytes);
        std::int64_t next = max_bytes == 1 ? count - 100 : 0;
        std::size_t pages = 0;
        while (next < journal.next_seq()) {
            const std::vector<JournalRecord> page = read(journal, next, max_bytes);
            REQUIRE_FALSE(page.empty());
            std::uint64_t bytes = 0;
            for (const JournalRecord& record : page) {
                REQUIRE(record.seq == next);
                REQUIRE(record.output == text_output(std::to_string(next)));
                REQUIRE(record.late == (next >= count - 2));
                bytes += record.output->text().size();
                ++next;
            }
            REQUIRE((page.size() == 1 || bytes <= max_bytes));
            ++pages;
        }
        CHECK(pages == (max_bytes == 1 ? 100 : max_bytes == any_size ? 1 : pages));
    }
    CHECK(journal.dropped_bytes() == 0);
    CHECK(journal.problem().empty());
    CHECK(read(journal, count).empty());
    CHECK(read(journal, count + 10).empty());
}

TEST_CASE("a page shows the moment at which it was asked for") {
    TestDirectory place;
    Journal journal(place.journals, {"a", "s"});
    journal.append(text_output("before"), false);
    const JournalPage page = journal.page(0, any_size);
    journal.append(text_output("after"), false);
    CHECK(page.read().size() == 1);
}

TEST_CASE("an execution that says nothing has no file, and one that goes takes its files along") {
    TestDirectory place;
    {
        Journal silent(place.journals, {"silent", "s"});
        Journal loud(place.journals, {"loud", "s"});
        loud.append(text_output("x"), false);
        loud.append(text_output(std::string(300'000, 'x')), false);
        CHECK_FALSE(loud.data_stem(0));
        REQUIRE(loud.data_stem(1));
        std::ofstream(*loud.data_stem(1) + ".0") << "picture";
        std::ofstream(*loud.data_stem(1) + ".1") << "picture";
        CHECK(place.files() == std::vector<std::string>{"1.1.0", "1.1.1", "2.jsonl"});
    }
    CHECK(place.files().empty());
}

TEST_CASE("a journal at rest holds no descriptor, and is written and read as before") {
    TestDirectory place;
    const auto descriptors = [] {
        const fs::directory_iterator open("/proc/self/fd");
        return std::distance(begin(open), end(open));
    };
    Journal other(place.journals, {"b", "s"});
    other.append(text_output("b"), false); // makes files ahead, which are open
    other.retire();
    const auto before = descriptors();
    Journal journal(place.journals, {"a", "s"});
    journal.append(text_output("a"), false); // has one of them now
    CHECK(descriptors() == before);
    journal.retire();
    CHECK(journal.append(text_output("b"), true) == 1);
    CHECK(read(journal).at(0).output == text_output("a"));
    CHECK(read(journal).at(1).output == text_output("b"));
    CHECK(descriptors() == before - 1);
}

TEST_CASE("past its limit a journal keeps its first and its latest records, and says what it dropped between") {
    constexpr std::uint64_t limit = 100'000;
    TestDirectory place({limit, any_size});
    Journal journal(place.journals, {"a", "s"});
    const std::string text(500, 'x');
    std::int64_t count = 0;
    while (journal.problem().empty()) {
        journal.append(text_output(text + std::to_string(count++)), false);
    }
    CHECK(journal.output_bytes() > limit * 8 / 10); // nothing is dropped early
    for (; count < 5000; ++count) {
        journal.append(text_output(text + std::to_string(count)), false);
        if (count % 100 == 0) {
            REQUIRE(place.bytes() <= limit + not_yet_removed);
        }
    }
    CHECK(journal.problem().find("100000 bytes") != std::string::npos);
    const std::vector<JournalRecord> all = read(journal);
    CHECK(check_numbers(journal, all) == journal.dropped_bytes());
    std::vector<std::int64_t> gaps;
    std::uint64_t first = 0;
    std::uint64_t latest = 0;
    for (const JournalRecord& record : all) {
        if (!record.output) {
            gaps.push_back(record.seq);
        } else {
            CHECK(record.output == text_output(text + std::to_string(record.seq)));
            (gaps.empty() ? first : latest) += record.bytes;
        }
    }
    CHECK(gaps.size() == 1);
    CHECK(all.back().output);
    CHECK(first > limit * 4 / 10);
    CHECK(latest > limit * 3 / 10);
    // Reading may begin anywhere, also inside the gap.
    const std::vector<JournalRecord> inside = read(journal, gaps.front() + 10, 1);
    CHECK(inside.front().seq == gaps.front() + 10);
    CHECK_FALSE(inside.front().output);
}

TEST_CASE("a record larger than a journal's halves is dropped, and what follows is kept") {
    TestDirectory place({10'000, any_size});
    Journal journal(place.journals, {"a", "s"});
    journal.append(text_output("first"), false);
    journal.append(text_output(std::string(6'000, 'x')), false);
    journal.append(text_output("third"), false);
    const std::vector<JournalRecord> all = read(journal);
    REQUIRE(all.size() == 3);
    CHECK(all[0].output);
    CHECK_FALSE(all[1].output);
    CHECK(all[2].output == text_output("third"));
    CHECK_FALSE(journal.data_stem(1));
}

TEST_CASE("what is dropped takes its large data along") {
    TestDirectory place({2'000'000, any_size});
    Journal journal(place.journals, {"a", "s"});
    const RawJson picture = text_output(std::string(300'000, 'x'));
    for (int i = 0; i < 100; ++i) {
        const std::int64_t seq = journal.append(picture, false);
        if (const std::optional<std::string> stem = journal.data_stem(seq)) {
            std::ofstream(*stem + ".0") << std::string(200'000, 'x');
        }
    }
    CHECK(place.bytes() < 4'000'000);
    CHECK(journal.data_stem(0));
    CHECK(journal.data_stem(99));
    CHECK_FALSE(journal.data_stem(50));
}

TEST_CASE("when all journals are too large, those that ended first are dropped, and what runs is not") {
    TestDirectory place({100'000, 250'000});
    const RawJson output = text_output(std::string(10'000, 'x'));
    std::vector<std::unique_ptr<Journal>> all;
    for (int i = 0; i < 6; ++i) {
        all.push_back(std::make_unique<Journal>(place.journals, JournalTitle{std::to_string(i), "s"}));
        for (int k = 0; k < 8; ++k) {
            all.back()->append(output, false);
        }
        if (i != 0) { // the first goes on running
            all.back()->retire();
        }
        CHECK(place.bytes() < 260'000 + not_yet_removed);
    }
    CHECK(all[0]->dropped_bytes() == 0);
    CHECK(all[1]->dropped_bytes() == all[1]->output_bytes());
    CHECK(all[1]->problem().find("oldest") != std::string::npos);
    const std::vector<JournalRecord> lost = read(*all[1]);
    REQUIRE(lost.size() == 1);
    CHECK(lost.front().count == 8);
    CHECK(all[5]->dropped_bytes() == 0);
    all[1]->append(output, true); // late output of one that was dropped
    CHECK(check_numbers(*all[1], read(*all[1])) == all[1]->output_bytes());
}

// A sanitizer keeps what was freed.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CELLGATE_SANITIZED
#endif
#endif
#ifndef CELLGATE_SANITIZED
TEST_CASE("memory does not grow with the number of records") {
    TestDirectory place;
    Journal journal(place.journals, {"a", "s"});
    const auto resident = [] {
        std::ifstream file("/proc/self/statm");
        std::size_t size = 0;
        std::size_t pages = 0;
        file >> size >> pages;
        return pages * 4096;
    };
    const RawJson small = RawJson::parse("{}");
    journal.append(small, false);
    const std::size_t before = resident();
    for (int i = 0; i < 500'000; ++i) {
        journal.append(small, false);
    }
    CHECK(resident() < before + (std::size_t{2} << 20));
    CHECK(read(journal, 499'999).size() == 2);
}
#endif

TEST_CASE("a journal that cannot be created drops everything and says why") {
    TestDirectory place;
    fs::remove_all(place.journals.directory());
    Journal journal(place.journals, {"a", "s"});
    CHECK(journal.append(text_output("x"), false) == 0);
    CHECK(journal.append(text_output("y"), false) == 1);
    CHECK(journal.dropped_bytes() == journal.output_bytes());
    CHECK(journal.problem().find(".jsonl: No such file") != std::string::npos);
    const std::vector<JournalRecord> all = read(journal);
    REQUIRE(all.size() == 1);
    CHECK(all.front().count == 2);
    CHECK_FALSE(journal.data_stem(0));
}

TEST_CASE("on a full disk a journal keeps what it has, and counts what it has not") {
    TestDirectory place;
    Journal journal(place.journals, {"a", "s"});
    const RawJson output = text_output(std::string(900, 'x'));
    {
        const FullDisk full(10'000);
        for (int i = 0; i < 20; ++i) {
            CHECK(journal.append(output, false) == i);
        }
    }
    journal.append(output, false); // room again, but what follows would come after a gap
    CHECK(journal.problem().find("File too large") != std::string::npos);
    const std::vector<JournalRecord> all = read(journal);
    CHECK(all.size() == 11);
    CHECK(check_numbers(journal, all) == journal.dropped_bytes());
    CHECK(journal.dropped_bytes() == 11 * output.text().size());
    Journal next(place.journals, {"b", "s"});
    next.append(output, false);
    CHECK(next.problem().empty());
}

TEST_CASE("a journal is not written through a link, nor over a file that is there") {
    TestDirectory place;
    const std::string target = place.parent + "/target";
    std::ofstream(target) << "precious";
    fs::create_symlink(target, place.journals.directory() + "/1.jsonl");
    fs::copy_file(target, place.journals.directory() + "/3.jsonl");
    for (const char* id : {"a", "b"}) {
        Journal journal(place.journals, {id, "s"});
        journal.append(text_output("x"), false);
        CHECK_FALSE(journal.problem().empty());
    }
    std::string content;
    std::ifstream(target) >> content;
    CHECK(content == "precious");
}

TEST_CASE("a journal that was changed under us gives what is still whole, and no more") {
    TestDirectory place;
    Journal journal(place.journals, {"a", "s"});
    const std::string path = place.journals.directory() + "/1.jsonl";
    for (const char* text : {"first", "second", "third"}) {
        journal.append(text_output(text), false);
    }
    const auto changed = [&](const std::string& from, const std::string& to) {
        std::ifstream file(path);
        std::string text((std::istreambuf_iterator<char>(file)), {});
        text.replace(text.find(from), from.size(), to);
        std::ofstream(path) << text;
        const std::vector<JournalRecord> records = read(journal);
        check_numbers(journal, records);
        return records;
    };
    CHECK(changed("second", "second").size() == 3);
    SUBCASE("text that is no JSON") {
        const auto records = changed(R"("second"})", R"("second"}]"method)");
        REQUIRE(records.size() == 2);
        CHECK(records[0].output);
        CHECK(records[1].count == 2);
    }
    SUBCASE("the line of another record") {
        CHECK_FALSE(changed(R"({"seq":1)", R"({"seq":0)").back().output);
    }
    SUBCASE("a line too few") {
        CHECK_FALSE(changed("\n{\"seq\":1", " {\"seq\":1").front().output);
    }
    SUBCASE("a shorter file") {
        fs::resize_file(path, 70);
        const auto records = read(journal);
        CHECK(check_numbers(journal, records) > 0);
    }
    SUBCASE("no file") {
        fs::remove(path);
        CHECK(read(journal).size() == 1);
        journal.append(text_output("fourth"), false); // goes on into the file that has no name
        CHECK(check_numbers(journal, read(journal)) == journal.output_bytes());
    }
}
