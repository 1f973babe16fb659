#include "record_testing.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace cellgate;
using namespace cellgate::record;

namespace {

Pruning before(std::int64_t n) {
    return {first_time + std::chrono::hours(24 * 365), first_time + std::chrono::minutes(n), std::nullopt};
}

std::int64_t prune(const RecordFolder& folder, const Pruning& pruning) {
    Record record(folder.options());
    const std::int64_t removed = result_of(record.prune(pruning));
    result_of(record.close());
    return removed;
}

std::int64_t first_entry(const RecordFolder& folder) {
    std::int64_t first = -1;
    folder.reader().each(0, [&](const StoredEntry& entry) {
        first = entry.seq;
        return false;
    });
    return first;
}

} // namespace

TEST_CASE("blocks that are older are removed, and the others stay provable") {
    RecordFolder folder;
    fill(folder, 1100);
    CHECK(prune(folder, before(255)) == 0); // the last of the first block is not older
    CHECK(folder.reader().verify(folder.kept()).entries == 1100);
    CHECK(prune(folder, before(700)) == 512);
    CHECK(first_entry(folder) == 512);
    VerifyResult result = folder.reader().verify(folder.kept());
    CAPTURE(result.problem);
    CHECK(result.ok);
    CHECK(result.entries == 1101);
    CHECK(result.removed == 512);
    Query newest;
    newest.limit = 1;
    CHECK(folder.reader().query(newest)[0].json.find(R"("data":{"firstKept":512})") != std::string::npos);
    for (const std::int64_t seq : {512, 513, 767, 768, 1023, 1024, 1100}) {
        const InclusionProof proof = folder.reader().proof(seq);
        CHECK(is_included(leaf_hash(proof.json), seq, proof.size, proof.path, proof.root));
    }
    CHECK_THROWS_AS(folder.reader().proof(511), Error);
    CHECK(prune(folder, before(700)) == 0);
    CHECK(prune(folder, before(100000)) == 512);
    result = folder.reader().verify(folder.kept());
    CAPTURE(result.problem);
    CHECK(result.ok);
    CHECK(result.removed == 1024);
    CHECK(result.checkpoints_skipped > 0); // that of 1,000 entries
    Record record(folder.options());
    record.append(numbered_entry(2000), Durability::written);
    result_of(record.close());
    CHECK(folder.reader().verify(folder.kept()).ok);
}

TEST_CASE("as many blocks are removed as the size asks for, and the file becomes smaller") {
    RecordFolder folder;
    fill(folder, 3000);
    const std::string path = folder.path + "/record.sqlite";
    const auto whole = static_cast<std::int64_t>(std::filesystem::file_size(path));
    Pruning pruning{first_time, std::nullopt, whole / 2};
    const std::int64_t removed = prune(folder, pruning);
    CHECK(removed >= 1500);
    CHECK(removed <= 1500 + 512);
    CHECK(static_cast<std::int64_t>(std::filesystem::file_size(path)) <= whole * 6 / 10);
    CHECK(folder.reader().verify(folder.kept()).ok);
    CHECK(prune(folder, Pruning{first_time, std::nullopt, whole}) == 0);
}

TEST_CASE("entries are missing unless a signed entry says that they were removed") {
    RecordFolder folder;
    fill(folder, 600);
    const auto problem = [&] { return folder.reader().verify(std::nullopt).problem; };
    const auto remove = [&](std::int64_t end) {
        folder.open().run(fmt::format("DELETE FROM entries WHERE seq < {}", end));
    };
    SUBCASE("no entry") {
        remove(256);
        CHECK(problem() == "entries 0 to 255 are missing");
    }
    SUBCASE("more than it says") {
        REQUIRE(prune(folder, before(300)) == 256);
        REQUIRE(problem().empty()); // the control
        remove(512);
        CHECK(problem() == "entries 256 to 511 are missing");
    }
    SUBCASE("no whole block") {
        REQUIRE(prune(folder, before(300)) == 256);
        remove(300);
        CHECK(problem() == "entries 256 to 299 are missing");
    }
    SUBCASE("an entry that is added, which is not signed") {
        const std::string json = R"({"actor":"cellgate","data":{"firstKept":256},"seq":600,)"
                                 R"("time":"2027-01-15T08:00:00.000Z","type":"record.pruned"})";
        Database database = folder.open();
        Statement(database, "INSERT INTO entries(seq, leaf, time, type, json) "
                            "VALUES(600, ?, '2027-01-15T08:00:00.000Z', 'record.pruned', ?)")
            .bind(leaf_hash(json))
            .bind(json)
            .run();
        REQUIRE(problem().empty()); // the control: an entry after the last checkpoint
        remove(256);
        CHECK(problem() == "entries 0 to 255 are missing");
    }
    SUBCASE("without the hashes of what was removed") {
        REQUIRE(prune(folder, before(600)) == 512);
        folder.open().run("DELETE FROM nodes WHERE n = 1");
        CHECK(problem() == "the hash of the removed entries 256 to 511 is missing");
    }
}
