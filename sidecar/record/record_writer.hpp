#pragma once
// `RecordWriter` is a connection that appends to a record. Several processes may have one. All functions block, and
// throw Error{store_failed}; after that the writer is of no use, and what the call was to write is not in the record.
// Private to the module.

#include "base/unique_fd.hpp"
#include "checkpoint.hpp"
#include "database.hpp"
#include "record/record.hpp"
#include "stored_hashes.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cellgate::record {

struct WriteRequest {
    std::vector<NewEntry> entries;
    bool synced = false;
    std::int64_t first_kept = 0; // entries before it are removed; a multiple of 256
    bool checkpoint = false;     // whether or not one is due
    std::string log;             // the name of the pending file that has the entries, too; empty if none does
};

class RecordWriter {
  public:
    // Makes the directory, the database and the key when they are not there. Moves pending files that are left over
    // into the database.
    RecordWriter(const std::string& directory, const std::string& origin, std::optional<std::string> checkpoint_copy);

    std::int64_t size() const { return tree_.size(); }
    // In one transaction. Nothing of it is lost when the process is killed after this.
    std::vector<StoredEntry> write(const WriteRequest& request);

  private:
    bool is_checkpoint_due(const WriteRequest& request) const;
    void make_tables();
    void import_left_over();
    void mark_moved(const std::string& log);
    // What other processes appended.
    void catch_up();
    StoredEntry write_entry(const NewEntry& entry, MerkleTree& tree);
    void write_node(int height, std::int64_t n, const Hash& root);
    void remove_before(std::int64_t first_kept);
    void tidy_up(const char* sql);
    void copy_checkpoint(const std::string& text) const;

    std::string directory_;
    UniqueFd opening_; // a lock, while a process makes or opens the record
    SigningKey key_;
    Database database_;
    std::optional<std::string> checkpoint_copy_;
    std::optional<Statement> insert_;
    std::optional<Statement> data_version_; // another one after another connection wrote
    std::int64_t seen_version_ = -1;
    std::optional<bool> synced_; // the database's setting
    std::size_t in_log_ = 0;     // entries in SQLite's log that are not moved into the database yet; about
    std::string last_moved_;     // pending file, which is removed by now
    MerkleTree tree_;
    std::int64_t last_checkpoint_ = 0; // its size
};

// Entries from `first` to `first_kept` are to be removed: as many blocks as it takes to have none that is completely
// older than `pruning.before`, and to have about `pruning.max_bytes`.
struct PruningPlan {
    std::int64_t first = 0;
    std::int64_t first_kept = 0;
};
PruningPlan plan_pruning(const std::string& directory, const Pruning& pruning);

} // namespace cellgate::record
