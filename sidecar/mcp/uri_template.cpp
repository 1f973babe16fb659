#include "mcp/uri_template.hpp"

#include "base/escape_unprintable.hpp"
#include "base/text.hpp"
#include "failed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace cellgate::mcp {

namespace {

constexpr std::size_t max_template_bytes = 4096;

// RFC 6570, appendix A.
struct Operator {
    char op;
    std::string_view first;
    std::string_view separator;
    bool named;
    std::string_view if_empty;
    bool keeps_reserved;
};
constexpr std::array<Operator, 8> operators = {{
    {'\0', "", ",", false, "", false},
    {'+', "", ",", false, "", true},
    {'#', "#", ",", false, "", true},
    {'.', ".", ".", false, "", false},
    {'/', "/", "/", false, "", false},
    {';', ";", ";", true, "", false},
    {'?', "?", "&", true, "=", false},
    {'&', "&", "&", true, "=", false},
}};

const Operator& operator_of(char op) {
    const auto* found =
        std::find_if(operators.begin(), operators.end(), [op](const Operator& o) { return o.op == op; });
    return found == operators.end() ? operators.front() : *found;
}

bool is_letter_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_hex(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

std::string percent_encode(std::string_view text, bool keeps_reserved) {
    constexpr std::string_view unreserved = "-._~";
    constexpr std::string_view reserved = ":/?#[]@!$&'()*+,;=";
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const bool is_triplet =
            keeps_reserved && c == '%' && i + 2 < text.size() && is_hex(text[i + 1]) && is_hex(text[i + 2]);
        if (is_letter_or_digit(c) || unreserved.find(c) != std::string_view::npos || is_triplet ||
            (keeps_reserved && reserved.find(c) != std::string_view::npos)) {
            out += c;
        } else {
            out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        }
    }
    return out;
}

// UTF-8: characters are counted, and none is cut.
std::string_view first_characters(std::string_view text, std::size_t count) {
    std::size_t end = 0;
    while (end < text.size() && count > 0) {
        do {
            ++end;
        } while (end < text.size() && !begins_character(text[end]));
        --count;
    }
    return text.substr(0, end);
}

Error no_template(std::string_view text) {
    return failed(fmt::format("expected a URI template, found \"{}\"", escape_unprintable(text.substr(0, 200))));
}

} // namespace

UriTemplate::UriTemplate(std::string_view text) {
    if (text.empty() || text.size() > max_template_bytes) {
        throw no_template(text);
    }
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t open = std::min(text.find_first_of("{}", at), text.size());
        if (open > at) {
            parts_.push_back({std::string(text.substr(at, open - at)), '\0', {}});
        }
        if (open == text.size()) {
            break;
        }
        const std::size_t close = text.find_first_of("{}", open + 1);
        if (text[open] != '{' || close == std::string_view::npos || text[close] != '}') {
            throw no_template(text);
        }
        Part part = parse_expression(text.substr(open + 1, close - open - 1));
        if (part.uses.empty()) {
            throw no_template(text);
        }
        parts_.push_back(std::move(part));
        at = close + 1;
    }
}

// No uses where it is none.
UriTemplate::Part UriTemplate::parse_expression(std::string_view inside) {
    Part part;
    if (!inside.empty() && operator_of(inside.front()).op != '\0') {
        part.op = inside.front();
        inside.remove_prefix(1);
    }
    const bool required = part.op != '?' && part.op != '&' && part.op != '#' && part.op != ';';
    while (true) {
        const std::size_t comma = std::min(inside.find(','), inside.size());
        std::string_view name = inside.substr(0, comma);
        Use use;
        if (const std::size_t colon = name.find(':'); colon != std::string_view::npos) {
            for (const char digit : name.substr(colon + 1)) {
                if (digit < '0' || digit > '9' || use.max_characters > 999) {
                    return {};
                }
                use.max_characters = use.max_characters * 10 + static_cast<std::size_t>(digit - '0');
            }
            if (use.max_characters == 0) {
                return {};
            }
            name = name.substr(0, colon);
        } else if (name.ends_with('*')) {
            name.remove_suffix(1); // of a string the same as without
        }
        if (name.empty() || !std::all_of(name.begin(), name.end(), [](char c) {
                return is_letter_or_digit(c) || c == '_' || c == '.' || c == '%';
            })) {
            return {};
        }
        use.name = std::string(name);
        if (std::none_of(variables_.begin(), variables_.end(),
                         [&](const auto& each) { return each.name == use.name; })) {
            variables_.push_back({use.name, required});
        }
        part.uses.push_back(std::move(use));
        if (comma == inside.size()) {
            return part;
        }
        inside.remove_prefix(comma + 1);
    }
}

std::string UriTemplate::expand_part(const Part& part, const std::map<std::string, std::string>& values) {
    const Operator& op = operator_of(part.op);
    std::string out;
    bool first = true;
    for (const Use& use : part.uses) {
        const auto value = values.find(use.name);
        if (value == values.end()) {
            continue;
        }
        std::string_view text = value->second;
        if (use.max_characters > 0) {
            text = first_characters(text, use.max_characters);
        }
        out += std::exchange(first, false) ? op.first : op.separator;
        if (op.named) {
            out += use.name;
            out += text.empty() ? op.if_empty : "=";
        }
        out += percent_encode(text, op.keeps_reserved);
    }
    return out;
}

std::string UriTemplate::expand(const std::map<std::string, std::string>& values) const {
    std::string out;
    for (const Part& part : parts_) {
        out += part.uses.empty() ? part.text : expand_part(part, values);
    }
    return out;
}

} // namespace cellgate::mcp
