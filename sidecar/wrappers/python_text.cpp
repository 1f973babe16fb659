#include "python_text.hpp"

#include "base/encoding.hpp"
#include "base/escape_unprintable.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace cellgate::wrappers {

namespace {

constexpr std::array<std::string_view, 35> keywords{
    "False",  "None",     "True", "and",    "as",   "assert", "async",   "await",  "break", "class",  "continue", "def",
    "del",    "elif",     "else", "except", "for",  "from",   "finally", "global", "if",    "import", "in",       "is",
    "lambda", "nonlocal", "not",  "or",     "pass", "raise",  "return",  "try",    "while", "with",   "yield"};

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_word(char c) {
    return is_letter(c) || is_digit(c) || c == '_';
}

} // namespace

std::string quoted_literal(std::string_view text, std::string (*escape)(std::uint32_t code_point)) {
    std::string out = "\"";
    while (!text.empty()) {
        const DecodedCodePoint decoded = decode_utf8(text);
        const std::string_view bytes = text.substr(0, decoded.length);
        const auto code_point = static_cast<std::uint32_t>(decoded.valid ? decoded.code_point : U'\ufffd');
        if (code_point == '"' || code_point == '\\') {
            out += '\\';
            out += bytes;
        } else if (code_point == '\n') {
            out += "\\n";
        } else if (decoded.valid && escape_unprintable(bytes) == bytes) {
            out += bytes;
        } else {
            out += escape(code_point);
        }
        text.remove_prefix(decoded.length);
    }
    return out + '"';
}

std::string string_literal(std::string_view text) {
    return quoted_literal(text, [](std::uint32_t code_point) {
        return code_point < 0x80      ? fmt::format("\\x{:02x}", code_point)
               : code_point < 0x10000 ? fmt::format("\\u{:04x}", code_point)
                                      : fmt::format("\\U{:08x}", code_point);
    });
}

std::string docstring(std::string_view text, int indent) {
    const std::string visible = escape_unprintable(trim(text, " \t\r\n\f\v"), true);
    std::string out;
    for (std::size_t i = 0; i < visible.size(); ++i) {
        const char c = visible[i];
        const bool at_edge = i == 0 || i + 1 == visible.size();
        if (c == '\\') {
            out += "\\\\";
        } else if (c == '"' && (at_edge || visible[i - 1] == '"')) {
            out += "\\\"";
        } else {
            out += c;
        }
        if (c == '\n' && visible[i + 1] != '\n') {
            out.append(static_cast<std::size_t>(indent), ' ');
        }
    }
    return out;
}

std::string identifier(std::string_view name, std::string_view prefix) {
    std::string out;
    for (const char c : name) {
        if (begins_character(c)) { // one _ for each
            out += is_word(c) ? c : '_';
        }
    }
    const std::size_t start = std::min(out.find_first_not_of('_'), out.size());
    if (start > 0 || out.empty() || is_digit(out.front())) {
        const std::string rest = out.substr(start);
        out = prefix;
        if (!rest.empty()) {
            out += '_' + rest;
        }
    }
    if (std::find(keywords.begin(), keywords.end(), out) != keywords.end()) {
        out += '_';
    }
    return out;
}

std::string class_identifier(std::string_view name) {
    std::string out;
    bool upper = true;
    for (const char c : name) {
        if (!is_letter(c) && !is_digit(c)) {
            upper = true;
        } else {
            out += upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
            upper = false;
        }
    }
    if (out.empty() || is_digit(out.front())) {
        out.insert(0, "Object");
    }
    return out;
}

std::set<std::string> identifiers_in(std::string_view code) {
    std::set<std::string> found;
    for (std::size_t i = 0; i < code.size();) {
        if (code.substr(i, 3) == "\"\"\"") {
            for (i += 3; code.substr(i, 3) != "\"\"\""; ++i) {
                i += code[i] == '\\' ? 1 : 0;
            }
            i += 3;
        } else if (code[i] == '"') {
            for (++i; code[i] != '"'; ++i) {
                i += code[i] == '\\' ? 1 : 0;
            }
            ++i;
        } else if (is_word(code[i])) {
            const std::size_t start = i;
            while (i < code.size() && is_word(code[i])) {
                ++i;
            }
            found.emplace(code.substr(start, i - start));
        } else {
            ++i;
        }
    }
    return found;
}

std::string NameScope::claim(const std::string& wanted) {
    std::string name = wanted;
    if (!taken_.insert(name).second) {
        int& number = last_number_.try_emplace(wanted, 1).first->second;
        do {
            name = fmt::format("{}{}{}", wanted, wanted.back() == '_' ? "" : "_", ++number);
        } while (!taken_.insert(name).second);
    }
    return name;
}

std::vector<std::string> identifiers_for(const std::vector<std::string>& names, std::string_view prefix,
                                         const std::set<std::string>& reserved) {
    std::vector<std::string> wanted;
    for (const std::string& name : names) {
        const std::string near = identifier(name, prefix);
        wanted.push_back(reserved.contains(near) ? near + '_' : near);
    }
    NameScope scope(reserved);
    std::vector<std::string> claimed(names.size());
    for (const bool exact : {true, false}) {
        for (std::size_t i = 0; i < names.size(); ++i) {
            if ((names[i] == wanted[i]) == exact) {
                claimed[i] = scope.claim(wanted[i]);
            }
        }
    }
    return claimed;
}

} // namespace cellgate::wrappers
