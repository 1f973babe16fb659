#include "tools/rule_text.hpp"

#include "base/encoding.hpp"
#include "base/enum_name.hpp"
#include "base/escape_unprintable.hpp"
#include "base/json_codec.hpp"
#include "base/time_span.hpp"
#include "gate/connection_rule.hpp"
#include "request_rule_text.hpp"
#include "tools/config.hpp"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>

namespace cellgate::tools {

namespace {

// The length of the JSON string, list or object that `text` begins with; the length for invalid JSON is arbitrary.
std::size_t json_length(std::string_view text) {
    std::size_t depth = 0;
    bool in_string = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (in_string) {
            at += c == '\\' ? 1 : 0;
            in_string = c != '"';
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            ++depth;
        } else if ((c == '}' || c == ']') && depth > 0) {
            --depth;
        }
        if (depth == 0 && !in_string) {
            return at + 1;
        }
    }
    return text.size();
}

// Reads a rule from front to back.
class RuleReader {
  public:
    RuleReader(const std::string& text, WallTime now, std::string* operation)
        : text_(text), rest_(text), now_(now), operation_(operation) {}

    // A call of a tool.
    protocol::RuleSpec call() {
        protocol::RuleSpec rule;
        rule.effect = protocol::Effect::allow;
        rule.server = server();
        rule.tool = tool();
        rule.kind = *rule.server == host_server_name ? protocol::ActionKind::host : protocol::ActionKind::tool;
        while (skip_spaces()) {
            if (!option(rule)) {
                const bool quoted = rest_.starts_with('"');
                condition(rule, text_until("= "), quoted);
            }
        }
        return rule;
    }

    // What follows `request `.
    protocol::RuleSpec request(protocol::Effect effect) {
        example_ = effect == protocol::Effect::inspect ? "inspect request api.github.com --bearer ${secret:TOKEN}"
                                                       : "request api.github.com GET,HEAD /repos/**";
        protocol::RuleSpec rule;
        rule.effect = effect;
        rule.kind = protocol::ActionKind::request;
        skip_spaces();
        rule.host = text_until(" ");
        if (rule.host->empty()) {
            throw invalid("it names no host");
        }
        std::string methods;
        protocol::Injection injection;
        while (skip_spaces()) {
            if (!option(rule) && !request_option(rule, injection)) {
                part_of_request(rule, methods);
            }
        }
        if (operation_ != nullptr && !operation_->empty() && (!methods.empty() || rule.paths)) {
            throw invalid("an operation has its method and its path");
        }
        if (!methods.empty()) {
            described([&] { take_methods(rule, methods); });
        }
        if (injection.variable && injection.value.empty()) {
            throw invalid("--variable comes with what is put in, such as --bearer ${secret:NAME}");
        }
        if (!injection.value.empty()) {
            if (effect != protocol::Effect::inspect) {
                throw invalid("only a rule that inspects puts a secret in: inspect request HOST --bearer "
                              "${secret:NAME}");
            }
            rule.inject = std::move(injection);
        }
        return rule;
    }

    // The options of a rule that is read up to them. `example`: such a rule.
    void options(protocol::RuleSpec& rule, std::string_view example, std::string_view behind = "") {
        example_ = example;
        while (skip_spaces()) {
            if (!option(rule)) {
                throw invalid(fmt::format("there is something behind it: {}{}", escape_unprintable(rest_), behind));
            }
        }
    }

    // A rule about connections to a host, which is behind `network`.
    protocol::RuleSpec network(protocol::Effect effect) {
        constexpr std::string_view example = "network example.org:443";
        example_ = example;
        skip_spaces();
        const std::string host = text_until(" ");
        if (host.empty()) {
            throw invalid("it names no host");
        }
        protocol::RuleSpec rule = gate::connection_rule(effect, host);
        options(rule, example);
        return rule;
    }

    bool takes(std::string_view prefix) {
        const bool found = rest_.starts_with(prefix);
        rest_.remove_prefix(found ? prefix.size() : 0);
        return found;
    }

    // All that is left, or up to a space.
    bool takes_word(std::string_view word) {
        const bool found = rest_ == word || (rest_.starts_with(word) && rest_.at(word.size()) == ' ');
        rest_.remove_prefix(found ? word.size() : 0);
        return found;
    }

    // The text up to one of `ends`, or a JSON string.
    std::string text_until(std::string_view ends) {
        if (!rest_.empty() && rest_.front() == '"') {
            std::string text = decode_json_string(json());
            if (!rest_.empty() && ends.find(rest_.front()) == std::string_view::npos) {
                throw invalid(fmt::format("there is something behind the quotes: {}", escape_unprintable(rest_)));
            }
            return text;
        }
        const std::string_view text = rest_.substr(0, std::min(rest_.find_first_of(ends), rest_.size()));
        rest_.remove_prefix(text.size());
        return std::string(text);
    }

  private:
    // Whether there is more.
    bool skip_spaces() {
        rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
        return !rest_.empty();
    }

    // The methods, a path, or a condition on the body.
    void part_of_request(protocol::RuleSpec& rule, std::string& methods) {
        const bool quoted = rest_.starts_with('"');
        std::string word = text_until("= ");
        if (!quoted && word.starts_with('/') && word.find('?') != std::string::npos) {
            word += text_until(" "); // of an action that is tried: no rule has a query
        }
        if (rest_.starts_with('=')) {
            condition(rule, word, quoted);
        } else if (quoted || word.starts_with('/') || word.starts_with('*')) {
            if (!rule.paths) {
                rule.paths.emplace();
            }
            rule.paths->push_back(std::move(word));
        } else if (methods.empty() && !rule.paths && !rule.arguments) {
            methods = std::move(word);
        } else {
            throw invalid(fmt::format("{} is no path, which begins with /, and no condition on the body",
                                      escape_unprintable(word)));
        }
    }

    bool request_option(protocol::RuleSpec& rule, protocol::Injection& injection) {
        const std::string_view name = rest_.substr(0, std::min(rest_.find(' '), rest_.size()));
        if (!name.starts_with("--") || name.find('=') != std::string_view::npos) {
            return false;
        }
        rest_.remove_prefix(name.size());
        skip_spaces();
        std::string value = text_until(" ");
        if (name == "--openapi") {
            rule.openapi = std::move(value);
            return true;
        }
        if (name == "--operation") {
            if (operation_ == nullptr) {
                throw invalid("only `cellgate policy add` and the editors look operations up");
            }
            *operation_ = std::move(value);
            return true;
        }
        described([&] {
            if (!take_injection(injection, name, std::move(value))) {
                throw std::invalid_argument(fmt::format("{} is no option of it", escape_unprintable(name)));
            }
        });
        return true;
    }

    template <class Take>
    void described(const Take& take) const {
        try {
            take();
        } catch (const std::invalid_argument& problem) {
            throw invalid(problem.what());
        }
    }

    // Takes an option. An argument of the same name has a `=` behind it.
    bool option(protocol::RuleSpec& rule) {
        if (takes("--uses ")) {
            const std::string count = text_until(" ");
            if (count.empty() || count.size() > 7 || count.find_first_not_of("0123456789") != std::string::npos) {
                throw invalid("--uses takes a number from 1 to 1000000");
            }
            rule.uses = std::stoll(count);
            return true;
        }
        if (takes("--expires ")) {
            const std::optional<std::chrono::seconds> span = parse_time_span(text_until(" "));
            if (!span) {
                throw invalid("--expires takes how long: 30s, 90m, 12h, 7d");
            }
            rule.expires_at = to_rfc3339(now_ + *span);
            return true;
        }
        if (const std::string_view word = rest_.substr(0, rest_.find(' ')); word == "--touch") {
            rest_.remove_prefix(word.size());
            rule.confirm = protocol::ConfirmationMeans::touch;
            return true;
        }
        return false;
    }

    Error invalid(const std::string& why) const {
        return Error(ErrorCode::rule_invalid,
                     fmt::format("expected a rule like {}, found \"{}\": {}", example_, escape_unprintable(text_), why),
                     "see the rules in docs/approvals-and-rules.md, and `cellgate policy add --help`");
    }

    bool is_json() const {
        return !rest_.empty() && (rest_.front() == '"' || rest_.front() == '{' || rest_.front() == '[');
    }

    // The JSON string, list or object here.
    std::string_view json() {
        const std::string_view value = rest_.substr(0, json_length(rest_));
        if (const std::optional<JsonProblem> problem = check_json(value)) {
            throw invalid(fmt::format("expected JSON at {}, found {}", escape_unprintable(value), problem->what));
        }
        rest_.remove_prefix(value.size());
        return value;
    }

    std::string server() {
        const bool quoted = rest_.starts_with('"');
        std::string server = text_until("/ ");
        if (server.empty() || !rest_.starts_with('/')) {
            throw invalid("there is no SERVER/ at its beginning");
        }
        if (!quoted && server.find('*') != std::string::npos) {
            throw invalid("a rule names one server");
        }
        rest_.remove_prefix(1);
        return server;
    }

    std::optional<std::string> tool() {
        const bool quoted = rest_.starts_with('"');
        std::string tool = text_until(" ");
        if (tool == "*" && !quoted) {
            return std::nullopt;
        }
        if (tool.empty() || (!quoted && tool.find('*') != std::string::npos)) {
            throw invalid("a rule names one tool, or * for all of the server");
        }
        return tool;
    }

    // A condition whose name was read.
    void condition(protocol::RuleSpec& rule, const std::string& name, bool quoted) {
        std::string pointer = this->pointer(name, quoted);
        protocol::Matcher matcher = this->matcher(pointer);
        if (!rule.arguments) {
            rule.arguments.emplace();
        }
        if (!rule.arguments->emplace(std::move(pointer), std::move(matcher)).second) {
            throw invalid("it names an argument twice");
        }
    }

    // To the argument before `=`, which is taken; to all of them if there is no name.
    std::string pointer(const std::string& name, bool quoted) {
        if (!rest_.starts_with('=')) {
            throw invalid("a condition is ARGUMENT=VALUE");
        }
        rest_.remove_prefix(1);
        if (name.empty() && !quoted) {
            if (!rest_.starts_with('{')) {
                throw invalid("a condition is ARGUMENT=VALUE, or ={...} for all arguments");
            }
            return "";
        }
        return name.starts_with('/') && !quoted ? name : pointer_to(name);
    }

    std::vector<RawJson> list() {
        if (!rest_.starts_with('[')) {
            throw invalid("in: takes a list of values, as JSON: in:[1,2]");
        }
        return from_json<std::vector<RawJson>>(std::string(json()), "the list");
    }

    double number() {
        const std::string text = text_until(" ");
        if (check_json(text) || json_type(text) != "number") {
            throw invalid("less: takes a number: less:10");
        }
        return from_json<double>(text, "the number");
    }

    protocol::Matcher matcher(const std::string& pointer) {
        protocol::Matcher matcher;
        if (takes("under:")) {
            matcher.under = text_until(" ");
        } else if (takes("glob:")) {
            matcher.glob = text_until(" ");
        } else if (takes("in:")) {
            matcher.in = list();
        } else if (takes("less:")) {
            matcher.less_than = number();
        } else if (is_json()) {
            matcher.equals = RawJson::checked(std::string(json()));
            if (!rest_.empty() && rest_.front() != ' ') {
                throw invalid(fmt::format("there is something behind the value of {}: {}", escape_unprintable(pointer),
                                          escape_unprintable(rest_)));
            }
        } else {
            const std::string value = text_until(" ");
            matcher.equals = RawJson::checked(check_json(value) ? to_json(value) : value);
        }
        return matcher;
    }

    const std::string& text_;
    std::string_view rest_;
    const WallTime now_;
    std::string* const operation_; // nullptr where none can be named
    std::string_view example_ = "SERVER/TOOL or SERVER/TOOL ARGUMENT=under:DIR";
};

// JSON without white space whose strings hold visible characters alone.
std::string visible_json(std::string_view json) {
    std::string out;
    for (std::string_view rest = json; !rest.empty();) {
        const DecodedCodePoint next = decode_utf8(rest);
        const std::string_view character = rest.substr(0, next.length);
        if (escape_unprintable(character) == character) {
            out += character;
        } else if (next.code_point >= 0x10000) {
            const char32_t over = next.code_point - 0x10000;
            out += fmt::format("\\u{:04x}\\u{:04x}", static_cast<std::uint32_t>(0xd800 + (over >> 10)),
                               static_cast<std::uint32_t>(0xdc00 + (over & 0x3ff)));
        } else if (next.code_point > ' ') {
            out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(next.code_point));
        } // white space between values; in a string it is escaped already
        rest.remove_prefix(next.length);
    }
    return out;
}

std::string json_string(std::string_view text) {
    return visible_json(to_json(std::string(text)));
}

// As it is where the grammar takes it for itself, else as a JSON string.
std::string spelled(std::string_view text) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.@+,";
    return text.empty() || text.find_first_not_of(plain) != std::string_view::npos ? json_string(text)
                                                                                   : std::string(text);
}

std::string spelled_value(std::string_view json) {
    if (json_type(json) != "string") {
        return visible_json(json);
    }
    const std::string text = decode_json_string(json);
    // Of a path, too, only what cannot be read as a number or a word of JSON, or as one of our prefixes.
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.@+,/";
    const bool as_it_is = !text.empty() && text.find_first_not_of(plain) == std::string::npos && check_json(text);
    return as_it_is ? text : visible_json(json);
}

} // namespace

std::string pointer_to(std::string_view name) {
    std::string pointer = "/";
    for (const char c : name) {
        pointer += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    }
    return pointer;
}

std::optional<std::string> argument_name(std::string_view pointer) {
    if (pointer.empty() || pointer.find('/', 1) != std::string_view::npos) {
        return std::nullopt;
    }
    std::string name;
    for (std::size_t at = 1; at < pointer.size(); ++at) {
        const bool escaped = pointer[at] == '~' && at + 1 < pointer.size();
        name += !escaped ? pointer[at] : pointer[++at] == '1' ? '/' : '~';
    }
    return name;
}

protocol::RuleSpec parse_allow_rule(const std::string& text, WallTime now) {
    RuleReader reader(text, now, nullptr);
    return reader.takes_word("request") ? reader.request(protocol::Effect::allow) : reader.call();
}

protocol::RuleSpec parse_rule(const std::string& text, WallTime now, std::string* operation) {
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string_view word(text.data(), space);
    const std::string rest = text.substr(std::min(text.find_first_not_of(' ', space), text.size()));
    RuleReader reader(rest, now, operation);
    protocol::RuleSpec rule;
    const std::optional<protocol::Effect> effect = parse_enum<protocol::Effect>(word);
    if (!effect) {
        throw Error(ErrorCode::rule_invalid,
                    fmt::format("expected a rule that begins with allow, ask, deny, inspect or review, found \"{}\"",
                                escape_unprintable(text)),
                    "such as: deny filesystem/move_file");
    }
    if (reader.takes_word("request")) {
        return reader.request(*effect);
    }
    if (*effect == protocol::Effect::inspect) {
        throw Error(ErrorCode::rule_invalid,
                    fmt::format("expected requests in a rule that inspects, found \"{}\"", escape_unprintable(text)),
                    "such as: inspect request api.github.com");
    }
    if (reader.takes_word("network")) {
        rule = reader.network(*effect);
    } else if (reader.takes_word("install")) {
        rule.kind = protocol::ActionKind::install;
        reader.options(rule, "install", "; a rule about installs names no package");
    } else if (reader.takes_word("output")) {
        rule.kind = protocol::ActionKind::output;
        reader.options(rule, "output");
    } else {
        rule = reader.call();
    }
    rule.effect = *effect;
    return rule;
}

std::string allow_rule_for(const std::string& server, const std::string& tool, const RawJson& arguments, bool exactly) {
    std::string rule = fmt::format("{}/{}", spelled(server), spelled(tool));
    if (exactly) {
        return fmt::format("{} ={}", rule, visible_json(arguments.text()));
    }
    for (const auto& [name, value] : json_members(arguments.text())) {
        rule += fmt::format(" {}={}", spelled(name), spelled_value(value));
    }
    return rule;
}

std::string allow_rule_for_request(const protocol::Action& request) {
    const std::string host = fmt::format("{}:{}", *request.host, request.port.value_or(443));
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.@+,/";
    const bool as_it_is = request.path->find_first_not_of(plain) == std::string::npos;
    return fmt::format("request {} {} {}", host, *request.method,
                       as_it_is ? *request.path : json_string(*request.path));
}

} // namespace cellgate::tools
