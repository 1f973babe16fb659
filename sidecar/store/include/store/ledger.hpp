#pragma once
// What a sidecar was asked to run and what came of it, for the one after it, in case this one ends without a goodbye:
// a file beside the journals, one JSON object a line. It never stops the work: when it cannot be written, the log says
// so and nothing more is noted.

#include "base/raw_json.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace cellgate::store {

// An execution.
struct LedgerEntry {
    std::string execution_id;
    std::string session_id;
    std::optional<RawJson> cell;   // where its code stands
    bool started = false;          // or it waited in the queue
    std::optional<RawJson> result; // once it has finished
};

class Ledger {
  public:
    // In a directory that goes with it.
    explicit Ledger(const std::string& directory);
    Ledger(const Ledger&) = delete;
    Ledger& operator=(const Ledger&) = delete;
    ~Ledger();

    void session_opened(const std::string& session_id);
    void session_closed(const std::string& session_id);
    void queued(LedgerEntry entry);
    void started(const std::string& execution_id);
    void finished(const std::string& execution_id, RawJson result);

  private:
    void append(std::string line);
    bool write(const std::string& text);
    // Past its size it begins anew, with what is open.
    void begin_anew();
    void give_up();

    std::string path_;
    int fd_ = -1;
    std::uint64_t size_ = 0;
    std::set<std::string> sessions_;
    std::map<std::string, LedgerEntry> unfinished_;
};

struct LedgerContents {
    std::vector<std::string> sessions;   // that were open
    std::vector<LedgerEntry> executions; // in the order in which they were asked for
};

// What can be read of it: the last line may be cut off. May block.
LedgerContents read_ledger(const std::string& directory);
bool has_ledger(const std::string& directory);

} // namespace cellgate::store
