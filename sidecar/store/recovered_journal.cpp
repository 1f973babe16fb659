#include "store/recovered_journal.hpp"

#include "journal_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace cellgate::store {

namespace {

namespace fs = std::filesystem;

// The block size, as in Journal.
constexpr std::uint64_t piece_bytes = std::uint64_t{64} << 10;

} // namespace

struct RecoveredJournal::File {
    std::string path;
    int part = 0;
};

RecoveredJournal::RecoveredJournal(const std::string& directory, const std::string& execution_id)
    : stem_(fmt::format("{}/left.{}", directory, execution_id)) {
    std::vector<File> files;
    std::error_code error;
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
        std::error_code inner;
        if (entry->path().extension() != ".jsonl" || entry->is_symlink(inner) || !entry->is_regular_file(inner)) {
            continue;
        }
        std::string line;
        std::ifstream file(entry->path());
        if (!std::getline(file, line)) {
            continue;
        }
        const std::optional<JournalHeading> heading = read_journal_heading(line);
        if (heading && heading->execution_id == execution_id) {
            files.push_back({entry->path(), heading->part});
        }
    }
    std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.part < b.part; });
    for (const File& file : files) {
        add(file);
    }
}

void RecoveredJournal::add(const File& file) {
    std::ifstream stream(file.path);
    std::string line;
    std::getline(stream, line); // the heading
    auto offset = static_cast<std::int64_t>(line.size()) + 1;
    // The last line may be truncated: then it has no line end.
    while (std::getline(stream, line) && !stream.eof()) {
        add_line(file.path, offset, line);
        offset += static_cast<std::int64_t>(line.size()) + 1;
    }
}

void RecoveredJournal::add_line(const std::string& path, std::int64_t offset, std::string_view line) {
    const std::optional<std::int64_t> seq = read_journal_seq(line);
    if (!seq || *seq < next_seq_) {
        return;
    }
    if (*seq > next_seq_) {
        pieces_.push_back({{}, 0, 0, next_seq_, *seq - next_seq_, 0});
    }
    next_seq_ = *seq + 1;
    const std::uint64_t length = line.size() + 1;
    const std::uint64_t around =
        journal_line_start(*seq).size() + journal_line_end(is_late_journal_line(line)).size() - 1;
    const std::uint64_t bytes = line.size() - std::min<std::uint64_t>(line.size(), around);
    output_bytes_ += bytes;
    const bool follows = !pieces_.empty() && pieces_.back().path == path &&
                         pieces_.back().offset + static_cast<std::int64_t>(pieces_.back().length) == offset;
    if (!follows || pieces_.back().length + length > piece_bytes) {
        pieces_.push_back({path, offset, 0, *seq, 0, 0});
    }
    JournalPage::Piece& piece = pieces_.back();
    piece.length += length;
    piece.count += 1;
    piece.bytes += bytes;
}

JournalPage RecoveredJournal::page(std::int64_t from, std::uint64_t max_bytes) const {
    JournalPage page;
    page.stem_ = stem_;
    page.from_ = std::max<std::int64_t>(from, 0);
    page.max_bytes_ = max_bytes;
    std::uint64_t total = 0;
    for (const JournalPage::Piece& piece : pieces_) {
        if (piece.first + piece.count <= page.from_) {
            continue;
        }
        // As in Journal::page(): the first one may end before `from` does.
        if (total > max_bytes) {
            break;
        }
        total += page.pieces_.empty() ? 0 : piece.length;
        page.pieces_.push_back(piece);
    }
    return page;
}

} // namespace cellgate::store
