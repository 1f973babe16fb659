#include "install_notes.hpp"

#include "base/escape_unprintable.hpp"
#include "base/shell_words.hpp"
#include "packages/requirements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <regex>
#include <string_view>
#include <vector>

namespace cellgate::session {

namespace {

// Of the code that is looked at: a regular expression takes its time.
constexpr std::size_t max_line_bytes = 300;
constexpr int max_lines = 16;
constexpr std::size_t max_quote_bytes = 80;

// What the arguments of pip's `install` ask for.
struct Asked {
    std::vector<std::string> packages;
    bool source_builds = false;
    std::string problem; // why they cannot be taken over; empty when they can
};

// Of pip's options those that change nothing about what is installed, or ask for what cellgate does anyway.
bool changes_nothing(std::string_view option) {
    constexpr std::array options = {"-q",
                                    "-qq",
                                    "-qqq",
                                    "-v",
                                    "-vv",
                                    "-vvv",
                                    "-U",
                                    "--quiet",
                                    "--verbose",
                                    "--upgrade",
                                    "--user",
                                    "--no-cache-dir",
                                    "--no-input",
                                    "--no-color",
                                    "--prefer-binary",
                                    "--disable-pip-version-check",
                                    "--break-system-packages",
                                    "--no-warn-script-location"};
    return std::find(options.begin(), options.end(), option) != options.end();
}

Asked read_arguments(std::string_view arguments) {
    Asked asked;
    const std::optional<std::vector<std::string>> words = first_command(arguments);
    if (!words) {
        asked.problem = "the line holds what only a shell or IPython can fill in, or a version that is not in quotes";
        return asked;
    }
    for (const std::string& word : *words) {
        const std::string shown = escape_unprintable(word.substr(0, max_quote_bytes));
        if (word.starts_with('-')) {
            if (!changes_nothing(word)) {
                asked.problem = fmt::format("the option {}", shown);
                return asked;
            }
        } else if (!packages::problem_of_requirement(word, false)) {
            asked.packages.push_back(word);
        } else if (word.find("://") != std::string::npos && word.find('@') > word.find("://")) {
            asked.problem = fmt::format("\"{}\", a URL without a name before it ('NAME @ URL')", shown);
            return asked;
        } else if (const std::optional<std::string> problem = packages::problem_of_requirement(word, true)) {
            asked.problem = fmt::format("\"{}\", {}", shown, *problem);
            return asked;
        } else {
            asked.packages.push_back(word);
            asked.source_builds = true;
        }
    }
    return asked;
}

// `outside`: the interpreter of a kernel that cellgate's installs do not reach.
std::string command_of(const std::optional<std::string>& outside, bool in_image) {
    const std::string pip = outside ? shell_word(*outside) + " -m pip install" : "cellgate install";
    return in_image ? "RUN " + pip : pip;
}

std::string remedy_of(const Asked& asked, const std::optional<std::string>& outside, bool in_image) {
    std::string where = "to have a package in every session of this workspace: ";
    if (outside) {
        where = in_image ? "to have a package, in the image's Containerfile: " : "to have a package, in a terminal: ";
    }
    std::string command = command_of(outside, in_image);
    if (!asked.problem.empty() || asked.packages.empty()) {
        const std::string names = escape_unprintable(command) + ", with names and versions of packages";
        return where + names +
               (asked.problem.empty() ? "" : fmt::format("; not taken over from the cell: {}", asked.problem));
    }
    if (asked.source_builds && !outside) {
        command += " --allow-source-builds";
    }
    return where + escape_unprintable(command + " " + shell_words(asked.packages));
}

} // namespace

std::optional<protocol::Note> note_of_install(const std::string& code, const std::optional<std::string>& outside,
                                              bool in_image) {
    static const std::regex pip(R"(^\s*[%!]\s*(?:\S*python\S*\s+-m\s+)?pip3?\s+install(?:\s+(.*))?$)");
    int looked_at = 0;
    for (std::size_t at = 0; at < code.size() && looked_at < max_lines;) {
        const std::size_t end = std::min(code.find('\n', at), code.size());
        const std::string line = code.substr(at, std::min(end - at, max_line_bytes));
        const bool whole = line.size() == end - at;
        at = end + 1;
        const std::size_t first = line.find_first_not_of(" \t");
        if (first == std::string::npos || (line[first] != '%' && line[first] != '!')) {
            continue;
        }
        ++looked_at;
        std::smatch found;
        if (!std::regex_match(line, found, pip)) {
            continue;
        }
        Asked asked;
        if (whole) {
            asked = read_arguments(found[1].str());
        } else {
            asked.problem = "the line is long";
        }
        protocol::Note note;
        note.text = "pip in a cell installs into the session's own home at most, which is removed with the session";
        note.remedy = remedy_of(asked, outside, in_image);
        if (asked.problem.empty() && !asked.packages.empty() && !asked.source_builds && !outside) {
            note.install = std::move(asked.packages);
        }
        return note;
    }
    return std::nullopt;
}

namespace {

// The tool server in "mcptools.SERVER"; what stands for one otherwise.
std::string generated_from(const std::string& module) {
    const std::size_t dot = module.find('.');
    return dot == std::string::npos ? "NAME" : module.substr(dot + 1);
}

} // namespace

bool is_module_of(const std::vector<std::string>& folders, const std::string& name) {
    return std::any_of(folders.begin(), folders.end(), [&name](const std::string& folder) {
        std::error_code ignored;
        std::string path = folder + "/" + name;
        std::replace(path.end() - static_cast<std::ptrdiff_t>(name.size()), path.end(), '.', '/');
        return std::filesystem::exists(path, ignored) || std::filesystem::exists(path + ".py", ignored);
    });
}

protocol::Note note_of_missing(const MissingModule& missing, const std::optional<std::string>& outside, bool in_image) {
    protocol::Note note;
    note.text = escape_unprintable(missing.text);
    if (missing.packages.empty()) {
        note.remedy = "cellgate generate " + generated_from(missing.name);
        note.wrappers = missing.name;
        return note;
    }
    note.remedy = escape_unprintable((in_image ? "in the image's Containerfile: " : "") +
                                     command_of(outside, in_image) + " " + shell_words(missing.packages));
    if (!outside) {
        note.install = missing.packages;
    }
    return note;
}

} // namespace cellgate::session
