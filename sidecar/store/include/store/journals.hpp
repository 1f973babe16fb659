#pragma once
// `Journals` owns all journals of one sidecar: their directory, and their share of the disk. A journal lives as long as
// its execution can be queried. When all together are too large, those of the executions that ended first are dropped.
// The directory is removed with its sidecar; directories left over from a crash are removed by later sidecars, once
// they are old or large.
//
// The directory is locked (flock) for the sidecar's lifetime.

#include "store/directory_lock.hpp"
#include "store/journal_files.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace cellgate::store {

class Journal;

struct JournalLimits {
    std::uint64_t of_one = std::uint64_t{1} << 30;
    std::uint64_t of_all = std::uint64_t{8} << 30;
};

class Journals {
  public:
    // Makes a directory `run-…` in `parent`. Throws Error{store_failed}.
    Journals(const std::string& parent, RunBlocking run_blocking, JournalLimits limits = {});
    Journals(const Journals&) = delete;
    Journals& operator=(const Journals&) = delete;
    ~Journals();

    // Removes everything, on the thread pool; the destructor does the rest.
    Task<void> close() { return files_.close(); }

    const std::string& directory() const { return files_.directory(); }
    const JournalLimits& limits() const { return limits_; }
    // Applies to journals that begin later.
    void set_limit_of_one(std::uint64_t bytes) { limits_.of_one = bytes; }

    // For the journals themselves.
    JournalFiles& files() { return files_; }
    // Returns the number for erase().
    std::uint64_t retire(Journal& journal);
    void erase(std::uint64_t number) { retired_.erase(number); }
    void add_bytes(std::uint64_t bytes) { bytes_ += bytes; }
    void remove_bytes(std::uint64_t bytes) { bytes_ -= bytes; }
    void evict(std::uint64_t bytes);

  private:
    JournalFiles files_;
    JournalLimits limits_;
    DirectoryLock lock_;
    std::uint64_t bytes_ = 0;
    std::map<std::uint64_t, Journal*> retired_; // by number: the one that ended first is the first
    std::uint64_t retired_count_ = 0;
};

struct JournalRetention {
    std::uint64_t kept_bytes = std::uint64_t{4} << 30;
    std::int64_t kept_seconds = std::int64_t{7} * 24 * 3600;
    std::int64_t safe_seconds = 3600; // younger directories are kept
};

// Removes, in every directory of `parent`, the `run-…` directories of sidecars that are gone: those older than
// `kept_seconds`, then the oldest until `kept_bytes` are left. May block.
void remove_stale_journals(const std::string& parent, const JournalRetention& retention = {});

} // namespace cellgate::store
