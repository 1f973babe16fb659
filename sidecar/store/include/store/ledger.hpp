#pragma once
// `Ledger` records the executions that a sidecar was asked to run and their results, so that the next sidecar can
// report them after a crash: a file next to the journals, one JSON object a line. A failure to write it is logged, ends
// the recording, and never stops an execution.

#include "base/raw_json.hpp"
#include "base/unique_fd.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace cellgate::store {

// One execution.
struct LedgerEntry {
    std::string execution_id;
    std::string session_id;
    std::optional<RawJson> cell;   // the location of its code
    bool started = false;          // false: it waited in the queue
    std::optional<RawJson> result; // once it has finished
};

class Ledger {
  public:
    // In a directory that is removed with it.
    explicit Ledger(const std::string& directory);

    void session_opened(const std::string& session_id);
    void session_closed(const std::string& session_id);
    void queued(LedgerEntry entry);
    void started(const std::string& execution_id);
    void finished(const std::string& execution_id, RawJson result);

  private:
    void append(std::string line);
    // Rewrites the file with the open entries only, when it has grown past its limit.
    void rewrite();
    void disable();

    std::string path_;
    UniqueFd file_;
    std::uint64_t size_ = 0;
    std::set<std::string> sessions_;
    std::map<std::string, LedgerEntry> unfinished_;
};

struct LedgerContents {
    std::vector<std::string> sessions;   // open at the end
    std::vector<LedgerEntry> executions; // in the order of their requests
};

// Reads as much as possible: the last line may be truncated. May block.
LedgerContents read_ledger(const std::string& directory);
bool has_ledger(const std::string& directory);

} // namespace cellgate::store
