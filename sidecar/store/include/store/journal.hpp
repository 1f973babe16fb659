#pragma once
// The journal of one execution: every output record, in files of one JSON object a line, so that nothing is lost to a
// slow client or a reload. Records are numbered from 0 without gaps. Past its limit it keeps the first and the latest
// records and drops what lies between; when the disk fails it keeps nothing more. What was dropped keeps its number and
// is counted, problem() says why, and no execution ever stops for it. What it holds in memory does not grow with the
// number of records: one entry for each 64 KiB of a file.
//
// It has files once it has a record, and they go with it. The first line of each tells whose it is.

#include "base/raw_json.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::store {

class Journals;

// Whose output it is.
struct JournalTitle {
    std::string execution_id;
    std::string session_id;
};

struct JournalRecord {
    std::int64_t seq = 0;
    std::int64_t count = 1;        // more than one only of what was dropped
    std::optional<RawJson> output; // nothing where it was dropped
    std::uint64_t bytes = 0;       // of the outputs
    bool late = false;             // after the execution's reply
};

// What is to be read, fixed at one moment: the reading itself needs no journal and may be done on another thread. What
// cannot be read any more counts as dropped.
class JournalPage {
  public:
    // Read one after the other: at least one record if there is one, then as many as fit into about `max_bytes`.
    std::vector<JournalRecord> read() const;
    // As Journal::data_stem(), of a record that is read here.
    std::string data_stem(std::int64_t seq) const;

  private:
    friend class Journal;
    friend class LeftJournal;
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
    Journal(Journals& house, JournalTitle title);
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;
    ~Journal();

    // Returns the record's number.
    std::int64_t append(const RawJson& output, bool late);
    JournalPage page(std::int64_t from, std::uint64_t max_bytes) const;

    // The execution has ended, and there may be thousands of them: from here on a file is open only while it is used,
    // and everything may be dropped when all journals together have grown too large.
    void rest();
    void drop_all(const std::string& why);

    // Where a record's large data is kept as files, `<stem>.<index>`, beside the journal's; they go with the record.
    // Nothing when the record is not kept: code must not fill the disk.
    std::optional<std::string> data_stem(std::int64_t seq) const;

    std::int64_t next_seq() const { return next_seq_; }
    std::uint64_t output_bytes() const { return output_bytes_; }
    std::uint64_t dropped_bytes() const { return middle_.bytes + rest_.bytes; }
    // Why something was dropped; empty while nothing was.
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

    // The segment that takes a line of `bytes`, in a file that is open; nullptr when it cannot be kept.
    Segment* segment_for(std::uint64_t bytes);
    Segment* open_segment(std::deque<Segment>& part);
    bool write(Segment& segment, std::int64_t seq, const std::string& output, bool late);
    void fail(std::string problem);
    void remove(const Segment& segment);
    void drop_segment(const Segment& segment, Dropped& dropped);
    void close_file();
    static std::uint64_t size_of(const std::deque<Segment>& part);

    Journals& house_;
    JournalTitle title_;
    std::string stem_;
    std::uint64_t max_bytes_;
    // In the order of their records: head_, middle_, tail_, rest_.
    std::deque<Segment> head_;
    Dropped middle_;
    std::deque<Segment> tail_;
    Dropped rest_; // since it failed
    int next_part_ = 0;
    int fd_ = -1;                          // of the latest segment
    std::optional<std::uint64_t> resting_; // its number among those that rest
    bool failed_ = false;
    std::int64_t next_seq_ = 0;
    std::uint64_t output_bytes_ = 0;
    std::string problem_;
};

} // namespace cellgate::store
