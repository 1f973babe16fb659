#pragma once
// The journal of one execution: every output record, in a file of one JSON object a line, so that nothing is lost to a
// slow client or a reload. Records are numbered from 0 without gaps. What cannot be kept (the limit is reached, the
// disk is full) keeps its number and is counted as dropped; a journal that fails never stops an execution.

#include "base/raw_json.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::store {

struct JournalRecord {
    std::int64_t seq = 0;
    std::optional<RawJson> output; // nothing where it was dropped
    std::uint64_t bytes = 0;       // of the output
    bool late = false;             // after the execution's reply
};

class Journal {
  public:
    static constexpr std::uint64_t default_limit = std::uint64_t{1} << 30;

    // Creates `path`, which must not exist. A journal that cannot be created keeps nothing, and failure() says why.
    explicit Journal(std::string path, std::uint64_t max_bytes = default_limit);
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;
    ~Journal();

    // Returns the record's number.
    std::int64_t append(const RawJson& output, bool late);

    // Records from `from` on: at least one if there is one, then as many as fit into about `max_bytes`.
    std::vector<JournalRecord> read(std::int64_t from, std::uint64_t max_bytes) const;

    // The execution has ended, and there may be thousands of them: from here on the file is open only while it is used.
    void rest();

    std::int64_t next_seq() const { return static_cast<std::int64_t>(entries_.size()); }
    std::uint64_t output_bytes() const { return output_bytes_; }
    std::uint64_t dropped_bytes() const { return dropped_bytes_; }
    // Why it keeps nothing more; empty while it does.
    const std::string& failure() const { return failure_; }

  private:
    struct Entry {
        std::int64_t offset; // -1: dropped
        std::uint32_t line_bytes;
        std::uint32_t output_bytes;
        bool late;
    };

    class OpenFile;

    bool write(std::string_view line);

    std::string path_;
    std::uint64_t max_bytes_;
    int fd_ = -1;
    std::int64_t size_ = 0;
    std::vector<Entry> entries_;
    std::uint64_t output_bytes_ = 0;
    std::uint64_t dropped_bytes_ = 0;
    std::string failure_;
};

} // namespace cellgate::store
