#pragma once
// The journal of an execution whose sidecar has ended without a goodbye: found again from what its files say.

#include "store/journal.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace cellgate::store {

class LeftJournal {
  public:
    // Reads what `directory` holds of it, once, to know where its records are. It may block for long. Nothing there is
    // an empty journal.
    LeftJournal(const std::string& directory, const std::string& execution_id);

    // As Journal::page(). A number that is missing between two records counts as dropped, of unknown size.
    JournalPage page(std::int64_t from, std::uint64_t max_bytes) const;

    std::int64_t next_seq() const { return next_seq_; }
    std::uint64_t output_bytes() const { return output_bytes_; }

  private:
    struct File;

    void add(const File& file);
    void add_line(const std::string& path, std::int64_t offset, std::string_view line);

    std::string stem_; // of large data, beside the journal's files
    std::vector<JournalPage::Piece> pieces_;
    std::int64_t next_seq_ = 0;
    std::uint64_t output_bytes_ = 0;
};

} // namespace cellgate::store
