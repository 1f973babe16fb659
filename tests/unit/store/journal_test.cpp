#include "store/directories.hpp"
#include "store/journal.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

using namespace cellgate;
using namespace cellgate::store;

namespace {

struct Folder {
    std::string path = make_unique_directory(std::filesystem::temp_directory_path(), "cellgate-test-");
    ~Folder() { remove_tree(path); }
};

RawJson text_output(const std::string& text) {
    return RawJson::of({{"output_type", "stream"}, {"text", text}});
}

} // namespace

TEST_CASE("what was appended is read back, in pages, byte for byte") {
    const Folder folder;
    Journal journal(folder.path + "/a.jsonl");
    for (int i = 0; i < 100; ++i) {
        CHECK(journal.append(text_output(std::to_string(i)), i > 97) == i);
    }
    std::int64_t next = 0;
    std::size_t pages = 0;
    while (next < journal.next_seq()) {
        const std::vector<JournalRecord> page = journal.read(next, 500);
        REQUIRE_FALSE(page.empty());
        for (const JournalRecord& record : page) {
            CHECK(record.seq == next);
            CHECK(record.output == text_output(std::to_string(next)));
            CHECK(record.late == (next > 97));
            ++next;
        }
        ++pages;
    }
    CHECK(pages > 5);
    CHECK(journal.dropped_bytes() == 0);
    CHECK(journal.read(next, 500).empty());
}

TEST_CASE("a journal at rest holds no descriptor, and is written and read as before") {
    const Folder folder;
    const auto descriptors = [] {
        const std::filesystem::directory_iterator open("/proc/self/fd");
        return std::distance(begin(open), end(open));
    };
    const auto before = descriptors();
    Journal journal(folder.path + "/a.jsonl");
    journal.append(text_output("a"), false);
    CHECK(descriptors() == before + 1);
    journal.rest();
    CHECK(journal.append(text_output("b"), true) == 1);
    CHECK(journal.read(0, 500).at(0).output == text_output("a"));
    CHECK(journal.read(0, 500).at(1).output == text_output("b"));
    CHECK(descriptors() == before);
}

TEST_CASE("a record larger than a page is a page") {
    const Folder folder;
    Journal journal(folder.path + "/a.jsonl");
    journal.append(text_output(std::string(10000, 'x')), false);
    journal.append(text_output("y"), false);
    CHECK(journal.read(0, 10).size() == 1);
}

TEST_CASE("past its limit a journal counts what it drops, and keeps the numbers") {
    const Folder folder;
    Journal journal(folder.path + "/a.jsonl", 200);
    for (int i = 0; i < 10; ++i) {
        journal.append(text_output(std::string(50, 'x')), false);
    }
    CHECK(journal.next_seq() == 10);
    CHECK(journal.dropped_bytes() > 0);
    CHECK(journal.dropped_bytes() < journal.output_bytes());
    CHECK(journal.failure().find("limit") != std::string::npos);
    const std::vector<JournalRecord> all = journal.read(0, 1 << 20);
    REQUIRE(all.size() == 10);
    CHECK(all.front().output);
    CHECK_FALSE(all.back().output);
    CHECK(all.back().bytes == text_output(std::string(50, 'x')).text().size());
}

TEST_CASE("a journal that cannot be created drops everything and says why") {
    Journal journal("/nowhere/at/all.jsonl");
    CHECK(journal.append(text_output("x"), false) == 0);
    CHECK(journal.dropped_bytes() == journal.output_bytes());
    CHECK(journal.failure().find("/nowhere/at/all.jsonl") != std::string::npos);
    CHECK_FALSE(journal.read(0, 100).front().output);
}

TEST_CASE("a journal is not written through a link, nor over a file that is there") {
    const Folder folder;
    const std::string target = folder.path + "/target";
    std::ofstream(target) << "precious";
    std::filesystem::create_symlink(target, folder.path + "/link.jsonl");
    for (const std::string& path : {folder.path + "/link.jsonl", target}) {
        Journal journal(path);
        journal.append(text_output("x"), false);
        CHECK_FALSE(journal.failure().empty());
    }
    std::string content;
    std::ifstream(target) >> content;
    CHECK(content == "precious");
}

TEST_CASE("a journal that was changed under us gives what is still whole, and no more") {
    const Folder folder;
    Journal journal(folder.path + "/a.jsonl");
    journal.append(text_output("first"), false);
    journal.append(text_output("second"), false);
    std::filesystem::resize_file(folder.path + "/a.jsonl", 70);
    const std::vector<JournalRecord> records = journal.read(0, 1000);
    REQUIRE(records.size() == 2);
    CHECK(records[0].output);
    CHECK_FALSE(records[1].output);
}
