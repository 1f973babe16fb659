#include "store/journal.hpp"

#include "base/files.hpp"
#include "base/log.hpp"
#include "journal_lines.hpp"
#include "store/journals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>

namespace cellgate::store {

namespace {

constexpr std::uint64_t block_bytes = std::uint64_t{64} << 10;
// The tail is dropped in steps of a part of the whole.
constexpr std::uint64_t segments_in_all = 16;
// A stream record is never larger, so a larger record may have files.
constexpr std::uint64_t large_bytes = std::uint64_t{256} << 10;

void append_dropped(std::vector<JournalRecord>& records, std::int64_t seq, std::int64_t count, std::uint64_t bytes) {
    if (!records.empty() && !records.back().output) {
        records.back().count += count;
        records.back().bytes += bytes;
    } else {
        records.push_back({seq, count, std::nullopt, bytes, false});
    }
}

} // namespace

std::vector<JournalRecord> JournalPage::read() const {
    std::vector<JournalRecord> records;
    std::uint64_t total = 0;
    for (const Piece& piece : pieces_) {
        const std::int64_t end = piece.first + piece.count;
        std::int64_t seq = piece.first;
        std::uint64_t bytes_left = piece.bytes;
        if (!piece.path.empty()) {
            const std::string text = read_file_part(piece.path, piece.offset, piece.length);
            for (std::size_t start = 0; seq < end && start < text.size(); ++seq) {
                const std::size_t length = std::min(text.find('\n', start), text.size()) - start;
                std::optional<JournalRecord> record;
                if (seq >= from_) {
                    if (!records.empty() && total + length > max_bytes_) {
                        return records;
                    }
                    record = read_journal_line(std::string_view(text).substr(start, length), seq);
                    if (!record) {
                        break;
                    }
                    total += length;
                    bytes_left -= std::min(bytes_left, record->bytes);
                    records.push_back(std::move(*record));
                }
                start += length + 1;
            }
        }
        if (seq < end) {
            const std::int64_t first = std::max(seq, from_);
            append_dropped(records, first, end - first, bytes_left);
        }
    }
    return records;
}

std::string JournalPage::data_stem(std::int64_t seq) const {
    return fmt::format("{}.{}", stem_, seq);
}

Journal::Journal(Journals& journals, JournalTitle title)
    : journals_(journals), title_(std::move(title)), stem_(journals.files().new_stem()),
      max_bytes_(journals.limits().of_one) {}

Journal::~Journal() {
    for (const std::deque<Segment>* part : {&head_, &tail_}) {
        for (const Segment& segment : *part) {
            remove(segment);
        }
    }
    if (retired_) {
        journals_.erase(*retired_);
    }
}

void Journal::retire() {
    file_.reset();
    if (!retired_) {
        retired_ = journals_.retire(*this);
    }
}

std::uint64_t Journal::size_of(const std::deque<Segment>& part) {
    std::uint64_t size = 0;
    for (const Segment& segment : part) {
        size += segment.size;
    }
    return size;
}

void Journal::fail(std::string problem) {
    failed_ = true;
    problem_ = std::move(problem);
    log_warning("{}", problem_);
}

void Journal::remove(const Segment& segment) {
    journals_.remove_bytes(segment.size);
    journals_.files().remove(segment.path, segment.size);
    for (const std::int64_t seq : segment.large) {
        journals_.files().remove_numbered(fmt::format("{}.{}", stem_, seq));
    }
}

void Journal::drop_segment(const Segment& segment, Dropped& dropped) {
    remove(segment);
    for (const Block& block : segment.blocks) {
        dropped.count += block.count;
        dropped.bytes += block.bytes;
    }
}

void Journal::drop_all(const std::string& why) {
    file_.reset();
    Dropped all = middle_;
    for (std::deque<Segment>* part : {&head_, &tail_}) {
        for (const Segment& segment : *part) {
            drop_segment(segment, all);
        }
        part->clear();
    }
    middle_ = all;
    failed_ = true;
    problem_ = why;
}

Journal::Segment* Journal::open_segment(std::deque<Segment>& part) {
    file_.reset();
    JournalFiles::File file = journals_.files().take();
    if (!file.fd.valid()) {
        fail(fmt::format("cannot create the journal {}: {}", file.path, std::strerror(file.error)));
        return nullptr;
    }
    file_ = std::move(file.fd);
    Segment segment;
    segment.path = std::move(file.path);
    segment.part = next_part_++;
    part.push_back(std::move(segment));
    return &part.back();
}

Journal::Segment* Journal::segment_for(std::uint64_t bytes) {
    const std::uint64_t half = max_bytes_ / 2;
    const bool in_head = middle_.count == 0 && tail_.empty() && size_of(head_) + bytes <= half;
    std::deque<Segment>& part = in_head ? head_ : tail_;
    if (!in_head) {
        while (!tail_.empty() && size_of(tail_) + bytes > half) {
            file_.reset(); // it may be of the latest
            drop_segment(tail_.front(), middle_);
            tail_.pop_front();
        }
        if (problem_.empty() && (middle_.count > 0 || bytes > half)) {
            problem_ = fmt::format("output beyond {} bytes is not kept whole: what came between its first and its last "
                                   "part was dropped",
                                   max_bytes_);
        }
        if (bytes > half) {
            return nullptr;
        }
    }
    if (part.empty() || (part.back().size > 0 && part.back().size + bytes > max_bytes_ / segments_in_all)) {
        return open_segment(part);
    }
    if (!file_.valid()) {
        file_.reset(::open(part.back().path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW));
        if (!file_.valid()) {
            fail(fmt::format("cannot open the journal {}: {}", part.back().path, std::strerror(errno)));
            return nullptr;
        }
    }
    return &part.back();
}

bool Journal::write(Segment& segment, std::int64_t seq, const std::string& output, bool late) {
    std::string heading;
    if (segment.size == 0) {
        heading = to_json(JournalHeading{title_.execution_id, title_.session_id, segment.part}) + "\n";
    }
    const std::string before = journal_line_start(seq);
    const std::string_view after = journal_line_end(late);
    const std::uint64_t bytes = before.size() + output.size() + after.size();
    std::string text;
    text.reserve(heading.size() + bytes);
    text.append(heading).append(before).append(output).append(after);
    if (!write_all(file_.get(), text)) {
        fail(fmt::format("cannot write the journal {}: {}", segment.path, std::strerror(errno)));
        return false;
    }
    segment.size += heading.size();
    if (segment.blocks.empty() || segment.blocks.back().length + bytes > block_bytes) {
        Block block;
        block.first = seq;
        block.offset = static_cast<std::int64_t>(segment.size);
        segment.blocks.push_back(block);
    }
    Block& block = segment.blocks.back();
    block.length += bytes;
    block.count += 1;
    block.bytes += output.size();
    segment.size += bytes;
    if (output.size() > large_bytes) {
        segment.large.push_back(seq);
    }
    journals_.add_bytes(heading.size() + bytes);
    return true;
}

std::int64_t Journal::append(const RawJson& output, bool late) {
    const std::string& text = output.text();
    const std::int64_t seq = next_seq_++;
    constexpr std::uint64_t around = 512; // the line's own fields, and the heading
    journals_.evict(text.size() + around);
    Segment* segment = failed_ ? nullptr : segment_for(text.size() + around);
    const bool kept = segment != nullptr && write(*segment, seq, text, late);
    if (!kept) {
        // Without a failure the record was too large; the tail is empty, so it joins the records dropped before.
        Dropped& dropped = failed_ ? after_failure_ : middle_;
        dropped.count += 1;
        dropped.bytes += text.size();
    }
    if (retired_) {
        file_.reset();
    }
    output_bytes_ += text.size();
    return seq;
}

JournalPage Journal::page(std::int64_t from, std::uint64_t max_bytes) const {
    JournalPage page;
    page.stem_ = stem_;
    page.from_ = std::max<std::int64_t>(from, 0);
    page.max_bytes_ = max_bytes;
    std::uint64_t total = 0;
    std::int64_t next = 0;
    const auto add_dropped = [&](const Dropped& dropped) {
        if (dropped.count > 0 && next + dropped.count > page.from_) {
            page.pieces_.push_back({{}, 0, 0, next, dropped.count, dropped.bytes});
        }
        next += dropped.count;
    };
    const auto add_kept = [&](const std::deque<Segment>& part) {
        for (const Segment& segment : part) {
            for (const Block& block : segment.blocks) {
                next = block.first + block.count;
                if (next <= page.from_) {
                    continue;
                }
                // The first one may end before `from` does; one more makes up for that.
                if (total > max_bytes) {
                    return false;
                }
                total += page.pieces_.empty() ? 0 : block.length;
                page.pieces_.push_back(
                    {segment.path, block.offset, block.length, block.first, block.count, block.bytes});
            }
        }
        return true;
    };
    if (!add_kept(head_)) {
        return page;
    }
    add_dropped(middle_);
    if (!add_kept(tail_)) {
        return page;
    }
    add_dropped(after_failure_);
    return page;
}

std::optional<std::string> Journal::data_stem(std::int64_t seq) const {
    for (const std::deque<Segment>* part : {&head_, &tail_}) {
        for (const Segment& segment : *part) {
            if (std::find(segment.large.begin(), segment.large.end(), seq) != segment.large.end()) {
                return fmt::format("{}.{}", stem_, seq);
            }
        }
    }
    return std::nullopt;
}

} // namespace cellgate::store
