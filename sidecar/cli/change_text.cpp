#include "change_text.hpp"

#include "base/escape_unprintable.hpp"
#include "base/line_diff.hpp"

#include <fmt/format.h>

namespace cellgate::cli {

namespace {

constexpr std::size_t diff_context = 2; // lines

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t end = std::min(text.find('\n', start), text.size());
        lines.push_back(text.substr(start, end - start));
        start = end + 1;
    }
    return lines;
}

std::string sizes_of(const protocol::ChangedFile& file) {
    if (!file.before || !file.after) {
        const auto& only = file.before ? file.before : file.after;
        return only ? fmt::format("{} bytes", only->bytes) : "";
    }
    std::string sizes = fmt::format("{} → {} bytes", file.before->bytes, file.after->bytes);
    if (file.before->mode != file.after->mode) {
        sizes += fmt::format(", mode {} → {}", file.before->mode, file.after->mode);
    }
    return sizes;
}

} // namespace

std::string change_line(const protocol::ChangedFile& file) {
    constexpr const char* letters[] = {"A", "M", "D"};
    return fmt::format("{}  {}  ({})", letters[static_cast<int>(file.kind)], escape_unprintable(file.path),
                       sizes_of(file));
}

std::vector<std::string> file_diff(const protocol::ChangesReadResult& from, const protocol::ChangesReadResult& to) {
    if (from.base64 || to.base64) {
        return {"  (not a text)"};
    }
    std::vector<std::string> lines;
    const std::vector<std::string> then = lines_of(from.text.value_or(""));
    const std::vector<std::string> now = lines_of(to.text.value_or(""));
    for (const DiffLine& line : near_changes(line_diff(then, now), diff_context)) {
        lines.push_back(fmt::format("  {}{}", line.sign, escape_unprintable(line.text)));
    }
    return lines;
}

std::vector<std::string> list_remarks(const protocol::ChangesListResult& list) {
    std::vector<std::string> remarks;
    if (list.count) {
        remarks.push_back(fmt::format("… and {} more", *list.count - static_cast<std::int64_t>(list.files.size())));
    }
    for (const protocol::PathProblem& problem : list.not_covered.value_or(std::vector<protocol::PathProblem>())) {
        remarks.push_back(
            fmt::format("not covered: {}{}{}", problem.path, problem.path.empty() ? "" : ": ", problem.why));
    }
    if (list.overlapping) {
        remarks.push_back(
            fmt::format("these ran meanwhile, and may have changed them: {}", fmt::join(*list.overlapping, ", ")));
    }
    return remarks;
}

} // namespace cellgate::cli
