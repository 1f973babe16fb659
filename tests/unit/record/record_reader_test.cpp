#include "base/encoding.hpp"
#include "base/json_scan.hpp"
#include "record_testing.hpp"

#include <doctest/doctest.h>

#include <utility>

using namespace cellgate;
using namespace cellgate::record;

namespace {

std::vector<std::int64_t> numbers(const RecordFolder& folder, const Query& query) {
    std::vector<std::int64_t> found;
    for (const StoredEntry& entry : folder.reader().query(query)) {
        found.push_back(entry.seq);
    }
    return found;
}

} // namespace

TEST_CASE("a query gives the newest of those that have everything") {
    RecordFolder folder;
    fill(folder, 20);
    using Numbers = std::vector<std::int64_t>;
    Query query;
    CHECK(numbers(folder, query).size() == 20);
    query.limit = 3;
    CHECK(numbers(folder, query) == Numbers{19, 18, 17});
    query.before_seq = 18;
    CHECK(numbers(folder, query) == Numbers{17, 16, 15});
    query.types = {"cell.started"};
    CHECK(numbers(folder, query) == Numbers{15, 12, 9});
    query.types = {"tool.called", "cell.started", "tool.called", "other"};
    CHECK(numbers(folder, query) == Numbers{17, 16, 15});
    query.session_id = "s1";
    CHECK(numbers(folder, query) == Numbers{17, 15, 13});
    query.execution_id = "x9";
    CHECK(numbers(folder, query) == Numbers{9});
    query = {};
    query.since = first_time + std::chrono::minutes(5);
    query.until = first_time + std::chrono::minutes(8);
    CHECK(numbers(folder, query) == Numbers{7, 6, 5});
    query.session_id = "s2";
    CHECK(numbers(folder, query).empty());
    query = {};
    query.limit = 3;
    query.from_seq = 5;
    query.oldest_first = true;
    CHECK(numbers(folder, query) == Numbers{5, 6, 7});
    query.since = first_time + std::chrono::minutes(9);
    CHECK(numbers(folder, query) == Numbers{9, 10, 11});
    query.from_seq = 18;
    CHECK(numbers(folder, query) == Numbers{18, 19});
}

TEST_CASE("a query by time is exact though the clock was set back") {
    RecordFolder folder;
    Record record(folder.options());
    for (const std::int64_t minute : {1, 2, 8, 3, 9, 4, 5, 10}) {
        record.append(numbered_entry(minute), Durability::written);
    }
    result_of(record.close());
    Query query;
    query.since = first_time + std::chrono::minutes(3);
    query.until = first_time + std::chrono::minutes(6);
    CHECK(numbers(folder, query) == std::vector<std::int64_t>{6, 5, 3});
    query.before_seq = 5;
    CHECK(numbers(folder, query) == std::vector<std::int64_t>{3});
    query.until = query.since;
    CHECK(numbers(folder, query).empty());
}

TEST_CASE("a query by time reads blocks, and is exact with many, with clocks that jump and with removed ones") {
    RecordFolder folder;
    Record record(folder.options());
    for (std::int64_t n = 0; n < 1400; ++n) {
        // Set back in the second block, and far ahead for one entry of the fourth.
        record.append(numbered_entry(n < 300 ? n : n == 900 ? 100'000 : n - 200), Durability::written);
    }
    const auto check_all = [&] {
        for (const auto& [since, until] : std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 200'000},
                                                                                             {0, 50},
                                                                                             {50, 50},
                                                                                             {90, 110},
                                                                                             {100, 101},
                                                                                             {250, 320},
                                                                                             {1190, 1300},
                                                                                             {1200, 99'999},
                                                                                             {99'999, 100'001},
                                                                                             {100'001, 200'000}}) {
            Query query;
            query.since = first_time + std::chrono::minutes(since);
            query.until = first_time + std::chrono::minutes(until);
            query.limit = 2000;
            std::vector<std::int64_t> expected;
            folder.reader().each(0, [&](const StoredEntry& entry) {
                const WallTime time = parse_rfc3339(json_member_text(entry.json, "time").value()).value();
                if (time >= *query.since && time < *query.until) {
                    expected.insert(expected.begin(), entry.seq);
                }
                return true;
            });
            CAPTURE(since);
            CAPTURE(until);
            CHECK(numbers(folder, query) == expected);
        }
    };
    check_all();
    CHECK(result_of(record.prune({first_time, first_time + std::chrono::minutes(400), std::nullopt})) == 512);
    check_all();
    result_of(record.close());
    CHECK(folder.reader().verify(std::nullopt).ok);
}

TEST_CASE("text is found anywhere, in either case, and stands for itself") {
    RecordFolder folder;
    Record record(folder.options());
    for (const char* text : {R"(100% sure)", R"(100 sure)", R"(a_b)", R"(aXb)", R"(back\\slash)", "Größe"}) {
        NewEntry entry = numbered_entry(1);
        entry.data = RawJson::parse(std::string("{\"text\":\"") + text + "\"}");
        record.append(entry, Durability::written);
    }
    result_of(record.close());
    const auto found = [&](const char* text) {
        Query query;
        query.text = text;
        return numbers(folder, query);
    };
    using Numbers = std::vector<std::int64_t>;
    CHECK(found("100% SURE") == Numbers{0});
    CHECK(found("A_B") == Numbers{2});
    CHECK(found("\\\\") == Numbers{4});
    CHECK(found("größe") == Numbers{5});
    CHECK(found("GRÖSSE").empty());
    CHECK(found("TOOL.CALLED").size() == 6);
    CHECK(found("").size() == 6);
}

TEST_CASE("each entry under a checkpoint has a proof, and no other has") {
    RecordFolder folder;
    fill(folder, 600);
    const RecordReader reader = folder.reader();
    for (std::int64_t seq = 0; seq < 600; ++seq) {
        const InclusionProof proof = reader.proof(seq);
        REQUIRE(proof.size == 600);
        REQUIRE(is_included(leaf_hash(proof.json), seq, proof.size, proof.path, proof.root));
        REQUIRE_FALSE(is_included(leaf_hash(proof.json + " "), seq, proof.size, proof.path, proof.root));
    }
    CHECK_THROWS_AS(reader.proof(600), Error);
    CHECK_THROWS_AS(reader.proof(-1), Error);
    Record record(folder.options());
    record.append(numbered_entry(600), Durability::written);
    CHECK_THROWS_AS(reader.proof(600), Error); // until there is a checkpoint
    result_of(record.close());
    CHECK(reader.proof(600).size == 601);
    const auto code_of = [&](std::int64_t seq) {
        try {
            reader.proof(seq);
        } catch (const Error& error) {
            return error.code;
        }
        return ErrorCode::internal_error; // it was proven
    };
    REQUIRE(code_of(5) == ErrorCode::internal_error); // the control
    folder.open().run("UPDATE entries SET json = replace(json, 'number 5', 'number 6') WHERE seq = 5");
    CHECK(code_of(5) == ErrorCode::store_failed);
    folder.open().run("UPDATE checkpoints SET text = replace(text, '601', '600')");
    CHECK(code_of(6) == ErrorCode::store_failed);
}

TEST_CASE("a reader sees what is stored while it is open, and verifies one state") {
    RecordFolder folder;
    Record record(folder.options());
    record.append(numbered_entry(0), Durability::written);
    const RecordReader reader = folder.reader();
    for (std::int64_t n = 1; n < 300; ++n) {
        record.append(numbered_entry(n), Durability::written);
        const VerifyResult result = n % 50 == 0 ? reader.verify(std::nullopt) : VerifyResult{};
        CHECK(result.ok);
    }
    std::int64_t visited = 0;
    reader.each(250, [&](const StoredEntry& entry) {
        CHECK(entry.seq == 250 + visited);
        // What is written meanwhile is not of this state.
        record.append(numbered_entry(1000), Durability::written);
        ++visited;
        return true;
    });
    CHECK(visited == 50);
    result_of(record.close());
}
