#include "typescript_failures.hpp"

#include "failed_path_finder.hpp"
#include "packages/npm_names.hpp"
#include "protocol/code_advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <regex>
#include <string_view>
#include <utility>

namespace cellgate::session {

namespace {

// Deno's own: "No such file or directory (os error 2): readfile '/data/x'", "… (os error 13): copy '/a' -> '/b'".
void read_deno_error(const std::string& text, FailedPathFinder& finder) {
    static const std::regex deno_error(R"re(\(os error (\d{1,3})\): [a-z ]+ '([^'\\\n]+)'(?: -> '([^'\\\n]+)')?)re");
    std::smatch found;
    if (std::regex_search(text, found, deno_error)) {
        const int error = std::stoi(found[1]);
        finder.add(found[2].str(), error);
        if (found[3].matched) {
            finder.add(found[3].str(), error);
        }
    }
}

// Node's modules: "ENOENT: no such file or directory, open '/data/x'".
void read_node_error(const std::string& text, FailedPathFinder& finder) {
    constexpr std::array<std::pair<std::string_view, int>, 3> names = {
        {{"ENOENT", ENOENT}, {"EACCES", EACCES}, {"EROFS", EROFS}}};
    static const std::regex node_error(R"re(^([A-Z]{1,10}): [^,\n]+, [a-z]+ '([^'\\\n]+)')re");
    std::smatch found;
    if (std::regex_search(text, found, node_error)) {
        for (const auto& [name, error] : names) {
            if (found[1].str() == name) {
                finder.add(found[2].str(), error);
            }
        }
    }
}

bool imports_from_network(const std::string& code) {
    static const std::regex from_network(R"re((?:import|from)\s*\(?\s*["'](?:npm|jsr|https?):)re");
    return std::regex_search(code.substr(0, FailedPathFinder::max_line_bytes), from_network);
}

// Of an import by `npm:`, or by a name alone: "lodash/fp", "@std/yaml/parse".
std::optional<MissingModule> missing_package(const std::string& text) {
    static const std::regex no_match(R"re(^Could not find a matching package for 'npm:([^'/]+|@[^'/]+/[^'/]+)')re");
    static const std::regex no_dependency(R"re(^Import "((?:@[^"/]+/)?[^"/]+)(?:/[^"]*)?" not a dependency)re");
    std::smatch found;
    if (!std::regex_search(text, found, no_match) && !std::regex_search(text, found, no_dependency)) {
        return std::nullopt;
    }
    std::string name = found[1];
    std::string package = std::string(packages::npm_prefix) + name;
    if (packages::problem_of_npm_package(package)) {
        return std::nullopt;
    }
    return MissingModule{name, fmt::format("there is no package {}", name), {std::move(package)}};
}

protocol::Note note_of_import() {
    protocol::Note note;
    note.text = "Deno fetches what is imported by npm:, jsr: or https: over the network, and that failed";
    note.remedy = "allow the host that it asks for; packages of npm: `cellgate install npm:NAME`";
    return note;
}

protocol::Note note_of_syntax() {
    protocol::Note note;
    note.text =
        "Deno's kernel says no more than this when code cannot be compiled: most often an error of syntax, or a "
        "name that is declared already";
    note.remedy = fmt::format("{}try it in parts; `deno check FILE` names the line in a file", protocol::code_advice);
    return note;
}

} // namespace

FailureCauses causes_of_typescript(const Failure& failure) {
    FailureCauses causes;
    const std::string text = failure.error.evalue.substr(0, FailedPathFinder::max_line_bytes);
    FailedPathFinder finder;
    read_deno_error(text, finder);
    read_node_error(text, finder);
    causes.paths = finder.take();
    constexpr std::array unreachable = {"Network is unreachable", "emporary failure in name resolution",
                                        "Name or service not known"};
    causes.bypassed_proxy = std::any_of(unreachable.begin(), unreachable.end(),
                                        [&text](const char* each) { return text.find(each) != std::string::npos; });
    const bool says_nothing = text == "Execution failed" && failure.error.traceback.empty();
    const bool failed_import = text.find("Import '") != std::string::npos || text.starts_with("JSR package");
    causes.missing = missing_package(text);
    if ((says_nothing || failed_import) && imports_from_network(failure.code)) {
        causes.notes.push_back(note_of_import());
    } else if (says_nothing) {
        causes.notes.push_back(note_of_syntax());
    }
    return causes;
}

} // namespace cellgate::session
