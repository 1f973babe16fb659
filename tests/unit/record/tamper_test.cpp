// What an attacker who can write the database does to a record, and what verifying says.

#include "record_testing.hpp"
#include "signing_key.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fcntl.h>
#include <fstream>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace cellgate;
using namespace cellgate::record;

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t size = 12;

// A small record, and a connection that changes it.
struct SmallRecord {
    RecordFolder folder;
    Database database;

    SmallRecord() : database((fill(folder, size), folder.open())) {
        database.run("PRAGMA journal_mode=MEMORY;PRAGMA synchronous=OFF");
    }

    VerifyResult verify(bool with_kept = false) const {
        return folder.reader().verify(with_kept ? std::optional(folder.kept()) : std::nullopt);
    }
    std::string json(std::int64_t seq) {
        return database.text(fmt::format("SELECT json FROM entries WHERE seq = {}", seq)).value();
    }
    void set_json(std::int64_t seq, const std::string& json) {
        Statement(database, "UPDATE entries SET json = ? WHERE seq = ?").bind(std::string_view(json)).bind(seq).run();
    }
    void set_leaf(std::int64_t seq, const Hash& leaf) {
        Statement(database, "UPDATE entries SET leaf = ? WHERE seq = ?").bind(leaf).bind(seq).run();
    }
    void set_entry(std::int64_t seq, const std::string& json) {
        set_json(seq, json);
        set_leaf(seq, leaf_hash(json));
    }
};

void check_names(const VerifyResult& result, std::optional<std::int64_t> seq, const std::string& problem) {
    CHECK_FALSE(result.ok);
    CHECK(result.first_bad_seq == seq);
    CHECK(result.problem == problem);
}

// What `change` does to the small record is undone afterwards.
template <class Change>
VerifyResult after(SmallRecord& small, const std::string& sql, const Change& change) {
    const std::string path = small.folder.path + "/record.sqlite";
    const std::string before = file_text(path);
    small.database.run(sql);
    change();
    VerifyResult result = small.verify();
    std::ofstream(path, std::ios::binary) << before;
    small.database = small.folder.open();
    return result;
}
VerifyResult after(SmallRecord& small, const std::string& sql) {
    return after(small, sql, [] {});
}

} // namespace

TEST_CASE("each byte of an entry and of its hash is proven") {
    SmallRecord small;
    for (std::int64_t seq = 0; seq < size; ++seq) {
        const std::string json = small.json(seq);
        const std::string changed = fmt::format("entry {} was changed", seq);
        for (std::size_t at = 0; at < json.size(); ++at) {
            std::string other = json;
            other[at] = static_cast<char>(other[at] ^ 1);
            small.set_json(seq, other);
            check_names(small.verify(), seq, changed);
        }
        small.set_json(seq, json);
        const Hash leaf = leaf_hash(json);
        for (std::size_t at = 0; at < leaf.size(); ++at) {
            Hash other = leaf;
            other[at] ^= 0x80;
            small.set_leaf(seq, other);
            check_names(small.verify(), seq, changed);
        }
        small.set_leaf(seq, leaf);
    }
    CHECK(small.verify().ok); // the control: all is as it was
}

TEST_CASE("an entry that is gone, in another place or added is named") {
    SmallRecord small;
    for (std::int64_t seq = 0; seq < size - 1; ++seq) {
        check_names(after(small, fmt::format("DELETE FROM entries WHERE seq = {}", seq)), seq,
                    fmt::format("entry {} is missing", seq));
    }
    check_names(after(small, "DELETE FROM entries WHERE seq >= 5 AND seq <= 9"), 5, "entries 5 to 9 are missing");
    for (std::int64_t a = 0; a < size; ++a) {
        for (std::int64_t b = a + 1; b < size; ++b) {
            const std::string swap =
                fmt::format("UPDATE entries SET seq = -9 WHERE seq = {0};UPDATE entries SET seq = {0} WHERE seq = {1};"
                            "UPDATE entries SET seq = {1} WHERE seq = -9",
                            a, b);
            check_names(after(small, swap), a, fmt::format("entry {} is out of order", a));
        }
    }
    for (std::int64_t seq = 0; seq < size; ++seq) {
        const std::string shift = fmt::format(
            "UPDATE entries SET seq = -1 - seq WHERE seq >= {0};UPDATE entries SET seq = -seq WHERE seq < 0;"
            "INSERT INTO entries SELECT {0}, leaf, time, type, session_id, execution_id, json FROM entries "
            "WHERE seq = {1}",
            seq, seq == 0 ? 5 : 0);
        check_names(after(small, shift), seq, fmt::format("entry {} is out of order", seq));
    }
    check_names(after(small, "INSERT INTO entries SELECT -1, leaf, time, type, session_id, execution_id, json "
                             "FROM entries WHERE seq = 0"),
                -1, "entry -1 is out of order");
}

TEST_CASE("a record that was cut is noticed by its checkpoint, which may be kept elsewhere") {
    for (std::int64_t end = 0; end < size; ++end) {
        SmallRecord small;
        const std::string problem = fmt::format("the record ends at {}; the checkpoint names {}", end, size);
        small.database.run(fmt::format("DELETE FROM entries WHERE seq >= {}", end));
        check_names(small.verify(), std::nullopt, problem);
        small.database.run("DELETE FROM checkpoints");
        CHECK(small.verify().ok); // the control
        check_names(small.verify(true), std::nullopt, problem);
    }
}

TEST_CASE("an entry that was changed together with its hash is noticed by the checkpoint") {
    for (std::int64_t seq = 0; seq < size; ++seq) {
        SmallRecord small;
        std::string json = small.json(seq);
        json.replace(json.find("number"), 6, "NUMBER");
        small.set_entry(seq, json);
        check_names(small.verify(), std::nullopt,
                    "entries 0 to 11 do not give the root of the checkpoint of 12 entries: one of them was changed");
    }
}

TEST_CASE("a record that was written again from its beginning is noticed only by a checkpoint kept elsewhere") {
    RecordFolder folder;
    fill(folder, size);
    const std::string kept = folder.kept();
    fs::remove(folder.path + "/record.sqlite");
    Record record(folder.options()); // with the same key
    for (std::int64_t n = 0; n < size; ++n) {
        record.append(numbered_entry(n + 1), Durability::written);
    }
    result_of(record.close());
    CHECK(folder.reader().verify(std::nullopt).ok); // the control
    check_names(folder.reader().verify(kept), std::nullopt,
                "entries 0 to 11 do not give the root of the checkpoint of 12 entries: one of them was changed");
}

TEST_CASE("checkpoints are signed by the record's key and no other") {
    RecordFolder folder;
    fill(folder, size);
    const std::string kept = folder.kept();
    const auto problem_of = [&](const std::string& text) { return folder.reader().verify(text).problem; };
    CHECK(problem_of(kept).empty());
    RecordFolder other;
    fill(other, size); // the same entries under the same origin, with a key of its own
    CHECK(problem_of(other.kept()).find("is not signed with the key of record.pub") != std::string::npos);
    CHECK(problem_of("") == "no checkpoint of cellgate/test is in what was kept");
    std::string of_another = kept;
    while (of_another.find("cellgate/test") != std::string::npos) {
        of_another.replace(of_another.find("cellgate/test"), 13, "cellgate/else");
    }
    CHECK(problem_of(of_another) == "no checkpoint of cellgate/test is in what was kept");
    CHECK(problem_of(of_another + kept).empty()); // several records may share the file
    Database database = folder.open();
    for (std::size_t at = 0; at < kept.size(); ++at) {
        std::string changed = kept;
        changed[at] = static_cast<char>(changed[at] ^ 1);
        Statement(database, "UPDATE checkpoints SET text = ?").bind(std::string_view(changed)).run();
        CHECK(folder.reader().verify(std::nullopt).problem.starts_with("the checkpoint of 12 entries was changed"));
        CHECK_FALSE(folder.reader().verify(changed).ok);
    }
    fs::copy_file(other.path + "/record.pub", folder.path + "/record.pub", fs::copy_options::overwrite_existing);
    Statement(database, "UPDATE checkpoints SET text = ?").bind(std::string_view(kept)).run();
    CHECK_FALSE(folder.reader().verify(std::nullopt).ok);
    fs::remove(folder.path + "/record.pub");
    CHECK(folder.reader().verify(std::nullopt).problem.find("record.pub") != std::string::npos);
}

TEST_CASE("the hashes of whole blocks are proven too") {
    RecordFolder folder;
    fill(folder, 600);
    Database database = folder.open();
    CHECK(folder.reader().verify(std::nullopt).ok); // the control
    const std::string problem = "entries 256 to 511 do not give their hash: one of them was changed";
    database.run("UPDATE nodes SET hash = zeroblob(32) WHERE n = 1");
    check_names(folder.reader().verify(std::nullopt), std::nullopt, problem);
    database.run("DELETE FROM nodes WHERE n = 1");
    check_names(folder.reader().verify(std::nullopt), std::nullopt, problem);
    database.run("DELETE FROM entries WHERE seq >= 256;DELETE FROM blocks WHERE n = 1;DELETE FROM checkpoints");
    CHECK(folder.reader().verify(std::nullopt).ok);
    database.run("DELETE FROM entries WHERE seq >= 255");
    check_names(folder.reader().verify(std::nullopt), std::nullopt, "the record ends at 255; it has hashes up to 256");
}

TEST_CASE("a column that says something else than its entry is noticed") {
    SmallRecord small;
    for (std::int64_t seq = 0; seq < size; ++seq) {
        const std::string changed = fmt::format("entry {} was changed", seq);
        for (const char* lie : {"time = '2027-01-15T08:00:00.001Z'", "time = CAST(time AS BLOB)", "type = 'other'",
                                "type = CAST(type AS BLOB)", "session_id = NULL", "session_id = 's9'",
                                "session_id = CAST(session_id AS BLOB)", "execution_id = ''", "execution_id = 'x99'"}) {
            CAPTURE(lie);
            check_names(after(small, fmt::format("UPDATE entries SET {} WHERE seq = {}", lie, seq)), seq, changed);
        }
    }
    CHECK(small.verify().ok); // the control
}

TEST_CASE("blocks that would hide entries from a query by time are noticed") {
    RecordFolder folder;
    fill(folder, 600);
    Database database = folder.open();
    const std::string of_second =
        "the database is damaged: the times of entries 256 to 511 are not those of their block";
    for (const auto& [sql, problem] : std::vector<std::pair<std::string, std::string>>{
             {"UPDATE blocks SET first_time = last_time WHERE n = 1", of_second},
             {"UPDATE blocks SET last_time = first_time WHERE n = 1", of_second},
             {"UPDATE blocks SET first_time = CAST(first_time AS BLOB) WHERE n = 1", of_second},
             {"DELETE FROM blocks WHERE n = 1", of_second},
             {"INSERT INTO blocks VALUES(2, '', '')",
              "the database is damaged: there are blocks that the record has not"}}) {
        REQUIRE(folder.reader().verify(std::nullopt).ok); // the control
        database.run(sql);
        check_names(folder.reader().verify(std::nullopt), std::nullopt, problem);
        database.run("DELETE FROM blocks;INSERT INTO blocks SELECT seq / 256, min(time), max(time) FROM entries "
                     "WHERE seq < 512 GROUP BY 1");
    }
}

TEST_CASE("definitions that make queries lie are noticed") {
    RecordFolder folder;
    fill(folder, size);
    Database database = folder.open();
    Query query;
    query.types = {"tool.called"};
    CHECK(folder.reader().query(query).size() == 8);
    SUBCASE("a view in place of the table") {
        database.run("ALTER TABLE entries RENAME TO hidden;"
                     "CREATE VIEW entries AS SELECT * FROM hidden WHERE type <> 'tool.called' OR seq < 0 OR TRUE");
    }
    SUBCASE("something more") {
        database.run("CREATE TABLE more(a)");
    }
    CHECK(folder.reader().verify(folder.kept()).problem.starts_with("the database is damaged: "));
}

TEST_CASE("each byte of the file is proven, or has no effect") {
    RecordFolder folder;
    fill(folder, 3);
    folder.open().run("PRAGMA journal_mode=DELETE;PRAGMA page_size=512;VACUUM");
    const std::string path = folder.path + "/record.sqlite";
    const std::string whole = file_text(path);
    const std::vector<std::string> before = all_entries(folder.reader());
    Query tools;
    tools.types = {"tool.called"};
    const std::size_t tool_calls = folder.reader().query(tools).size();
    REQUIRE(folder.reader().verify(std::nullopt).ok); // the control
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    std::size_t noticed = 0;
    for (std::size_t at = 0; at < whole.size(); ++at) {
        const char flipped = static_cast<char>(whole[at] ^ 0xff);
        REQUIRE(::pwrite(file, &flipped, 1, static_cast<off_t>(at)) == 1);
        const RecordReader reader = folder.reader();
        if (!reader.verify(std::nullopt).ok) {
            ++noticed;
        } else {
            CAPTURE(at);
            CHECK(all_entries(reader) == before);
            CHECK(reader.query(tools).size() == tool_calls);
        }
        REQUIRE(::pwrite(file, &whole[at], 1, static_cast<off_t>(at)) == 1);
    }
    ::close(file);
    MESSAGE(fmt::format("{} of {} bytes", noticed, whole.size()));
    CHECK(noticed > whole.size() / 4);
}
