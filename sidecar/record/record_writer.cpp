#include "record_writer.hpp"

#include "base/encoding.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/private_files.hpp"
#include "pending_log.hpp"
#include "schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace cellgate::record {

namespace {

constexpr std::int64_t checkpoint_interval = 1000; // entries
constexpr std::size_t max_in_log = 500;

std::string made_directory(const std::string& path) {
    make_private_directory(path);
    return path;
}

// Until the descriptor is closed.
UniqueFd lock(const std::string& directory) {
    UniqueFd locked = lock_directory(directory);
    if (!locked.valid()) {
        throw system_error(ErrorCode::store_failed, fmt::format("cannot lock {}", directory), errno);
    }
    return locked;
}

std::string database_path(const std::string& directory) {
    return directory + "/record.sqlite";
}

} // namespace

RecordWriter::RecordWriter(const std::string& directory, const std::string& origin,
                           std::optional<std::string> checkpoint_copy)
    : directory_(directory), opening_(lock(made_directory(directory))), key_(SigningKey::open(directory, origin)),
      database_(database_path(directory), Database::Access::write), checkpoint_copy_(std::move(checkpoint_copy)) {
    make_tables();
    database_.run("PRAGMA wal_autocheckpoint=0"); // tidy_up() does it
    insert_.emplace(database_, "INSERT INTO entries(seq, leaf, time, type, session_id, execution_id, json) "
                               "VALUES(?, ?, ?, ?, ?, ?, ?)");
    data_version_.emplace(database_, "PRAGMA data_version");
    catch_up();
    import_left_over();
    opening_ = UniqueFd();
}

void RecordWriter::catch_up() {
    data_version_->step();
    const std::int64_t version = data_version_->integer(0);
    data_version_->run();
    if (std::exchange(seen_version_, version) != version) {
        tree_ = StoredHashes(database_).tree(database_.integer("SELECT max(seq) + 1 FROM entries").value_or(0));
        last_checkpoint_ = database_.integer("SELECT max(size) FROM checkpoints").value_or(0);
    }
}

void RecordWriter::make_tables() {
    if (require_format(database_) == 0) {
        database_.run("PRAGMA auto_vacuum=INCREMENTAL;PRAGMA journal_mode=WAL");
        Transaction transaction(database_, Database::Access::write);
        for (const char* sql : schema) {
            database_.run(sql);
        }
        database_.run(fmt::format("PRAGMA user_version={}", schema_version));
        transaction.commit();
    }
}

bool RecordWriter::is_checkpoint_due(const WriteRequest& request) const {
    const std::int64_t size = tree_.size() + static_cast<std::int64_t>(request.entries.size());
    return request.first_kept > 0 || size - last_checkpoint_ >= (request.checkpoint ? 1 : checkpoint_interval);
}

// A file whose name is in the table was moved before its process was killed.
void RecordWriter::import_left_over() {
    for (const PendingFile& pending : find_left_over(directory_)) {
        Statement moved(database_, "SELECT 1 FROM moved WHERE name = ?");
        if (!moved.bind(pending.name).step()) {
            WriteRequest request;
            request.entries = read_pending(pending);
            request.log = pending.name;
            write(request);
        }
        remove_pending(directory_, pending.name);
    }
    std::vector<std::string> useless;
    for (Statement names(database_, "SELECT name FROM moved"); names.step();) {
        if (::access((directory_ + "/" + names.text(0)).c_str(), F_OK) != 0) {
            useless.push_back(names.text(0));
        }
    }
    for (const std::string& name : useless) {
        Statement(database_, "DELETE FROM moved WHERE name = ?").bind(name).run();
    }
}

void RecordWriter::mark_moved(const std::string& log) {
    if (!log.empty()) {
        Statement(database_, "DELETE FROM moved WHERE name = ?").bind(last_moved_).run();
        Statement(database_, "INSERT INTO moved VALUES(?)").bind(log).run();
    }
}

std::vector<StoredEntry> RecordWriter::write(const WriteRequest& request) {
    const bool with_checkpoint = is_checkpoint_due(request);
    // What a checkpoint says must not be lost, or the record would seem to be cut.
    const bool synced = request.synced || with_checkpoint;
    if (synced_ != synced) {
        database_.run(synced ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
        synced_ = synced;
    }
    Transaction transaction(database_, Database::Access::write);
    catch_up();
    MerkleTree tree = tree_;
    std::vector<StoredEntry> stored;
    stored.reserve(request.entries.size());
    for (const NewEntry& entry : request.entries) {
        stored.push_back(write_entry(entry, tree));
    }
    if (request.first_kept > 0) {
        remove_before(request.first_kept);
    }
    mark_moved(request.log);
    const std::int64_t size = tree.size();
    std::string checkpoint;
    if (with_checkpoint) {
        checkpoint = signed_checkpoint(key_, size, tree.root());
        Statement(database_, "INSERT OR REPLACE INTO checkpoints VALUES(?, ?)").bind(size).bind(checkpoint).run();
    }
    transaction.commit();
    tree_ = std::move(tree);
    last_moved_ = request.log.empty() ? last_moved_ : request.log;
    if (with_checkpoint) {
        last_checkpoint_ = size;
        copy_checkpoint(checkpoint);
    }
    if (request.first_kept > 0) {
        tidy_up("PRAGMA incremental_vacuum(4000)"); // pages: not for so long that others wait
    }
    in_log_ += stored.size();
    if (in_log_ > max_in_log) {
        tidy_up("PRAGMA wal_checkpoint(PASSIVE)");
        in_log_ = 0;
    }
    return stored;
}

StoredEntry RecordWriter::write_entry(const NewEntry& entry, MerkleTree& tree) {
    StoredEntry stored{tree.size(), entry_json(entry, tree.size())};
    const Hash leaf = leaf_hash(stored.json);
    const std::string time = to_rfc3339(entry.time);
    insert_->bind(stored.seq).bind(leaf).bind(time).bind(entry.type);
    insert_->bind_optional(entry.session_id).bind_optional(entry.execution_id).bind(stored.json).run();
    tree.append(leaf, [this](int height, std::int64_t n, const Hash& root) { write_node(height, n, root); });
    return stored;
}

void RecordWriter::write_node(int height, std::int64_t n, const Hash& root) {
    if (height > 0 && height % tile_height == 0) {
        Statement(database_, "INSERT INTO nodes VALUES(?, ?, ?)")
            .bind(std::int64_t{height / tile_height})
            .bind(n)
            .bind(root)
            .run();
    }
    if (height == tile_height) {
        Statement(database_, "INSERT INTO blocks SELECT ?, min(time), max(time) FROM entries WHERE seq >= ?")
            .bind(n)
            .bind(n * block_size)
            .run();
    }
}

void RecordWriter::remove_before(std::int64_t first_kept) {
    Statement(database_, "DELETE FROM entries WHERE seq < ?").bind(first_kept).run();
    Statement(database_, "DELETE FROM blocks WHERE n < ?").bind(first_kept / block_size).run();
    // Those between two blocks need the leaves.
    Statement(database_, "DELETE FROM checkpoints WHERE size < ?").bind(first_kept).run();
}

// After the entries are stored, whatever becomes of this.
void RecordWriter::tidy_up(const char* sql) {
    try {
        database_.run(sql);
    } catch (const Error& error) {
        log_warning("the record's files are larger than they need to be: {}", error.message);
    }
}

// The entries are stored, whatever becomes of the copy.
void RecordWriter::copy_checkpoint(const std::string& text) const {
    if (!checkpoint_copy_) {
        return;
    }
    const UniqueFd file(::open(checkpoint_copy_->c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
    char last = '\n';
    bool is_cut = false;
    if (file.valid()) {
        const off_t end = ::lseek(file.get(), 0, SEEK_END);
        is_cut = end > 0 && ::pread(file.get(), &last, 1, end - 1) == 1 && last != '\n';
    }
    if (!file.valid() || !write_all(file.get(), (is_cut ? "\n" : "") + text) || ::fsync(file.get()) != 0) {
        const Error failed = system_error(ErrorCode::store_failed,
                                          fmt::format("cannot append a checkpoint to {}", *checkpoint_copy_), errno);
        log_warning("{}", failed.message);
    }
}

PruningPlan plan_pruning(const std::string& directory, const Pruning& pruning) {
    if (::access(database_path(directory).c_str(), F_OK) != 0) {
        return {}; // nothing was recorded yet
    }
    Database database(database_path(directory), Database::Access::read);
    const Transaction transaction(database, Database::Access::read);
    const std::int64_t first = database.integer("SELECT min(seq) FROM entries").value_or(0);
    const std::int64_t end = database.integer("SELECT max(seq) FROM entries").value_or(-1) + 1;
    std::int64_t kept = first;
    if (pruning.max_bytes) {
        const std::int64_t bytes =
            database.integer("PRAGMA page_size").value_or(0) *
            (database.integer("PRAGMA page_count").value_or(0) - database.integer("PRAGMA freelist_count").value_or(0));
        const std::int64_t surplus = std::max<std::int64_t>(bytes - *pruning.max_bytes, 0);
        const auto part = static_cast<double>(surplus) / static_cast<double>(std::max<std::int64_t>(bytes, 1));
        const auto entries = static_cast<std::int64_t>(part * static_cast<double>(end - first));
        kept = first + (entries + block_size - 1) / block_size * block_size;
    }
    if (pruning.before) {
        const std::string before = to_rfc3339(*pruning.before);
        // None is newer: all blocks go.
        Statement newer(database, "SELECT coalesce(min(n * ?), ?) FROM blocks WHERE n >= ? AND last_time >= ?");
        newer.bind(block_size).bind(end).bind(kept / block_size).bind(before).step();
        kept = std::max(kept, newer.integer(0));
    }
    return {first, std::max(first, std::min(kept, end / block_size * block_size))};
}

} // namespace cellgate::record
