#pragma once
// `RecordReader` reads, queries and verifies a record, with a connection of its own: also while a sidecar writes, and
// without one. All functions block, and throw Error{store_failed}; a reader is used by one thread at a time.

#include "base/clock.hpp"
#include "record/entry.hpp"
#include "record/merkle_tree.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::record {

// What all entries found have; nothing means any.
struct Query {
    std::optional<WallTime> since;  // or later
    std::optional<WallTime> until;  // before
    std::vector<std::string> types; // one of them; none means any
    std::optional<std::string> session_id;
    std::optional<std::string> execution_id;
    std::optional<std::string> text; // is part of the JSON; a to z and A to Z are the same
    std::size_t limit = 100;
    std::optional<std::int64_t> before_seq;
    std::optional<std::int64_t> from_seq; // or later
    bool oldest_first = false;
};

// The numbers of the entries that are kept.
struct KeptRange {
    std::int64_t first = 0;
    std::int64_t end = 0; // the next one's
};

struct VerifyResult {
    bool ok = true;
    std::int64_t entries = 0;                  // that the record has or had
    std::int64_t removed = 0;                  // of those, by pruning
    std::optional<std::int64_t> first_bad_seq; // where one entry can be named
    std::string problem;                       // "entry 17 was changed"
    std::string checkpoint;                    // the newest of the record, whole; empty when there is none
    std::int64_t checkpoint_size = 0;          // of that: later entries are not signed yet
    std::size_t checkpoints_checked = 0;
    std::size_t checkpoints_skipped = 0; // they are in the middle of removed entries
};

// Proves that the checkpoint covers this entry: is_included(leaf_hash(json), seq, size, path, root).
struct InclusionProof {
    std::int64_t seq = 0;
    std::string json;
    std::int64_t size = 0;
    std::vector<Hash> path;
    Hash root{};            // the checkpoint's
    std::string checkpoint; // whole
};

class RecordReader {
  public:
    static bool exists(const std::string& directory);
    // Throws when there is no record.
    explicit RecordReader(std::string directory);
    ~RecordReader();
    RecordReader(RecordReader&&) noexcept;

    // Newest first, unless the query says otherwise.
    std::vector<StoredEntry> query(const Query& query) const;
    KeptRange kept() const;
    // Oldest first, until `visit` returns false.
    void each(std::int64_t from_seq, const std::function<bool(const StoredEntry&)>& visit) const;
    // `kept_checkpoints`: the text of checkpoints that were kept elsewhere; those of other records in it are ignored.
    // Does not throw for a database that cannot be read: that is a problem of the record.
    VerifyResult verify(const std::optional<std::string>& kept_checkpoints) const;
    // With the newest checkpoint. Throws Error{invalid_params} when there is no such entry, or no checkpoint covers it;
    // Error{store_failed} when the record does not prove it: something was changed.
    InclusionProof proof(std::int64_t seq) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace cellgate::record
