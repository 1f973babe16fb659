#include "typescript_text.hpp"

#include "base/escape_unprintable.hpp"
#include "base/text.hpp"
#include "python_text.hpp"
#include "wrappers/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>

namespace cellgate::wrappers {

namespace {

// Of modules, which are strict, and those that types or globals would be mistaken for.
constexpr std::array<std::string_view, 54> reserved_words{
    "arguments", "await",  "break",    "case",    "catch",      "class",     "const",  "continue",   "debugger",
    "default",   "delete", "do",       "else",    "enum",       "eval",      "export", "extends",    "false",
    "finally",   "for",    "function", "if",      "implements", "import",    "in",     "instanceof", "interface",
    "let",       "new",    "null",     "package", "private",    "protected", "public", "return",     "static",
    "super",     "switch", "this",     "throw",   "true",       "try",       "typeof", "undefined",  "var",
    "void",      "while",  "with",     "yield",   "async",      "of",        "as",     "any",        "unknown"};

} // namespace

std::string typescript_literal(std::string_view text) {
    return quoted_literal(text, [](std::uint32_t code_point) {
        return code_point < 0x10000 ? fmt::format("\\u{:04x}", code_point) : fmt::format("\\u{{{:x}}}", code_point);
    });
}

std::string doc_comment(std::string_view text, int indent) {
    const std::string visible = escape_unprintable(text, true);
    const std::string_view words = trim(visible, " \n");
    if (words.empty()) {
        return "";
    }
    std::string safe;
    for (const char c : words) {
        safe += c == '/' && safe.ends_with('*') ? "\\/" : std::string(1, c);
    }
    const std::string margin(static_cast<std::size_t>(indent), ' ');
    if (safe.find('\n') == std::string::npos) {
        return fmt::format("{}/** {} */\n", margin, safe);
    }
    std::string out = margin + "/**\n" + margin + " * ";
    for (std::size_t at = 0; at < safe.size(); ++at) {
        const bool is_empty = safe[at] == '\n' && safe[at + 1] == '\n';
        out += safe[at] != '\n' ? std::string(1, safe[at]) : "\n" + margin + (is_empty ? " *" : " * ");
    }
    return out + "\n" + margin + " */\n";
}

std::string property_name(std::string_view wire) {
    const auto is_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    const bool plain = !wire.empty() && std::isdigit(static_cast<unsigned char>(wire.front())) == 0 &&
                       std::all_of(wire.begin(), wire.end(), is_word);
    return plain ? std::string(wire) : typescript_literal(wire);
}

std::string typescript_function(const std::string& tool) {
    std::string made = class_identifier(tool);
    made.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(made.front())));
    if (std::find(reserved_words.begin(), reserved_words.end(), made) != reserved_words.end()) {
        made += '_';
    }
    return made;
}

} // namespace cellgate::wrappers
