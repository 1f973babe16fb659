#include "notes.hpp"

#include "base/shell_words.hpp"
#include "base/visible_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

namespace cellgate::session {

namespace {

constexpr std::size_t most_notes = 8;
// Of the code that is looked at: a regular expression takes its time.
constexpr std::size_t longest_line = 300;
constexpr int most_lines = 16;

// The requirements among pip's arguments; those with quotes of their own are left out.
std::vector<std::string> requirements_in(const std::string& arguments) {
    std::vector<std::string> found;
    static const std::regex word(R"(["']?([A-Za-z0-9][A-Za-z0-9._,<>=!~\[\]-]*)["']?(?=\s|$)|\S+)");
    for (std::sregex_iterator each(arguments.begin(), arguments.end(), word), end; each != end; ++each) {
        if ((*each)[1].matched) {
            found.push_back((*each)[1]);
        }
    }
    return found;
}

} // namespace

protocol::Note note_of_refusal(const Endpoint& endpoint, const std::string& reason) {
    protocol::Note note;
    note.text = visible_text(fmt::format("the connection to {} was refused: {}", to_string(endpoint), reason));
    note.remedy = fmt::format("to allow it, add a rule for the host {}", to_string(endpoint));
    protocol::RuleSpec rule;
    rule.effect = protocol::Effect::allow;
    rule.kind = protocol::ActionKind::network;
    rule.host = to_string(endpoint);
    note.rule = std::move(rule);
    return note;
}

std::optional<protocol::Note> note_of_install(const std::string& code, const std::optional<std::string>& outside) {
    static const std::regex pip(R"(^\s*[%!]\s*(?:\S*python\S*\s+-m\s+)?pip3?\s+install\s+(.*)$)");
    int looked_at = 0;
    for (std::size_t at = 0; at < code.size() && looked_at < most_lines;) {
        const std::size_t end = std::min(code.find('\n', at), code.size());
        const std::string line = code.substr(at, std::min(end - at, longest_line));
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
        std::string command = outside ? shell_word(*outside) + " -m pip install" : "cellgate install";
        for (const std::string& requirement : requirements_in(found[1])) {
            command += " " + shell_word(requirement);
        }
        protocol::Note note;
        note.text = "pip in a cell installs into the session's own home at most, which goes with the session";
        note.remedy = outside ? fmt::format("to have a package, in a terminal: {}", visible_text(command))
                              : fmt::format("to have a package in every session of this workspace: {}", command);
        return note;
    }
    return std::nullopt;
}

void add_note(std::optional<std::vector<protocol::Note>>& notes, protocol::Note note) {
    std::vector<protocol::Note>& all = notes ? *notes : notes.emplace();
    const bool known = std::any_of(all.begin(), all.end(), [&](const auto& each) { return each.text == note.text; });
    if (!known && all.size() < most_notes) {
        all.push_back(std::move(note));
    }
}

} // namespace cellgate::session
