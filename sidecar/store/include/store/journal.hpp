#pragma once
// `Journal` is the output of one execution: every record, in files of one JSON object a line, so that nothing is lost
// to a slow client or a reload. Records are numbered from 0 without gaps. Past its limit it keeps the first and the
// latest records and drops those between; after a disk error it keeps no more. A dropped record keeps its number and is
// counted, problem() names the reason, and the execution goes on. Memory use does not grow with the number of records:
// one entry for each 64 KiB of a file.
//
// Its files are created with the first record and removed with the journal. The first line of each names its execution.

#include "base/raw_json.hpp"
#include "base/unique_fd.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::store {

class Journals;

// The execution whose output it is.
struct JournalTitle {
    std::string execution_id;
    std::string session_id;
};

struct JournalRecord {
    std::int64_t seq = 0;
    std::int64_t count = 1;        // more than one only for dropped records
    std::optional<RawJson> output; // nothing if it was dropped
    std::uint64_t bytes = 0;       // size of the outputs
    bool late = false;             // after the execution's reply
};

// `JournalPage` is a snapshot of what to read: read() needs no journal and may run on another thread. Records that
// cannot be read any more count as dropped.
class JournalPage {
  public:
    // Reads records in order: at least one if there is one, then as many as fit into about `max_bytes`.
    std::vector<JournalRecord> read() const;
    // As Journal::data_stem(), for a record of this page.
    std::string data_stem(std::int64_t seq) const;

  private:
    friend class Journal;
    friend class RecoveredJournal;
    struct Piece {
        std::string path; // empty: these records were dropped
        std::int64_t offset = 0;
        std::uint64_t length = 0; // of the file
        std::int64_t first = 0;
        std::int64_t count = 0;
        std::uint64_t bytes = 0;
    };

    std::string stem_;
    std::vector<Piece> pieces_;
    std::int64_t from_ = 0;
    std::uint64_t max_bytes_ = 0;
};

class Journal {
  public:
    // The journals must outlive it.
    Journal(Journals& journals, JournalTitle title);
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;
    ~Journal();

    // Returns the record's number.
    std::int64_t append(const RawJson& output, bool late);
    JournalPage page(std::int64_t from, std::uint64_t max_bytes) const;

    // Called when the execution has ended, as there may be thousands of them: from then on a file is open only while it
    // is used, and the journal may be dropped when all journals together have grown too large.
    void retire();
    void drop_all(const std::string& why);

    // The stem of the files with a record's large data, `<stem>.<index>`, next to the journal's files; they are removed
    // with the record. Nothing when the record is not kept, so that code cannot fill the disk.
    std::optional<std::string> data_stem(std::int64_t seq) const;

    std::int64_t next_seq() const { return next_seq_; }
    std::uint64_t output_bytes() const { return output_bytes_; }
    std::uint64_t dropped_bytes() const { return middle_.bytes + after_failure_.bytes; }
    // Why records were dropped; empty if none were.
    const std::string& problem() const { return problem_; }

  private:
    // Records that follow one another in a file.
    struct Block {
        std::int64_t first = 0;
        std::int64_t offset = 0;
        std::uint64_t length = 0;
        std::int64_t count = 0;
        std::uint64_t bytes = 0;
    };
    struct Segment {
        std::string path;
        int part = 0; // of the journal's files, in their order
        std::uint64_t size = 0;
        std::vector<Block> blocks;
        std::vector<std::int64_t> large; // records that may have files
    };
    struct Dropped {
        std::int64_t count = 0;
        std::uint64_t bytes = 0;
    };

    // The segment for a line of `bytes`, with its file open; nullptr when the line cannot be kept.
    Segment* segment_for(std::uint64_t bytes);
    Segment* open_segment(std::deque<Segment>& part);
    bool write(Segment& segment, std::int64_t seq, const std::string& output, bool late);
    void fail(std::string problem);
    void remove(const Segment& segment);
    void drop_segment(const Segment& segment, Dropped& dropped);
    static std::uint64_t size_of(const std::deque<Segment>& part);

    Journals& journals_;
    JournalTitle title_;
    std::string stem_;
    std::uint64_t max_bytes_;
    // In the order of their records: head_, middle_, tail_, after_failure_.
    std::deque<Segment> head_;
    Dropped middle_;
    std::deque<Segment> tail_;
    Dropped after_failure_; // since it failed
    int next_part_ = 0;
    UniqueFd file_;                        // of the latest segment, while it is open
    std::optional<std::uint64_t> retired_; // its number among those that rest
    bool failed_ = false;
    std::int64_t next_seq_ = 0;
    std::uint64_t output_bytes_ = 0;
    std::string problem_;
};

} // namespace cellgate::store
