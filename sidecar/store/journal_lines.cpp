#include "journal_lines.hpp"

#include "base/unique_fd.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <fcntl.h>

namespace cellgate::store {

namespace {

constexpr JsonLimits line_limits{260, std::uint64_t{1} << 30};
constexpr std::string_view before_seq = R"({"seq":)";

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

template <class T>
std::optional<T> read_as(std::string_view line) {
    if (check_json(line, line_limits)) {
        return std::nullopt;
    }
    try {
        return from_json<T>(line, "journal");
    } catch (const Error&) {
        return std::nullopt;
    }
}

} // namespace

std::string journal_line_start(std::int64_t seq) {
    return fmt::format("{}{},\"output\":", before_seq, seq);
}

std::string_view journal_line_end(bool late) {
    return late ? ",\"late\":true}\n" : "}\n";
}

bool is_late_journal_line(std::string_view line) {
    const std::string_view end = journal_line_end(true);
    return line.ends_with(end.substr(0, end.size() - 1)); // lines are read without their '\n'
}

std::optional<JournalHeading> read_journal_heading(std::string_view line) {
    return read_as<JournalHeading>(line);
}

std::optional<std::int64_t> read_journal_seq(std::string_view line) {
    std::int64_t seq = 0;
    if (!line.starts_with(before_seq)) {
        return std::nullopt;
    }
    line.remove_prefix(before_seq.size());
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), seq);
    return error == std::errc() && seq >= 0 ? std::optional(seq) : std::nullopt;
}

std::optional<JournalRecord> read_journal_line(std::string_view line, std::int64_t seq) {
    std::optional<Line> read = read_as<Line>(line);
    if (!read || read->seq != seq) {
        return std::nullopt;
    }
    const std::uint64_t bytes = read->output.text().size();
    return JournalRecord{seq, 1, std::move(read->output), bytes, read->late.value_or(false)};
}

std::string read_file_part(const std::string& path, std::int64_t offset, std::uint64_t length) {
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file.valid()) {
        return {};
    }
    std::string text(length, '\0');
    std::size_t read = 0;
    while (read < text.size()) {
        const ssize_t count = ::pread(file.get(), text.data() + read, text.size() - read,
                                      static_cast<off_t>(offset) + static_cast<off_t>(read));
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return {};
        }
        read += static_cast<std::size_t>(count);
    }
    return text;
}

} // namespace cellgate::store
