#include "display.hpp"

#include "base/enum_name.hpp"
#include "base/escape_unprintable.hpp"
#include "base/json_codec.hpp"
#include "base/json_scan.hpp"
#include "base/shell_words.hpp"
#include "base/text.hpp"
#include "columns.hpp"
#include "payload.hpp"
#include "visible_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

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

// The words of `argv`, at most as many characters as a line has room for: all of them are below.
std::string command_line(const RawJson& arguments) {
    constexpr std::size_t max_bytes = 80;
    std::vector<std::string> words;
    const std::string_view argv = json_member(arguments.text(), "argv");
    for (const std::string_view word : argv.starts_with('[') ? json_elements(argv) : std::vector<std::string_view>()) {
        const std::string text(word);
        words.push_back(text.starts_with('"') ? from_json<std::string>(RawJson::checked(text), "argv") : text);
    }
    const std::string line = escape_unprintable(shell_words(words));
    return line.size() > max_bytes ? std::string(cut_at_character(line, max_bytes)) + "…" : line;
}

std::string title(const ToolCall& call) {
    if (call.server == "kernel") { // which is no user's: kernel/programs.py asks by it
        return "start a program in the sandbox: " + command_line(call.arguments);
    }
    return fmt::format("tool {} of {}", visible_name(call.tool), visible_name(call.server));
}
std::string title(const ClientCall& call) {
    return fmt::format("tool {} of {}, which carries it out itself, outside the sandbox", visible_name(call.tool),
                       visible_name(call.server));
}
std::string title(const HostCall& call) {
    return fmt::format("{} on this machine, outside the sandbox", visible_name(call.tool));
}
std::string title(const ServerStart& start) {
    return fmt::format("start the tool server {}, {} the sandbox{}{}", visible_name(start.server),
                       start.sandbox.value_or(false) ? "in" : "outside",
                       start.launcher ? fmt::format(" of {}", enum_name(*start.launcher)) : "",
                       start.settings ? ", by the settings below" : "");
}
std::string title(const ServerUse& use) {
    return fmt::format("use the tool server {}, which runs elsewhere", visible_name(use.server));
}
std::string title(const KernelStart& start) {
    return fmt::format("start the workspace's own kernel, {} the sandbox", start.sandbox ? "in" : "outside");
}
std::string title(const Connection& connection) {
    return fmt::format("{} {}{}{}", connection.protocol ? "let any bytes pass to" : "connect to",
                       visible_name(connection.host),
                       connection.port ? fmt::format(" port {}", *connection.port) : std::string(),
                       connection.server ? ", for the tool server " + visible_name(*connection.server) : std::string());
}
std::string title(const HttpRequest& request) {
    const bool web_socket = request.method == "WEBSOCKET";
    const std::string scheme = fmt::format("{}{}", web_socket ? "ws" : "http", request.tls.value_or(true) ? "s" : "");
    const bool usual = request.port.value_or(0) == (request.tls.value_or(true) ? 443 : 80);
    return fmt::format("{} {}://{}{}{}{}", web_socket ? "open" : visible_name(request.method), scheme,
                       visible_name(request.host), usual || !request.port ? "" : fmt::format(":{}", *request.port),
                       visible_name(request.path),
                       request.server ? ", for the tool server " + visible_name(*request.server) : std::string());
}
std::string title(const Output& output) {
    std::string text = "show an agent this output";
    std::string_view lead = ", which may have results of ";
    for (const std::string& tool : output.results.value_or(std::vector<std::string>())) {
        text += fmt::format("{}{}", std::exchange(lead, ", "), visible_name(tool));
    }
    return text;
}
// The packages are behind the last option.
std::string title(const Install& install) {
    std::vector<std::string>::const_iterator name = install.command.end();
    while (name != install.command.begin() && !std::prev(name)->starts_with('-')) {
        --name;
    }
    std::string text = "install packages";
    std::string_view lead = ": ";
    for (; name != install.command.end(); ++name) {
        text += std::exchange(lead, ", ");
        text += visible_name(*name);
    }
    return text;
}

using Texts = std::vector<std::string>;
using Variables = std::map<std::string, std::string>;

// Those of which the values are shown are not named twice. `what`: "variables".
void show_names(Lines& lines, std::string_view what, const Texts& all, const Variables& shown) {
    std::string names;
    for (const std::string& name : all) {
        if (!shown.contains(name)) {
            names += (names.empty() ? "" : ", ") + visible_name(name);
        }
    }
    if (!names.empty() || shown.empty()) {
        lines.add(names.empty() ? fmt::format("with no {}", what) : fmt::format("with the {}: {}", what, names));
    }
}

// Shows the fields below the title, one after the other.
class FieldPrinter {
  public:
    FieldPrinter(const Action& action, Lines& lines) : lines_(lines) {
        for_each_field(action, [this]<class Tag, class Value>(Tag, const Value& value) {
            if constexpr (std::is_same_v<Tag, field::Environment> || std::is_same_v<Tag, field::Headers>) {
                shown_ = value;
            }
            if constexpr (std::is_same_v<Tag, field::Method>) {
                web_socket_ = value == "WEBSOCKET";
            }
            has_body_ = has_body_ || std::is_same_v<Tag, field::Body>;
        });
    }

    void operator()(field::Arguments, const RawJson& arguments) const {
        if (json_members(arguments.text()).empty()) {
            lines_.add("no arguments");
        } else {
            ValuePrinter(arguments.text(), lines_).members(0);
        }
    }
    void operator()(field::Command, const Texts& command) const { show_command(lines_, command); }
    void operator()(field::Program, std::string_view program) const {
        show_text(lines_, "asked for by the program (as the sandbox says): ", program, 0);
    }
    void operator()(field::Cwd, std::string_view folder) const { show_text(lines_, "in the folder: ", folder, 0); }
    void operator()(field::EnvironmentNames, const Texts& names) const {
        show_names(lines_, "variables", names, shown_);
    }
    void operator()(field::Environment, const Variables& variables) const {
        for (const auto& [name, value] : variables) {
            show_text(lines_, fmt::format("with the variable {}: ", visible_name(name)), value, 0);
        }
    }
    void operator()(field::Url, std::string_view url) const { show_text(lines_, "at: ", url, 0); }
    void operator()(field::HeaderNames, const Texts& names) const { show_names(lines_, "headers", names, shown_); }
    void operator()(field::Headers, const Variables& headers) const {
        for (const auto& [name, value] : headers) {
            show_text(lines_, fmt::format("with the header {}: ", visible_name(name)), value, 0);
        }
    }
    void operator()(field::SandboxSettings, const SandboxSettings& settings) const {
        show_text(lines_, "with the settings of: ", settings.file, 0);
        ValuePrinter(settings.text.text(), lines_).members(1);
    }
    void operator()(field::Folders, const Texts& folders) const {
        for (const std::string& folder : folders) {
            show_text(lines_, "which can read the folder: ", folder, 0);
        }
    }
    void operator()(field::Query, std::string_view query) const { show_text(lines_, "query: ", query, 0); }
    void operator()(field::Secrets, const Texts& names) const {
        for (const std::string& name : names) {
            lines_.add(fmt::format("with the secret {}, which {}", visible_name(name),
                                   web_socket_ ? "the WebSocket may show to the code" : "the code does not see"));
        }
    }
    void operator()(field::RequestHeaders, const Texts& headers) const {
        for (const std::string& header : headers) {
            show_text(lines_, "header: ", header, 0);
        }
    }
    void operator()(field::BodyBytes, std::int64_t bytes) const {
        if (bytes > 0 && !has_body_) {
            lines_.add(fmt::format("a body of {} bytes, which is not shown", bytes));
        }
    }
    void operator()(field::BodySha256, std::string_view hash) const {
        lines_.add(fmt::format("  its sha256: {}", hash));
    }
    void operator()(field::Body, std::string_view body) const {
        if (const std::optional<RawJson> json = json_object(body)) {
            lines_.add(fmt::format("{} bytes of JSON:", body.size()));
            ValuePrinter(json->text(), lines_).members(1);
        } else {
            show_text(lines_, "body: ", body, 0);
        }
    }
    void operator()(field::OutputText, std::string_view text) const { show_text(lines_, "output: ", text, 0); }
    // The title has these,
    void operator()(field::Results, const Texts&) const {}
    void operator()(field::Protocol, protocol::NetworkProtocol) const {}
    void operator()(field::Tls, bool) const {}
    void operator()(field::Method, std::string_view) const {}
    void operator()(field::UrlPath, std::string_view) const {}
    void operator()(field::Server, std::string_view) const {}
    void operator()(field::Tool, std::string_view) const {}
    void operator()(field::Sandbox, bool) const {}
    void operator()(field::SandboxLauncher, protocol::SandboxLauncher) const {}
    void operator()(field::Host, std::string_view) const {}
    void operator()(field::Port, std::int64_t) const {}
    // and an identity is a hash.
    void operator()(field::ServerIdentity, std::string_view) const {}
    void operator()(field::ToolIdentity, std::string_view) const {}

  private:
    Lines& lines_;
    Variables shown_; // by name
    bool has_body_ = false;
    bool web_socket_ = false;
};

Lines with_title(const Action& action) {
    Lines lines;
    lines.add(std::visit([](const auto& alternative) { return title(alternative); }, action));
    return lines;
}

} // namespace

std::vector<std::string> own_lines(std::string_view line) {
    Lines lines;
    lines.add(line);
    return lines.take();
}

std::vector<std::string> title_lines(const Action& action) {
    return with_title(action).take();
}

std::vector<std::string> display_lines(const Action& action) {
    Lines lines = with_title(action);
    for_each_field(action, FieldPrinter(action, lines));
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
