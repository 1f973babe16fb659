#include "verifier.hpp"

#include "base/error.hpp"
#include "base/json_scan.hpp"
#include "checkpoint.hpp"
#include "schema.hpp"
#include "stored_hashes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace cellgate::record {

namespace {

std::string range_text(std::int64_t first, std::int64_t last) {
    return first == last ? fmt::format("entry {}", first) : fmt::format("entries {} to {}", first, last);
}

std::optional<std::int64_t> integer_member(std::string_view json, std::string_view name) {
    const std::string_view text = json_member(json, name);
    std::int64_t value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = status == std::errc() && end == text.data() + text.size();
    return whole ? std::optional(value) : std::nullopt;
}

class Verifier {
  public:
    Verifier(Database& database, VerifierKey key) : database_(database), key_(std::move(key)), hashes_(database) {}

    VerifyResult run(const std::optional<std::string>& kept) {
        if (read_checkpoints() && (!kept || add_kept(*kept)) && read_entries() && check_end() && check_removed()) {
            check_database();
        }
        result_.entries = tree_.size();
        return std::move(result_);
    }

  private:
    bool fail(std::optional<std::int64_t> seq, std::string problem) {
        result_.ok = false;
        result_.first_bad_seq = seq;
        result_.problem = std::move(problem);
        return false;
    }
    bool fail_missing(std::int64_t first, std::int64_t last) {
        return fail(first, fmt::format("{} {} missing", range_text(first, last), first == last ? "is" : "are"));
    }

    bool read_checkpoints() {
        Statement rows(database_, "SELECT size, text FROM checkpoints ORDER BY size");
        while (rows.step()) {
            const std::int64_t size = rows.integer(0);
            std::vector<Checkpoint> found = parse_checkpoints(rows.text(1));
            if (found.size() != 1 || found[0].size != size || found[0].text != rows.text(1) ||
                found[0].origin != key_.name || !found[0].is_signed_by(key_)) {
                return fail(std::nullopt, fmt::format("the checkpoint of {} entries was changed, or is not signed with "
                                                      "the key of record.pub",
                                                      size));
            }
            result_.checkpoint = found[0].text;
            result_.checkpoint_size = size;
            checkpoints_.push_back(std::move(found[0]));
        }
        return true;
    }

    bool add_kept(const std::string& text) {
        std::vector<Checkpoint> kept = parse_checkpoints(text);
        std::erase_if(kept, [this](const Checkpoint& each) { return each.origin != key_.name; });
        if (kept.empty()) {
            return fail(std::nullopt, fmt::format("no checkpoint of {} is in what was kept", key_.name));
        }
        for (Checkpoint& each : kept) {
            if (!each.is_signed_by(key_)) {
                return fail(std::nullopt,
                            fmt::format("the kept checkpoint of {} entries is not signed with the key of record.pub",
                                        each.size));
            }
            checkpoints_.push_back(std::move(each));
        }
        return true;
    }

    bool read_entries() {
        std::sort(checkpoints_.begin(), checkpoints_.end(),
                  [](const Checkpoint& a, const Checkpoint& b) { return a.size < b.size; });
        Statement rows(database_, "SELECT seq, leaf, json, time, type, session_id, execution_id, "
                                  "min(typeof(time) = 'text', typeof(type) = 'text', typeof(session_id) IN ('text', "
                                  "'null'), typeof(execution_id) IN ('text', 'null')) FROM entries ORDER BY seq");
        bool found = rows.step();
        if (!check_roots() || (found && !skip_removed(rows.integer(0) / block_size))) {
            return false;
        }
        for (; found; found = rows.step()) {
            const std::string json = rows.text(2);
            if (!check_entry(rows.integer(0), rows.hash(1), json) || !check_columns(rows, json)) {
                return false;
            }
            note_pruning(json);
            note_time(rows.text(3));
            tree_.append(rows.hash(1), on_complete_);
            if (!result_.ok || !check_roots() || !check_block()) {
                return false;
            }
        }
        return true;
    }

    bool skip_removed(std::int64_t blocks) {
        for (std::int64_t n = 0; n < blocks; ++n) {
            const std::optional<Hash> hash = hashes_.find(1, n);
            if (!hash) {
                return fail(std::nullopt, fmt::format("the hash of the removed {} is missing",
                                                      range_text(n * block_size, (n + 1) * block_size - 1)));
            }
            tree_.append_subtree(tile_height, *hash, on_complete_);
            if (!result_.ok || !check_roots()) {
                return false;
            }
        }
        result_.removed = tree_.size();
        return true;
    }

    // An entry that no checkpoint covers could have been added by anyone.
    void note_pruning(const std::string& json) {
        // As `type` is the last member.
        if (json.ends_with(fmt::format("\"type\":\"{}\"}}", pruned_type)) && tree_.size() < result_.checkpoint_size) {
            const std::int64_t removed = integer_member(json_member(json, "data"), "firstKept").value_or(0);
            said_to_be_removed_ = std::max(said_to_be_removed_, removed);
        }
    }

    bool check_entry(std::int64_t seq, const Hash& leaf, const std::string& json) {
        const std::int64_t expected = tree_.size();
        if (seq > expected) {
            return fail_missing(expected, seq - 1);
        }
        if (leaf_hash(json) != leaf) {
            return fail(seq, fmt::format("entry {} was changed", seq));
        }
        if (check_json(json)) {
            return fail(seq, fmt::format("entry {} is not JSON", seq));
        }
        if (seq < expected || integer_member(json, "seq") != seq) {
            return fail(seq, fmt::format("entry {} is out of order", seq));
        }
        return true;
    }

    // What queries read in place of the JSON.
    bool check_columns(const Statement& row, const std::string& json) {
        constexpr std::array<std::string_view, 4> names = {"time", "type", "sessionId", "executionId"};
        bool same = row.integer(7) == 1; // their types
        for (std::size_t i = 0; i < names.size(); ++i) {
            same = same && row.optional_text(static_cast<int>(i) + 3) == json_member_text(json, names[i]);
        }
        return same || fail(row.integer(0), fmt::format("entry {} was changed", row.integer(0)));
    }

    void note_time(const std::string& time) {
        const bool is_first = tree_.size() % block_size == 0;
        first_time_ = is_first ? time : std::min(first_time_, time);
        last_time_ = is_first ? time : std::max(last_time_, time);
    }

    // The times of the block that the last entry completed.
    bool check_block() {
        if (tree_.size() % block_size != 0) {
            return true;
        }
        const std::int64_t n = tree_.size() / block_size - 1;
        Statement block(database_, "SELECT count(*) FROM blocks WHERE n = ? AND first_time = ? AND last_time = ?");
        block.bind(n).bind(first_time_).bind(last_time_).step();
        ++blocks_;
        return block.integer(0) == 1 ||
               fail(std::nullopt, fmt::format("the database is damaged: the times of {} are not those of their block",
                                              range_text(n * block_size, (n + 1) * block_size - 1)));
    }

    void check_node(int height, std::int64_t n, const Hash& root) {
        if (height > 0 && height % tile_height == 0 && hashes_.find(height / tile_height, n) != root) {
            const std::string entries = range_text(n << height, ((n + 1) << height) - 1);
            fail(std::nullopt, fmt::format("{} do not give their hash: one of them was changed", entries));
        }
    }

    // Those of the present size.
    bool check_roots() {
        for (; next_checkpoint_ < checkpoints_.size(); ++next_checkpoint_) {
            const Checkpoint& checkpoint = checkpoints_[next_checkpoint_];
            if (checkpoint.size > tree_.size()) {
                return true;
            }
            if (checkpoint.size < tree_.size()) {
                ++result_.checkpoints_skipped;
                continue;
            }
            if (checkpoint.root != tree_.root()) {
                const auto before = std::find_if(checkpoints_.rbegin(), checkpoints_.rend(),
                                                 [&](const Checkpoint& each) { return each.size < checkpoint.size; });
                const std::int64_t first = before == checkpoints_.rend() ? 0 : before->size;
                return fail(std::nullopt, fmt::format("{} do not give the root of the checkpoint of {} entries: one of "
                                                      "them was changed",
                                                      range_text(first, checkpoint.size - 1), checkpoint.size));
            }
            ++result_.checkpoints_checked;
        }
        return true;
    }

    bool check_end() {
        if (next_checkpoint_ < checkpoints_.size()) {
            return fail(std::nullopt, fmt::format("the record ends at {}; the checkpoint names {}", tree_.size(),
                                                  checkpoints_.back().size));
        }
        Statement beyond(database_, "SELECT max((n + 1) << (? * level)) FROM nodes");
        if (beyond.bind(std::int64_t{tile_height}).step() && beyond.integer(0) > tree_.size()) {
            return fail(std::nullopt,
                        fmt::format("the record ends at {}; it has hashes up to {}", tree_.size(), beyond.integer(0)));
        }
        return true;
    }

    bool check_removed() {
        return result_.removed <= said_to_be_removed_ || fail_missing(said_to_be_removed_, result_.removed - 1);
    }

    // What queries depend on: the definitions, and the indexes.
    void check_database() {
        Statement definitions(database_, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid");
        for (const char* expected : schema) {
            if (!definitions.step() || definitions.text(0) != expected) {
                fail(std::nullopt, "the database is damaged: its tables are not those of a record");
                return;
            }
        }
        if (database_.integer("SELECT count(*) FROM blocks") != blocks_) {
            fail(std::nullopt, "the database is damaged: there are blocks that the record has not");
            return;
        }
        const std::string found = database_.text("PRAGMA integrity_check(1)").value_or("");
        if (definitions.step() || found != "ok") {
            fail(std::nullopt, fmt::format("the database is damaged: {}", found));
        }
    }

    Database& database_;
    VerifierKey key_;
    StoredHashes hashes_;
    std::vector<Checkpoint> checkpoints_; // by size
    std::size_t next_checkpoint_ = 0;
    std::int64_t said_to_be_removed_ = 0; // by an entry
    std::string first_time_;              // of the block that is read
    std::string last_time_;
    std::int64_t blocks_ = 0; // that are complete and not removed
    MerkleTree tree_;
    MerkleTree::OnComplete on_complete_ = [this](int height, std::int64_t n, const Hash& root) {
        check_node(height, n, root);
    };
    VerifyResult result_;
};

VerifyResult failed(std::string problem) {
    VerifyResult result;
    result.ok = false;
    result.problem = std::move(problem);
    return result;
}

} // namespace

VerifyResult verify_record(Database& database, const std::string& directory,
                           const std::optional<std::string>& kept_checkpoints) {
    std::optional<VerifierKey> key;
    try {
        key = VerifierKey::read(directory);
        require_format(database);
    } catch (const Error& error) {
        return failed(error.message);
    }
    try {
        const Transaction transaction(database, Database::Access::read);
        return Verifier(database, *key).run(kept_checkpoints);
    } catch (const Error& error) {
        return failed(fmt::format("the database is damaged: {}", error.message));
    }
}

} // namespace cellgate::record
