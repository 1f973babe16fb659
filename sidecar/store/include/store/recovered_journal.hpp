#pragma once
// `RecoveredJournal` is the journal of an execution whose sidecar crashed, rebuilt from its files.

#include "store/journal.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace cellgate::store {

class RecoveredJournal {
  public:
    // Reads its files in `directory` once, to locate the records. May block for long. Without files the journal is
    // empty.
    RecoveredJournal(const std::string& directory, const std::string& execution_id);

    // As Journal::page(). A missing number between two records counts as a dropped record of unknown size.
    JournalPage page(std::int64_t from, std::uint64_t max_bytes) const;

    std::int64_t next_seq() const { return next_seq_; }
    std::uint64_t output_bytes() const { return output_bytes_; }

  private:
    struct File;

    void add(const File& file);
    void add_line(const std::string& path, std::int64_t offset, std::string_view line);

    std::string stem_; // of large data, next to the journal's files
    std::vector<JournalPage::Piece> pieces_;
    std::int64_t next_seq_ = 0;
    std::uint64_t output_bytes_ = 0;
};

} // namespace cellgate::store
