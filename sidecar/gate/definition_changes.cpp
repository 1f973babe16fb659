#include "definition_changes.hpp"

#include "base/escape_unprintable.hpp"
#include "base/json_codec.hpp"
#include "base/json_value.hpp"
#include "base/line_diff.hpp"
#include "columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace cellgate::gate {

namespace {

constexpr std::size_t max_diff_lines = 200;
constexpr std::size_t context_lines = 2;          // around each change
constexpr std::size_t max_definition_indent = 16; // deeper nesting shows by its brackets alone
// Of removed lines next to each other, when there are too many lines: what is new comes first.
constexpr std::size_t max_removed_run = 5;

// A JSON value, a line for each member and element, members by name. A text of several lines or sentences is below its
// name, a line for each of them.
class DefinitionText {
  public:
    explicit DefinitionText(std::string_view json) { add("", parse_json_value(json), 0); }
    std::vector<std::string> take() { return std::move(lines_); }

  private:
    void put(std::size_t depth, std::string_view text) {
        lines_.push_back(std::string(std::min(2 * depth, max_definition_indent), ' ') + escape_unprintable(text));
    }

    void add(const std::string& lead, const JsonValue& value, std::size_t depth) {
        if (value.type == JsonValue::Type::object && !value.members.empty()) {
            put(depth, lead + "{");
            std::vector<const JsonValue::Member*> members;
            for (const JsonValue::Member& member : value.members) {
                members.push_back(&member);
            }
            std::sort(members.begin(), members.end(), [](const auto* a, const auto* b) {
                return std::tie(a->name, a) < std::tie(b->name, b); // of one name, in their order
            });
            for (const JsonValue::Member* member : members) {
                add(to_json(member->name) + ": ", member->value, depth + 1);
            }
            put(depth, "}");
        } else if (value.type == JsonValue::Type::array && !value.elements.empty()) {
            put(depth, lead + "[");
            for (const JsonValue& element : value.elements) {
                add("", element, depth + 1);
            }
            put(depth, "]");
        } else if (value.type == JsonValue::Type::string) {
            add_text(lead, value.string, depth);
        } else {
            put(depth, lead + std::string(value.text));
        }
    }

    void add_text(const std::string& lead, std::string_view text, std::size_t depth) {
        std::vector<std::string> pieces;
        while (!text.empty()) {
            const std::string_view piece = text.substr(0, end_of_piece(text));
            pieces.push_back(to_json(std::string(piece)));
            text.remove_prefix(piece.size());
        }
        if (pieces.size() < 2) {
            put(depth, lead + (pieces.empty() ? "\"\"" : pieces.front()));
            return;
        }
        put(depth, lead + "text");
        for (const std::string& piece : pieces) {
            put(depth + 1, piece);
        }
    }

    // Behind the first line or sentence.
    static std::size_t end_of_piece(std::string_view text) {
        const std::size_t line = text.find('\n');
        const std::size_t sentence = text.find(". ");
        return std::min({line == std::string_view::npos ? text.size() : line + 1,
                         sentence == std::string_view::npos ? text.size() : sentence + 2});
    }

    std::vector<std::string> lines_;
};

void put_wrapped(std::vector<std::string>& lines, const DiffLine& line) {
    std::string_view text = line.text;
    const std::size_t indent = std::min(text.find_first_not_of(' '), max_definition_indent);
    std::string lead(1, line.sign);
    do {
        const std::string_view part = beginning(text, max_columns - columns(lead));
        lines.push_back(lead + std::string(part));
        text.remove_prefix(part.size());
        lead = line.sign + std::string(indent, ' ') + "↳ ";
    } while (!text.empty());
}

std::vector<std::string> with_short_removals(const std::vector<std::string>& all) {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < all.size();) {
        std::size_t end = i;
        while (end < all.size() && all[end].front() == '-') {
            ++end;
        }
        const std::size_t kept = end - i > max_removed_run ? max_removed_run - 1 : std::max<std::size_t>(end - i, 1);
        lines.insert(lines.end(), all.begin() + static_cast<std::ptrdiff_t>(i),
                     all.begin() + static_cast<std::ptrdiff_t>(i + kept));
        if (end - i > kept) {
            lines.push_back(fmt::format("-… and {} more removed lines", end - i - kept));
        }
        i = std::max(end, i + kept);
    }
    return lines;
}

} // namespace

std::vector<std::string> definition_changes(std::string_view before, std::string_view after) {
    if (std::max(before.size(), after.size()) > max_definition_bytes) {
        return {fmt::format("+… all of it: {} bytes, too many to compare", after.size())};
    }
    const std::vector<std::string> old_lines = DefinitionText(before).take();
    const std::vector<std::string> new_lines = DefinitionText(after).take();
    std::vector<std::string> lines;
    for (const DiffLine& line : near_changes(line_diff(old_lines, new_lines), context_lines)) {
        put_wrapped(lines, line);
    }
    if (lines.empty()) {
        return {" … nothing but the order of members, or how the same values are written"};
    }
    if (lines.size() > max_diff_lines) {
        lines = with_short_removals(lines);
    }
    if (lines.size() > max_diff_lines) {
        const std::size_t shown = max_diff_lines - 1;
        const std::string rest = fmt::format(" … and {} more lines", lines.size() - shown);
        lines.resize(shown);
        lines.push_back(rest);
    }
    return lines;
}

} // namespace cellgate::gate
