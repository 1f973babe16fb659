#pragma once
// `Record` is the list of all that happened in a workspace, which is only appended to and proves itself
// (docs/record-format.md). The service owns it. An entry is written to a file at once, into the system's page cache,
// and moved into the database off the loop, with what came in the 50 ms after it. Nothing is dropped unnoticed: entries
// that can neither be written to the file nor to the database are counted, and the next one that is stored follows an
// entry of type "record.gap".

#include "base/clock.hpp"
#include "base/run_blocking.hpp"
#include "base/task.hpp"
#include "record/entry.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace cellgate::record {

// `written`: in the system's page cache, which survives a kill of the process. `synced`: on the disk.
enum class Durability { written, synced };

struct RecordOptions {
    std::string directory;                      // the record's own; made with mode 0700
    std::string origin;                         // names the record in checkpoints; no white space, no plus
    std::optional<std::string> checkpoint_copy; // a file that each checkpoint is appended to as well
    RunBlocking run_blocking;
    Clock* clock = nullptr; // by which entries wait for others; without it, none does
};

struct Pruning {
    WallTime now;
    std::optional<WallTime> before;        // removes what is older
    std::optional<std::int64_t> max_bytes; // of the database; about
};

class Record {
  public:
    // The first batch opens the record, and makes it if there is none. A batch that cannot open it is refused; the next
    // one tries again.
    explicit Record(RecordOptions options);
    // close() must have ended.
    ~Record();
    Record(const Record&) = delete;
    Record& operator=(const Record&) = delete;

    // A ticket for stored(): counts what is appended here, from 0. The entry's own number is given when it is stored,
    // since other sidecars of the workspace may append, too.
    std::int64_t append(NewEntry entry, Durability durability);
    // Until that entry is as durable as it was asked to be. Throws Error{store_failed} when it was refused: the disk is
    // full, the database is damaged or locked, a library is missing.
    Task<void> stored(std::int64_t ticket);
    // Until all entries are in the database, where a reader finds them. Throws as stored() does.
    Task<void> flushed();
    // Gets each entry once it is stored, in order, on the loop.
    void on_stored(std::function<void(const StoredEntry&)> listener);
    // Removes the oldest entries in blocks of 256, and keeps their hashes, so that the others stay provable. An entry
    // of type "record.pruned" says so. How many were removed; throws as stored() does.
    Task<std::int64_t> prune(Pruning pruning);
    // All is stored, a checkpoint written and the database closed. Throws as stored() does; it is closed all the same.
    // Nothing is appended afterwards.
    Task<void> close();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace cellgate::record
