#include "python_failures.hpp"

#include "base/terminal_colours.hpp"
#include "failed_path_finder.hpp"
#include "packages/module_packages.hpp"
#include "packages/requirements.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <regex>
#include <string_view>
#include <utility>

namespace cellgate::session {

namespace {

// The text of an OSError.
void read_os_error(std::string_view text, FailedPathFinder& finder) {
    static const std::regex os_error(
        R"re(\[Errno (\d{1,4})\] [^:'"]+: (?:'([^'\\]+)'|"([^"\\]+)")(?: -> (?:'([^'\\]+)'|"([^"\\]+)"))?)re");
    std::match_results<std::string_view::const_iterator> found;
    if (text.size() > FailedPathFinder::max_line_bytes || !text.starts_with("[Errno ") ||
        !std::regex_match(text.begin(), text.end(), found, os_error)) {
        return;
    }
    const int error = std::stoi(found[1]);
    for (std::size_t i = 2; i < found.size(); ++i) {
        if (found[i].matched) {
            finder.add(found[i].str(), error);
        }
    }
}

// "['cat', '/data/x']", "cat /data/x".
void read_command(std::string_view text, FailedPathFinder& finder) {
    constexpr std::string_view between = " \t'\",[]();|&<>=";
    while (!text.empty()) {
        const std::size_t end = std::min(text.find_first_of(between), text.size());
        finder.add_absolute(text.substr(0, end), ENOENT);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

// The texts of the exceptions in a traceback, "NAME: TEXT", those that others came from too.
template <class Take>
void for_exceptions(const protocol::ExecutionError& error, const Take& take) {
    take(std::string_view(error.evalue).substr(0, FailedPathFinder::max_inspected_bytes));
    std::size_t looked_at = 0;
    for (const std::string& part : error.traceback) {
        looked_at += part.size();
        if (looked_at > FailedPathFinder::max_inspected_bytes) {
            return;
        }
        const std::string plain = without_colours(part);
        FailedPathFinder::for_lines(plain, [&take](std::string_view line) {
            const std::size_t name = line.find(": ");
            const std::string_view before = line.substr(0, std::min(name, line.size()));
            if (name != std::string_view::npos && before.find_first_of(" \t\"'(") == std::string_view::npos) {
                take(line.substr(name + 2));
            }
        });
    }
}

// Of the standard library, and yet not everywhere: what distributions package apart, what newer versions have not, and
// what is another system's.
constexpr std::array standard_modules = {
    "aifc",     "asynchat",   "asyncore", "audioop",   "bz2",       "cgi",      "cgitb",  "chunk",       "crypt",
    "ctypes",   "curses",     "dbm",      "distutils", "ensurepip", "idlelib",  "imghdr", "imp",         "lib2to3",
    "lzma",     "mailcap",    "msilib",   "msvcrt",    "nis",       "nntplib",  "nt",     "ossaudiodev", "pipes",
    "readline", "smtpd",      "sndhdr",   "spwd",      "sqlite3",   "ssl",      "sunau",  "telnetlib",   "tkinter",
    "turtle",   "turtledemo", "uu",       "venv",      "winreg",    "winsound", "xdrlib", "zlib"};

} // namespace

std::optional<MissingModule> missing_module(const Failure& failure) {
    static const std::regex no_module(R"(No module named '([A-Za-z][A-Za-z0-9_]{0,99})')");
    static const std::regex no_wrappers(R"(No module named '(mcptools(?:\.[A-Za-z][A-Za-z0-9_]{0,99})?)')");
    std::smatch found;
    if (failure.error.ename != "ModuleNotFoundError" ||
        failure.error.evalue.size() > FailedPathFinder::max_line_bytes) {
        return std::nullopt;
    }
    if (std::regex_match(failure.error.evalue, found, no_wrappers)) { // no package of that name may be downloaded
        return MissingModule{found[1], "there are no wrappers " + found[1].str(), {}};
    }
    if (!std::regex_match(failure.error.evalue, found, no_module)) {
        return std::nullopt;
    }
    std::string name = found[1];
    std::string package = packages::package_of(name);
    if (std::find(standard_modules.begin(), standard_modules.end(), name) != standard_modules.end() ||
        packages::problem_of_requirement(package, false)) {
        return std::nullopt;
    }
    return MissingModule{name, "there is no module " + name, {std::move(package)}};
}

std::vector<FailedPath> failed_paths(const Failure& failure) {
    FailedPathFinder finder;
    for_exceptions(failure.error, [&finder](std::string_view text) { read_os_error(text, finder); });
    if (failure.error.ename == "CalledProcessError") {
        FailedPathFinder::for_lines(failure.printed, [&finder](std::string_view line) { finder.read_complaint(line); });
        read_command(std::string_view(failure.error.evalue).substr(0, FailedPathFinder::max_line_bytes), finder);
    }
    if (failure.error.ename == "OperationalError") {
        const bool cannot_write = failure.error.evalue == "attempt to write a readonly database";
        if (cannot_write || failure.error.evalue == "unable to open database file") {
            FailedPathFinder::for_lines(failure.code, [&](std::string_view line) {
                FailedPathFinder::for_quoted(
                    line, [&](std::string_view text) { finder.add_absolute(text, cannot_write ? EROFS : ENOENT); });
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
