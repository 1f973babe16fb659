#include "python_failures.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <regex>
#include <string_view>
#include <utility>

namespace cellgate::session {

namespace {

constexpr std::size_t max_paths = 4;
constexpr std::size_t max_line_bytes = 10'000; // two paths of the system's longest
constexpr std::size_t max_inspected_bytes = std::size_t{64} << 10;

// Text without the colours of a terminal ("\x1b[0;31m").
std::string without_colours(std::string_view text) {
    std::string plain;
    while (!text.empty()) {
        const std::size_t escape = std::min(text.find("\x1b["), text.size());
        plain += text.substr(0, escape);
        text.remove_prefix(escape);
        const std::size_t end = text.find('m');
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return plain;
}

template <class Take>
void for_lines(std::string_view text, const Take& take) {
    text = text.substr(0, max_inspected_bytes);
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        if (end <= max_line_bytes) {
            take(text.substr(0, end));
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

// What is between two quotes, from the first one on.
template <class Take>
void for_quoted(std::string_view text, const Take& take) {
    while (true) {
        const std::size_t begin = text.find_first_of("'\"");
        if (begin == std::string_view::npos) {
            return;
        }
        const std::size_t end = text.find(text[begin], begin + 1);
        if (end == std::string_view::npos) {
            return;
        }
        take(text.substr(begin + 1, end - begin - 1));
        text.remove_prefix(end + 1);
    }
}

class Finder {
  public:
    // An absolute path alone, or any.
    void add(std::string_view path, int error) {
        const bool known = std::any_of(found_.begin(), found_.end(), [path](const auto& f) { return f.path == path; });
        const bool plain = !path.empty() && path.size() <= max_line_bytes / 2 &&
                           path.find_first_of(std::string_view("\n\\\0", 3)) == std::string_view::npos;
        if (plain && !known && found_.size() < max_paths) {
            found_.push_back({std::string(path), error});
        }
    }
    void add_absolute(std::string_view path, int error) {
        if (path.starts_with('/') && path.size() > 1) {
            add(path, error);
        }
    }

    // The text of an OSError.
    void read_os_error(std::string_view text) {
        static const std::regex os_error(
            R"re(\[Errno (\d{1,4})\] [^:'"]+: (?:'([^'\\]+)'|"([^"\\]+)")(?: -> (?:'([^'\\]+)'|"([^"\\]+)"))?)re");
        std::match_results<std::string_view::const_iterator> found;
        if (text.size() > max_line_bytes || !text.starts_with("[Errno ") ||
            !std::regex_match(text.begin(), text.end(), found, os_error)) {
            return;
        }
        const int error = std::stoi(found[1]);
        for (std::size_t i = 2; i < found.size(); ++i) {
            if (found[i].matched) {
                add(found[i].str(), error);
            }
        }
    }

    // "cat: /data/x: No such file or directory", "ls: cannot access '/data/x': Permission denied".
    void read_complaint(std::string_view line) {
        constexpr std::array<std::pair<std::string_view, int>, 3> endings = {{{": No such file or directory", ENOENT},
                                                                              {": Permission denied", EACCES},
                                                                              {": Read-only file system", EROFS}}};
        for (const auto& [ending, error] : endings) {
            if (!line.ends_with(ending)) {
                continue;
            }
            line.remove_suffix(ending.size());
            const std::size_t colon = line.rfind(": ");
            const std::string_view what = colon == std::string_view::npos ? line : line.substr(colon + 2);
            const std::size_t before = found_.size();
            for_quoted(what, [&](std::string_view path) { add(path, error); });
            if (found_.size() == before) {
                add_absolute(what, error);
            }
            return;
        }
    }

    // "['cat', '/data/x']", "cat /data/x".
    void read_command(std::string_view text) {
        constexpr std::string_view between = " \t'\",[]();|&<>=";
        while (!text.empty()) {
            const std::size_t end = std::min(text.find_first_of(between), text.size());
            add_absolute(text.substr(0, end), ENOENT);
            text.remove_prefix(std::min(end + 1, text.size()));
        }
    }

    std::vector<FailedPath> take() { return std::move(found_); }

  private:
    std::vector<FailedPath> found_;
};

// The texts of the exceptions in a traceback, "NAME: TEXT", those that others came from too.
template <class Take>
void for_exceptions(const protocol::ExecutionError& error, const Take& take) {
    take(std::string_view(error.evalue).substr(0, max_inspected_bytes));
    std::size_t looked_at = 0;
    for (const std::string& part : error.traceback) {
        looked_at += part.size();
        if (looked_at > max_inspected_bytes) {
            return;
        }
        const std::string plain = without_colours(part);
        for_lines(plain, [&take](std::string_view line) {
            const std::size_t name = line.find(": ");
            const std::string_view before = line.substr(0, std::min(name, line.size()));
            if (name != std::string_view::npos && before.find_first_of(" \t\"'(") == std::string_view::npos) {
                take(line.substr(name + 2));
            }
        });
    }
}

} // namespace

std::vector<FailedPath> failed_paths(const Failure& failure) {
    Finder finder;
    for_exceptions(failure.error, [&finder](std::string_view text) { finder.read_os_error(text); });
    if (failure.error.ename == "CalledProcessError") {
        for_lines(failure.printed, [&finder](std::string_view line) { finder.read_complaint(line); });
        finder.read_command(std::string_view(failure.error.evalue).substr(0, max_line_bytes));
    }
    if (failure.error.ename == "OperationalError") {
        const bool cannot_write = failure.error.evalue == "attempt to write a readonly database";
        if (cannot_write || failure.error.evalue == "unable to open database file") {
            for_lines(failure.code, [&](std::string_view line) {
                for_quoted(line,
                           [&](std::string_view text) { finder.add_absolute(text, cannot_write ? EROFS : ENOENT); });
            });
        }
    }
    return finder.take();
}

bool bypassed_proxy(const Failure& failure) {
    constexpr std::array texts = {"[Errno 101] Network is unreachable",
                                  "[Errno -3] Temporary failure in name resolution"};
    constexpr std::array complaints = {"Network is unreachable", "emporary failure in name resolution",
                                       "Could not resolve host"};
    bool found = false;
    for_exceptions(failure.error, [&](std::string_view text) {
        found = found || std::any_of(texts.begin(), texts.end(),
                                     [text](const char* each) { return text.find(each) != std::string_view::npos; });
    });
    return found || (failure.error.ename == "CalledProcessError" &&
                     std::any_of(complaints.begin(), complaints.end(), [&failure](const char* each) {
                         return failure.printed.find(each) != std::string::npos;
                     }));
}

} // namespace cellgate::session
