#include "display.hpp"

#include "base/escape_unprintable.hpp"
#include "base/json_scan.hpp"
#include "columns.hpp"
#include "visible_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace cellgate::gate {

namespace {

constexpr std::size_t max_display_bytes = std::size_t{24} << 20;
constexpr std::size_t max_joined_bytes = 72; // longer values are shown in several lines
constexpr std::size_t max_indent = 16;       // deeper nesting shows by its brackets alone
constexpr std::size_t max_description_bytes = std::size_t{16} << 10;

// Begins a line that continues the one before; no other line begins with it.
constexpr std::string_view goes_on = "↳ ";

class Lines {
  public:
    void add(std::string_view line) {
        const std::string_view first = beginning(line, max_columns);
        put(std::string(first));
        const std::string lead =
            std::string(std::min(line.find_first_not_of(' '), max_indent), ' ') + std::string(goes_on);
        for (line.remove_prefix(first.size()); !line.empty();) {
            const std::string_view next = beginning(line, max_columns - columns(lead));
            put(lead + std::string(next));
            line.remove_prefix(next.size());
        }
    }
    std::vector<std::string> take() { return std::move(lines_); }

  private:
    void put(std::string line) {
        constexpr std::size_t cost_of_line = 4;
        bytes_ += line.size() + cost_of_line;
        if (bytes_ > max_display_bytes) {
            throw Error(ErrorCode::limit_exceeded,
                        fmt::format("it takes more than {} MiB to show, too much to read", max_display_bytes >> 20));
        }
        lines_.push_back(std::move(line));
    }

    std::vector<std::string> lines_;
    std::size_t bytes_ = 0;
};

std::string indentation(std::size_t depth) {
    return std::string(std::min(2 * depth, max_indent), ' ');
}

std::string key_name(std::string_view key) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    return key.empty() || key.find_first_not_of(plain) != std::string_view::npos ? in_quotes(key) : std::string(key);
}

// A text after `lead`: in quotes, or as a block of its lines below.
void show_text(Lines& lines, std::string lead, std::string_view text, std::size_t depth) {
    if (text.find('\n') == std::string_view::npos) {
        lines.add(std::move(lead) + in_quotes(text));
        return;
    }
    const bool whole = text.ends_with('\n'); // its last line, too
    text.remove_suffix(whole ? 1 : 0);
    const auto count = 1 + std::count(text.begin(), text.end(), '\n');
    lines.add(
        fmt::format("{}{} line{}{}", lead, count, count == 1 ? "" : "s", whole ? "" : ", no line break at the end"));
    const std::string indent = indentation(depth + 1);
    while (true) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        const bool hides = escape_unprintable(line) != line || line.ends_with(' ');
        lines.add(hides ? indent + in_quotes(line) : fmt::format("{}| {}", indent, line));
        if (end == text.size()) {
            return;
        }
        text.remove_prefix(end + 1);
    }
}

// Walks valid JSON once, from front to back, so that nesting costs nothing.
class ValuePrinter {
  public:
    ValuePrinter(std::string_view text, Lines& lines) : text_(text), lines_(lines) { skip(); }

    void members(std::size_t depth) {
        take(); // {
        while (peek() != '}') {
            std::string key = key_name(decode_json_string(scalar()));
            take(); // :
            value(indentation(depth) + key + ": ", depth);
            if (peek() == ',') {
                take();
            }
        }
        take(); // }
    }

  private:
    char peek() const { return text_[at_]; }
    void skip() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) {
            ++at_;
        }
    }
    void take() {
        ++at_;
        skip();
    }
    // The string, number or word here.
    std::string_view scalar() {
        const std::size_t start = at_;
        if (peek() == '"') {
            for (++at_; peek() != '"'; ++at_) {
                at_ += peek() == '\\' ? 1 : 0;
            }
            ++at_;
        } else {
            at_ = std::min(text_.find_first_of(",]} \t", at_), text_.size());
        }
        const std::string_view found = text_.substr(start, at_ - start);
        skip();
        return found;
    }

    void value(std::string lead, std::size_t depth) {
        if (const std::optional<std::string> line = in_one_line()) {
            lines_.add(lead + *line);
        } else if (peek() == '{') {
            lines_.add(lead + "{");
            members(depth + 1);
            lines_.add(indentation(depth) + "}");
        } else if (peek() == '[') {
            lines_.add(lead + "[");
            elements(depth + 1);
            lines_.add(indentation(depth) + "]");
        } else if (peek() == '"') {
            show_text(lines_, std::move(lead), decode_json_string(scalar()), depth);
        } else {
            lines_.add(lead + std::string(scalar()));
        }
    }

    void elements(std::size_t depth) {
        take(); // [
        std::string joined;
        const auto flush = [&] {
            if (!joined.empty()) {
                lines_.add(indentation(depth) + std::exchange(joined, {}));
            }
        };
        while (peek() != ']') {
            if (const std::optional<std::string> line = in_one_line()) {
                if (joined.size() + line->size() > max_joined_bytes) {
                    flush();
                }
                joined += (joined.empty() ? "" : ", ") + *line;
            } else {
                flush();
                value(indentation(depth), depth);
            }
            if (peek() == ',') {
                take();
            }
        }
        flush();
        take(); // ]
    }

    // The value here, when it is short and has no line breaks; else nothing, and nothing is taken.
    std::optional<std::string> in_one_line() {
        const std::size_t start = at_;
        std::string out;
        std::size_t depth = 0;
        bool after_value = false;
        do {
            const char c = peek();
            if (c == '{' || c == '[') {
                out += after_value ? ", " : "";
                out += c;
                after_value = false;
                ++depth;
                take();
            } else if (c == '}' || c == ']') {
                out += c;
                after_value = true;
                --depth;
                take();
            } else if (c == ',') {
                take();
            } else {
                out += after_value ? ", " : "";
                const std::string_view token = scalar();
                if (token.size() > max_joined_bytes) { // before it is decoded: this is tried at each level of nesting
                    at_ = start;
                    return std::nullopt;
                }
                const bool is_text = token.front() == '"';
                const std::string text = is_text ? decode_json_string(token) : std::string();
                const bool is_key = depth > 0 && at_ < text_.size() && peek() == ':';
                if (text.find('\n') != std::string::npos) {
                    at_ = start;
                    return std::nullopt;
                }
                out += is_key ? key_name(text) + ": " : is_text ? in_quotes(text) : std::string(token);
                after_value = !is_key;
                if (is_key) {
                    take();
                }
            }
            if (out.size() > max_joined_bytes) {
                at_ = start;
                return std::nullopt;
            }
        } while (depth > 0);
        return out;
    }

    std::string_view text_;
    Lines& lines_;
    std::size_t at_ = 0;
};

void show_command(Lines& lines, const std::vector<std::string>& command) {
    for (const std::string& part : command) {
        show_text(lines, &part == command.data() ? "program: " : "argument: ", part, 0);
    }
}

std::string title(const protocol::Action& action) {
    const auto name = [](const std::optional<std::string>& text) { return visible_name(text.value_or("")); };
    switch (action.kind) {
    case protocol::ActionKind::tool:
        return fmt::format("tool {} of {}", name(action.tool), name(action.server));
    case protocol::ActionKind::host:
        return fmt::format("{} on this machine, outside the sandbox", name(action.tool));
    case protocol::ActionKind::server:
        return fmt::format("start {}, {} the sandbox{}",
                           action.server == "kernel" ? "the workspace's own kernel"
                                                     : "the tool server " + name(action.server),
                           action.sandbox.value_or(false) ? "in" : "outside",
                           action.sandbox_settings ? ", by the settings below" : "");
    case protocol::ActionKind::network:
        return fmt::format("connect to {}{}{}", name(action.host),
                           action.port ? fmt::format(" port {}", *action.port) : std::string(),
                           action.server ? ", for the tool server " + name(action.server) : std::string());
    case protocol::ActionKind::install:
        return "install packages";
    }
    return "an action";
}

} // namespace

std::vector<std::string> display_lines(const protocol::Action& action) {
    Lines lines;
    lines.add(title(action));
    if (action.arguments) {
        if (json_members(action.arguments->text()).empty()) {
            lines.add("no arguments");
        } else {
            ValuePrinter(action.arguments->text(), lines).members(0);
        }
    }
    if (action.command) {
        show_command(lines, *action.command);
    }
    if (action.program) {
        show_text(lines, "asked for by the program (as the sandbox says): ", *action.program, 0);
    }
    if (action.cwd) {
        show_text(lines, "in the folder: ", *action.cwd, 0);
    }
    if (action.environment_names) {
        std::string names;
        for (const std::string& name : *action.environment_names) {
            if (!action.environment || !action.environment->contains(name)) {
                names += (names.empty() ? "" : ", ") + visible_name(name);
            }
        }
        if (!names.empty() || !action.environment || action.environment->empty()) {
            lines.add(names.empty() ? "with no variables" : "with the variables: " + names);
        }
    }
    if (action.environment) {
        for (const auto& [name, value] : *action.environment) {
            show_text(lines, fmt::format("with the variable {}: ", visible_name(name)), value, 0);
        }
    }
    if (action.sandbox_settings) {
        show_text(lines, "with the settings of: ", action.sandbox_config.value_or(""), 0);
        ValuePrinter(action.sandbox_settings->text(), lines).members(1);
    }
    if (action.folders) {
        for (const std::string& folder : *action.folders) {
            show_text(lines, "which can read the folder: ", folder, 0);
        }
    }
    return lines.take();
}

protocol::Hints visible_hints(const protocol::Hints& hints) {
    protocol::Hints shown = hints;
    if (hints.title) {
        shown.title = cut_to_line(*hints.title, max_columns);
    }
    if (hints.description) {
        std::string_view rest = *hints.description;
        const std::size_t cut = rest.size() > max_description_bytes ? rest.size() - max_description_bytes : 0;
        rest.remove_suffix(cut);
        std::string text;
        while (true) {
            const std::size_t end = std::min(rest.find('\n'), rest.size());
            const std::string line = escape_unprintable(rest.substr(0, end));
            std::string_view left = line;
            do {
                const std::string_view row = beginning(left, max_columns - 2);
                text += fmt::format("{}> {}", text.empty() ? "" : "\n", row);
                left.remove_prefix(row.size());
            } while (!left.empty());
            if (end == rest.size()) {
                break;
            }
            rest.remove_prefix(end + 1);
        }
        shown.description = cut > 0 ? fmt::format("{}\n> ({} more bytes)", text, cut) : text;
    }
    return shown;
}

} // namespace cellgate::gate
