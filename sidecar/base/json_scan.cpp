#include "base/json_scan.hpp"

#include "base/encoding.hpp"
#include "base/escape_unprintable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdint>
#include <cstring>

namespace cellgate {

namespace {

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// -1 when `digits` does not begin with four hexadecimal digits.
int hex4(std::string_view digits) {
    if (digits.size() < 4) {
        return -1;
    }
    int value = 0;
    for (const char c : digits.substr(0, 4)) {
        const int digit = is_digit(c)            ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0) {
            return -1;
        }
        value = value * 16 + digit;
    }
    return value;
}

bool is_high_surrogate(int unit) {
    return unit >= 0xd800 && unit <= 0xdbff;
}
bool is_low_surrogate(int unit) {
    return unit >= 0xdc00 && unit <= 0xdfff;
}

class Checker {
  public:
    Checker(std::string_view text, std::size_t max_depth) : text_(text), max_depth_(max_depth) {}

    std::optional<JsonProblem> run() {
        skip_space();
        if (value(0)) {
            skip_space();
            if (at_ != text_.size()) {
                fail("something after the value");
            }
        }
        return std::move(problem_);
    }

  private:
    bool fail(std::string what) {
        if (!problem_) {
            problem_ = JsonProblem{std::move(what), at_};
        }
        return false;
    }
    bool done() const { return at_ >= text_.size(); }
    char peek() const { return done() ? '\0' : text_[at_]; }
    bool take(char c) {
        if (peek() != c || done()) {
            return false;
        }
        ++at_;
        return true;
    }
    void skip_space() {
        while (!done() && is_space(text_[at_])) {
            ++at_;
        }
    }

    bool value(std::size_t depth) {
        switch (peek()) {
        case '{':
            return depth < max_depth_ ? object(depth + 1) : fail("nesting that is too deep");
        case '[':
            return depth < max_depth_ ? array(depth + 1) : fail("nesting that is too deep");
        case '"':
            return string();
        case 't':
            return word("true");
        case 'f':
            return word("false");
        case 'n':
            return word("null");
        default:
            return number();
        }
    }

    bool word(std::string_view expected) {
        if (text_.substr(at_, expected.size()) != expected) {
            return fail("no JSON value");
        }
        at_ += expected.size();
        return true;
    }

    bool digits() {
        const std::size_t start = at_;
        while (is_digit(peek())) {
            ++at_;
        }
        return at_ > start;
    }

    bool number() {
        take('-');
        if (!take('0') && !digits()) {
            return fail(done() ? "the end of the text" : "no JSON value");
        }
        if (take('.') && !digits()) {
            return fail("a number without digits after its point");
        }
        if (take('e') || take('E')) {
            if (!take('+')) {
                take('-');
            }
            if (!digits()) {
                return fail("a number without digits in its exponent");
            }
        }
        return true;
    }

    // Skips to the next special byte inside a string, eight bytes at a time: outputs are strings of megabytes. Stops
    // before the last bytes of the text.
    void skip_plain() {
        static_assert(std::endian::native == std::endian::little, "the first byte is the lowest");
        constexpr std::uint64_t ones = 0x0101010101010101;
        // Sets the high bit of the first byte below `limit`; of later ones, perhaps.
        const auto below = [](std::uint64_t bytes, std::uint64_t limit) {
            return (bytes - ones * limit) & ~bytes & (ones * 0x80);
        };
        while (text_.size() - at_ >= sizeof(std::uint64_t)) {
            std::uint64_t bytes = 0;
            std::memcpy(&bytes, text_.data() + at_, sizeof bytes);
            const std::uint64_t found =
                below(bytes, 0x20) | below(bytes ^ (ones * '"'), 1) | below(bytes ^ (ones * '\\'), 1);
            if (found != 0) {
                at_ += static_cast<std::size_t>(std::countr_zero(found)) / 8;
                return;
            }
            at_ += sizeof bytes;
        }
    }

    bool string() {
        ++at_;
        while (true) {
            skip_plain();
            if (done()) {
                return fail("a string without an end");
            }
            const char c = text_[at_];
            if (c == '"') {
                ++at_;
                return true;
            }
            if (static_cast<unsigned char>(c) < 0x20) {
                return fail("a control character inside a string");
            }
            ++at_;
            if (c == '\\' && !escape()) {
                return false;
            }
        }
    }

    bool escape() {
        const char c = peek();
        if (c == 'u') {
            const int unit = hex4(text_.substr(std::min(at_ + 1, text_.size())));
            if (unit < 0) {
                return fail("a \\u escape without four digits");
            }
            if (is_low_surrogate(unit)) {
                return fail("half of a surrogate pair");
            }
            at_ += 5;
            if (is_high_surrogate(unit)) {
                if (text_.substr(at_, 2) != "\\u" ||
                    !is_low_surrogate(hex4(text_.substr(std::min(at_ + 2, text_.size()))))) {
                    return fail("half of a surrogate pair");
                }
                at_ += 6;
            }
            return true;
        }
        if (std::string_view("\"\\/bfnrt").find(c) == std::string_view::npos || done()) {
            return fail("an unknown escape");
        }
        ++at_;
        return true;
    }

    bool array(std::size_t depth) {
        ++at_;
        skip_space();
        if (take(']')) {
            return true;
        }
        while (true) {
            skip_space();
            if (!value(depth)) {
                return false;
            }
            skip_space();
            if (take(']')) {
                return true;
            }
            if (!take(',')) {
                return fail(done() ? "an array without an end" : "no comma between two elements");
            }
        }
    }

    bool object(std::size_t depth) {
        ++at_;
        skip_space();
        if (take('}')) {
            return true;
        }
        std::vector<std::string> keys;
        while (true) {
            skip_space();
            if (peek() != '"') {
                return fail(done() ? "an object without an end" : "a key that is no string");
            }
            const std::size_t start = at_;
            if (!string()) {
                return false;
            }
            keys.push_back(decode_json_string(text_.substr(start, at_ - start)));
            skip_space();
            if (!take(':')) {
                return fail("no colon after a key");
            }
            skip_space();
            if (!value(depth)) {
                return false;
            }
            skip_space();
            if (take('}')) {
                return distinct(std::move(keys));
            }
            if (!take(',')) {
                return fail(done() ? "an object without an end" : "no comma between two members");
            }
        }
    }

    bool distinct(std::vector<std::string> keys) {
        std::sort(keys.begin(), keys.end());
        const auto twice = std::adjacent_find(keys.begin(), keys.end());
        return twice == keys.end() ||
               fail(fmt::format("the key \"{}\" twice in one object", escape_unprintable(*twice)));
    }

    std::string_view text_;
    std::size_t max_depth_;
    std::size_t at_ = 0;
    std::optional<JsonProblem> problem_;
};

// The end of the string that opens at `at`. Long strings are common (pictures, output), so it uses memchr.
std::size_t closing_quote(std::string_view text, std::size_t at) {
    while (true) {
        at = text.find('"', at + 1);
        const std::size_t escapes = at - 1 - text.find_last_not_of('\\', at - 1);
        if (escapes % 2 == 0) {
            return at;
        }
    }
}

// The end of the value that starts at `at` in valid JSON.
std::size_t value_end(std::string_view text, std::size_t at) {
    int depth = 0;
    while (at < text.size()) {
        const char c = text[at];
        if (c == '"') {
            at = closing_quote(text, at);
        } else if (c == '{' || c == '[') {
            ++depth;
        } else if (c == '}' || c == ']') {
            if (depth == 0) {
                return at;
            }
            --depth;
        } else if (depth == 0 && (c == ',' || c == ':' || is_space(c))) {
            return at;
        } else {
            ++at;
            continue;
        }
        ++at;
        if (depth == 0) {
            return at;
        }
    }
    return at;
}

std::size_t next_token(std::string_view text, std::size_t at) {
    while (is_space(text[at]) || text[at] == ',' || text[at] == ':') {
        ++at;
    }
    return at;
}

} // namespace

std::optional<JsonProblem> check_json(std::string_view text, const JsonLimits& limits) {
    if (text.size() > limits.max_bytes) {
        return JsonProblem{fmt::format("{} bytes, where at most {} are allowed", text.size(), limits.max_bytes), 0};
    }
    if (!is_utf8(text)) {
        return JsonProblem{"bytes that are not UTF-8", 0};
    }
    return Checker(text, limits.max_depth).run();
}

std::string_view trim_json(std::string_view text) {
    while (!text.empty() && is_space(text.front())) {
        text.remove_prefix(1);
    }
    while (!text.empty() && is_space(text.back())) {
        text.remove_suffix(1);
    }
    return text;
}

std::string decode_json_string(std::string_view text) {
    text = trim_json(text);
    text = text.substr(1, text.size() - 2);
    std::string out;
    out.reserve(text.size());
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t escape = std::min(text.find('\\', at), text.size());
        out += text.substr(at, escape - at);
        at = escape;
        if (at == text.size()) {
            break;
        }
        const char c = text[at + 1];
        at += 2;
        switch (c) {
        case 'b':
            out += '\b';
            break;
        case 'f':
            out += '\f';
            break;
        case 'n':
            out += '\n';
            break;
        case 'r':
            out += '\r';
            break;
        case 't':
            out += '\t';
            break;
        case 'u': {
            auto code_point = static_cast<char32_t>(hex4(text.substr(at)));
            at += 4;
            if (is_high_surrogate(static_cast<int>(code_point))) {
                const auto low = static_cast<char32_t>(hex4(text.substr(at + 2)));
                code_point = 0x10000 + ((code_point - 0xd800) << 10) + (low - 0xdc00);
                at += 6;
            }
            append_utf8(out, code_point);
            break;
        }
        default:
            out += c;
        }
    }
    return out;
}

std::vector<std::pair<std::string, std::string_view>> json_members(std::string_view object) {
    object = trim_json(object);
    std::vector<std::pair<std::string, std::string_view>> members;
    std::size_t at = next_token(object, 1);
    while (object[at] != '}') {
        const std::size_t key_end = value_end(object, at);
        std::string key = decode_json_string(object.substr(at, key_end - at));
        at = next_token(object, key_end);
        const std::size_t end = value_end(object, at);
        members.emplace_back(std::move(key), object.substr(at, end - at));
        at = next_token(object, end);
    }
    return members;
}

std::vector<std::string_view> json_elements(std::string_view array) {
    array = trim_json(array);
    std::vector<std::string_view> elements;
    std::size_t at = next_token(array, 1);
    while (array[at] != ']') {
        const std::size_t end = value_end(array, at);
        elements.push_back(array.substr(at, end - at));
        at = next_token(array, end);
    }
    return elements;
}

std::string_view json_member(std::string_view text, std::string_view name) {
    if (trim_json(text).starts_with('{')) {
        for (const auto& [key, value] : json_members(text)) {
            if (key == name) {
                return value;
            }
        }
    }
    return {};
}

std::optional<std::string> json_member_text(std::string_view text, std::string_view name) {
    const std::string_view value = json_member(text, name);
    return value.starts_with('"') ? std::optional(decode_json_string(value)) : std::nullopt;
}

std::string_view json_type(std::string_view text) {
    text = trim_json(text);
    switch (text.front()) {
    case '{':
        return "object";
    case '[':
        return "array";
    case '"':
        return "string";
    case 't':
    case 'f':
        return "boolean";
    case 'n':
        return "null";
    default:
        return "number";
    }
}

void append_json_string(std::string& out, std::string_view text) {
    const auto is_plain = [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; };
    out += '"';
    while (true) {
        const auto plain =
            static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_plain) - text.begin());
        out += text.substr(0, plain);
        text.remove_prefix(plain);
        if (text.empty()) {
            break;
        }
        const auto c = static_cast<unsigned char>(text.front());
        std::size_t length = 1;
        if (c == '"' || c == '\\') {
            out += '\\';
            out += text.front();
        } else if (c == '\n') {
            out += "\\n";
        } else if (c == '\t') {
            out += "\\t";
        } else if (c == '\r') {
            out += "\\r";
        } else if (c < 0x20) {
            out += fmt::format("\\u{:04x}", c);
        } else if (c < 0x80) {
            out += text.front();
        } else {
            const DecodedCodePoint decoded = decode_utf8(text);
            length = decoded.length;
            out += decoded.valid ? text.substr(0, length) : std::string_view("\xef\xbf\xbd");
        }
        text.remove_prefix(length);
    }
    out += '"';
}

} // namespace cellgate
