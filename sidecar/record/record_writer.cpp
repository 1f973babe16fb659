#include "record_writer.hpp"

#include "base/encoding.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/private_files.hpp"
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
constexpr std::size_t max_quick_entries = 4;
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
    : opening_(lock(made_directory(directory))), key_(SigningKey::open(directory, origin)),
      database_(database_path(directory), Database::Access::write), checkpoint_copy_(std::move(checkpoint_copy)) {
    make_tables();
    database_.run("PRAGMA wal_autocheckpoint=0"); // which would happen in a quick write, too
    insert_.emplace(database_, "INSERT INTO entries(seq, leaf, json) VALUES(?, ?, ?)");
    data_version_.emplace(database_, "PRAGMA data_version");
    catch_up();
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
    const std::int64_t version = database_.integer("PRAGMA user_version").value_or(0);
    if (version > schema_version) {
        throw Error(ErrorCode::store_failed,
                    fmt::format("the record has the format {}, expected at most {}", version, schema_version),
                    "use the newer cellgate that made it");
    }
    if (version == 0) {
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

bool RecordWriter::is_quick(const WriteRequest& request) const {
    return request.durability != Durability::synced && request.entries.size() <= max_quick_entries &&
           in_log_ < max_in_log && !is_checkpoint_due(request);
}

std::vector<StoredEntry> RecordWriter::write_quickly(const WriteRequest& request) {
    database_.set_patience(0);
    std::vector<StoredEntry> stored = write(request);
    database_.set_patience(patience);
    return stored;
}

std::vector<StoredEntry> RecordWriter::write(const WriteRequest& request) {
    const bool with_checkpoint = is_checkpoint_due(request);
    // What a checkpoint says must not be lost, or the record would seem to be cut.
    const bool synced = request.durability == Durability::synced || with_checkpoint;
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
        stored.push_back({tree.size(), entry_json(entry, tree.size())});
        write_entry(stored.back(), tree);
    }
    if (request.first_kept > 0) {
        remove_before(request.first_kept);
    }
    const std::int64_t size = tree.size();
    std::string checkpoint;
    if (with_checkpoint) {
        checkpoint = signed_checkpoint(key_, size, tree.root());
        Statement(database_, "INSERT OR REPLACE INTO checkpoints VALUES(?, ?)").bind(size).bind(checkpoint).run();
    }
    transaction.commit();
    tree_ = std::move(tree);
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

void RecordWriter::write_entry(const StoredEntry& entry, MerkleTree& tree) {
    const Hash leaf = leaf_hash(entry.json);
    insert_->bind(entry.seq).bind(leaf).bind(entry.json).run();
    tree.append(leaf, [this](int height, std::int64_t index, const Hash& root) {
        if (height > 0 && height % tile_height == 0) {
            Statement(database_, "INSERT INTO nodes VALUES(?, ?, ?)")
                .bind(std::int64_t{height / tile_height})
                .bind(index)
                .bind(root)
                .run();
        }
    });
}

void RecordWriter::remove_before(std::int64_t first_kept) {
    Statement(database_, "DELETE FROM entries WHERE seq < ?").bind(first_kept).run();
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
        Statement newer(database, "SELECT count(*) FROM entries WHERE seq >= ? AND seq < ? AND time >= ?");
        const auto has_newer = [&](std::int64_t begin) {
            const bool found = newer.bind(begin).bind(begin + block_size).bind(before).step() && newer.integer(0) > 0;
            newer.run();
            return found;
        };
        while (kept < end && !has_newer(kept)) {
            kept += block_size;
        }
    }
    return {first, std::max(first, std::min(kept, end / block_size * block_size))};
}

} // namespace cellgate::record
