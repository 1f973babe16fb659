#include "store/journal.hpp"

#include "base/json_codec.hpp"
#include "base/log.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace cellgate::store {

namespace {

struct Line {
    std::int64_t seq = 0;
    RawJson output;
    std::optional<bool> late;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("seq", self.seq);
        visit("output", self.output);
        visit("late", self.late);
    }
};

} // namespace

// The journal's descriptor: its own, or while it rests one of this moment.
class Journal::OpenFile {
  public:
    explicit OpenFile(const Journal& journal)
        : resting_(journal.fd_ < 0),
          fd(resting_ ? ::open(journal.path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW) : journal.fd_) {}
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    ~OpenFile() {
        if (resting_ && fd >= 0) {
            ::close(fd);
        }
    }

  private:
    bool resting_;

  public:
    const int fd;
};

Journal::Journal(std::string path, std::uint64_t max_bytes) : path_(std::move(path)), max_bytes_(max_bytes) {
    fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd_ < 0) {
        failure_ = fmt::format("cannot create the journal {}: {}", path_, std::strerror(errno));
        log_warning("{}", failure_);
    }
}

Journal::~Journal() {
    rest();
}

void Journal::rest() {
    if (fd_ >= 0) {
        ::close(std::exchange(fd_, -1));
    }
}

std::int64_t Journal::append(const RawJson& output, bool late) {
    const std::uint64_t bytes = output.text().size();
    Line line{next_seq(), output, late ? std::optional(true) : std::nullopt};
    const std::string text = to_json(line) + "\n";
    Entry entry{size_, static_cast<std::uint32_t>(text.size()), static_cast<std::uint32_t>(bytes), late};
    if (!write(text)) {
        entry.offset = -1;
        dropped_bytes_ += bytes;
    }
    output_bytes_ += bytes;
    entries_.push_back(entry);
    return line.seq;
}

bool Journal::write(std::string_view line) {
    if (!failure_.empty()) {
        return false;
    }
    if (static_cast<std::uint64_t>(size_) + line.size() > max_bytes_) {
        failure_ = fmt::format("the journal has reached its limit of {} bytes", max_bytes_);
        log_warning("{} ({})", failure_, path_);
        return false;
    }
    const OpenFile file(*this);
    std::size_t written = 0;
    while (written < line.size()) {
        const ssize_t count = ::pwrite(file.fd, line.data() + written, line.size() - written,
                                       static_cast<off_t>(size_) + static_cast<off_t>(written));
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            failure_ = fmt::format("cannot write the journal {}: {}", path_, std::strerror(errno));
            log_warning("{}", failure_);
            return false;
        }
        written += static_cast<std::size_t>(count);
    }
    size_ += static_cast<std::int64_t>(line.size());
    return true;
}

std::vector<JournalRecord> Journal::read(std::int64_t from, std::uint64_t max_bytes) const {
    const OpenFile file(*this);
    std::vector<JournalRecord> records;
    std::uint64_t total = 0;
    for (std::int64_t seq = std::max<std::int64_t>(from, 0); seq < next_seq(); ++seq) {
        const Entry& entry = entries_[static_cast<std::size_t>(seq)];
        if (!records.empty() && total + entry.line_bytes > max_bytes) {
            break;
        }
        JournalRecord record{seq, std::nullopt, entry.output_bytes, entry.late};
        if (entry.offset >= 0) {
            std::string text(entry.line_bytes, '\0');
            const ssize_t count = ::pread(file.fd, text.data(), text.size(), static_cast<off_t>(entry.offset));
            // The file is the person's own, but may have been changed since: then the record counts as dropped.
            if (count == static_cast<ssize_t>(text.size()) && !check_json(text)) {
                record.output = from_json<Line>(std::string_view(text), "journal").output;
                total += entry.line_bytes;
            }
        }
        records.push_back(std::move(record));
    }
    return records;
}

} // namespace cellgate::store
