#include "edit_text.hpp"

#include "base/encoding.hpp"
#include "base/escape_unprintable.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cellgate::gate {

namespace {

constexpr std::size_t max_edit_bytes = std::size_t{8} << 20;
constexpr std::size_t max_edit_indent = 32; // deeper nesting shows by its brackets alone

// Walks valid JSON once, token by token.
class Layout {
  public:
    explicit Layout(std::string_view text) : text_(text) {}

    std::optional<std::string> run() {
        while (at_ < text_.size()) {
            take();
            if (out_.size() > max_edit_bytes) {
                return std::nullopt;
            }
        }
        return std::move(out_);
    }

  private:
    void take() {
        const char c = text_[at_];
        if (c == '"') {
            take_string();
            return;
        }
        ++at_;
        switch (c) {
        case ' ':
        case '\t':
            return;
        case '{':
        case '[':
            open(c);
            return;
        case '}':
        case ']':
            --depth_;
            break_line();
            out_ += c;
            return;
        case ',':
            out_ += c;
            break_line();
            return;
        case ':':
            out_ += ": ";
            return;
        default:
            out_ += c; // of a number or a word
        }
    }

    // An empty object or list stays on its line.
    void open(char c) {
        out_ += c;
        at_ = std::min(text_.find_first_not_of(" \t", at_), text_.size());
        if (const char next = text_[at_]; next == '}' || next == ']') {
            out_ += next;
            ++at_;
            return;
        }
        ++depth_;
        break_line();
    }

    void break_line() {
        out_ += '\n';
        out_.append(std::min(2 * depth_, max_edit_indent), ' ');
    }

    void take_string() {
        const std::size_t start = at_;
        for (++at_; text_[at_] != '"'; ++at_) {
            at_ += text_[at_] == '\\' ? 1 : 0;
        }
        ++at_;
        append_visible(text_.substr(start, at_ - start));
    }

    void append_visible(std::string_view string) {
        if (escape_unprintable(string) == string) {
            out_ += string;
            return;
        }
        while (!string.empty()) {
            const DecodedCodePoint decoded = decode_utf8(string);
            const std::string_view character = string.substr(0, decoded.length);
            if (escape_unprintable(character) == character) {
                out_ += character;
            } else {
                append_escape(decoded.code_point);
            }
            string.remove_prefix(decoded.length);
        }
    }

    // JSON escapes units of UTF-16.
    void append_escape(char32_t code_point) {
        constexpr char32_t first_of_two = 0x10000;
        if (code_point < first_of_two) {
            out_ += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(code_point));
            return;
        }
        const auto rest = static_cast<std::uint32_t>(code_point - first_of_two);
        out_ += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + rest / 0x400, 0xdc00 + rest % 0x400);
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t depth_ = 0;
    std::string out_;
};

} // namespace

std::optional<std::string> edit_text(std::string_view json) {
    return Layout(json).run();
}

} // namespace cellgate::gate
