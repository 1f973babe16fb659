#include "json_with_comments.hpp"

#include <algorithm>

namespace cellgate::tools {

namespace {

std::size_t end_of_string(std::string_view text, std::size_t start) {
    for (std::size_t at = start + 1; at < text.size(); ++at) {
        if (text[at] == '\\') {
            ++at;
        } else if (text[at] == '"') {
            return at + 1;
        }
    }
    return text.size();
}

void blank(std::string& text, std::size_t from, std::size_t to) {
    for (std::size_t at = from; at < std::min(to, text.size()); ++at) {
        if (text[at] != '\n') {
            text[at] = ' ';
        }
    }
}

} // namespace

std::string strip_comments(std::string_view source) {
    std::string text(source);
    if (text.starts_with("\xEF\xBB\xBF")) {
        blank(text, 0, 3);
    }
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] == '"') {
            at = end_of_string(text, at);
        } else if (text.compare(at, 2, "//") == 0) {
            const std::size_t end = std::min(text.find('\n', at), text.size());
            blank(text, at, end);
            at = end;
        } else if (text.compare(at, 2, "/*") == 0) {
            const std::size_t end = text.find("*/", at + 2);
            if (end == std::string::npos) {
                return text;
            }
            blank(text, at, end + 2);
            at = end + 2;
        } else {
            ++at;
        }
    }
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] == '"') {
            at = end_of_string(text, at);
            continue;
        }
        const std::size_t next = text[at] == ',' ? text.find_first_not_of(" \t\r\n", at + 1) : std::string::npos;
        if (next != std::string::npos && (text[next] == '}' || text[next] == ']')) {
            text[at] = ' ';
        }
        ++at;
    }
    return text;
}

} // namespace cellgate::tools
