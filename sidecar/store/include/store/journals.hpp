#pragma once
// All journals of one sidecar: a directory of their own, and what they may take of the disk. A journal lives as long as
// its execution can be asked for. When all together are too large, those of the executions that ended first are
// dropped. The directory goes with its sidecar; what a crash left is removed by later ones, once it is old or much.
//
// The directory is locked (flock) while its sidecar lives.

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
    Journals(const std::string& parent, OffLoop off_loop, JournalLimits limits = {});
    Journals(const Journals&) = delete;
    Journals& operator=(const Journals&) = delete;
    ~Journals();

    // Removes everything, off the loop; the destructor does what is left to do.
    Task<void> close() { return files_.close(); }

    const std::string& directory() const { return files_.directory(); }
    const JournalLimits& limits() const { return limits_; }
    // Of journals that begin after this.
    void set_limit_of_one(std::uint64_t bytes) { limits_.of_one = bytes; }

    // For the journals themselves.
    JournalFiles& files() { return files_; }
    // The number with which it is forgotten.
    std::uint64_t rests(Journal& journal);
    void forget(std::uint64_t number) { resting_.erase(number); }
    void grew(std::uint64_t bytes) { bytes_ += bytes; }
    void shrank(std::uint64_t bytes) { bytes_ -= bytes; }
    void make_room(std::uint64_t bytes);

  private:
    JournalFiles files_;
    JournalLimits limits_;
    DirectoryLock lock_;
    std::uint64_t bytes_ = 0;
    std::map<std::uint64_t, Journal*> resting_; // by their numbers: the one that ended first is the first
    std::uint64_t rested_ = 0;
};

struct LeftJournals {
    std::uint64_t kept_bytes = std::uint64_t{4} << 30;
    std::int64_t kept_seconds = std::int64_t{7} * 24 * 3600;
    std::int64_t safe_seconds = 3600; // what is younger is left alone
};

// Removes, in every directory of `parent`, the `run-…` directories of sidecars that are gone: those older than
// `kept_seconds`, then the oldest until `kept_bytes` are left. May block.
void sweep_journals(const std::string& parent, const LeftJournals& left = {});

} // namespace cellgate::store
