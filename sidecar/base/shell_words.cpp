#include "base/shell_words.hpp"

#include <algorithm>

namespace cellgate {

namespace {

// Reads a line of a shell from its front.
class CommandReader {
  public:
    explicit CommandReader(std::string_view line) : rest_(line) {}

    std::optional<std::vector<std::string>> read() {
        std::vector<std::string> words;
        while (skip_blanks() && !at_end_of_command()) {
            if (at_redirection()) {
                if (!skip_redirection()) {
                    return std::nullopt;
                }
            } else if (std::optional<std::string> word = read_word()) {
                words.push_back(std::move(*word));
            } else {
                return std::nullopt;
            }
        }
        return words;
    }

  private:
    static constexpr std::string_view ends_of_words = " \t\n;&|()<>";

    bool skip_blanks() {
        rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size()));
        return !rest_.empty();
    }
    // Where a word could begin.
    bool at_end_of_command() const {
        constexpr std::string_view ends = "#;|()\n";
        return ends.find(rest_.front()) != std::string_view::npos || (rest_.front() == '&' && !rest_.starts_with("&>"));
    }
    // `>FILE`, `2>FILE`, `&>FILE`.
    bool at_redirection() const {
        const std::size_t mark = rest_.find_first_not_of("0123456789");
        return rest_.starts_with("&>") ||
               (mark != std::string_view::npos && (rest_[mark] == '<' || rest_[mark] == '>'));
    }
    bool skip_redirection() {
        const std::size_t size = std::min(rest_.find_first_not_of("0123456789&<>"), rest_.size());
        const char last = rest_[size - 1];
        rest_.remove_prefix(size);
        if (last >= '0' && last <= '9') { // 2>&1
            return true;
        }
        skip_blanks();
        return at_word_end() || read_word();
    }
    bool at_word_end() const { return rest_.empty() || ends_of_words.find(rest_.front()) != std::string_view::npos; }

    std::optional<std::string> read_word() {
        std::string word;
        while (!at_word_end()) {
            const char c = rest_.front();
            if (c == '\'' || c == '"') {
                const std::size_t end = rest_.find(c, 1);
                const std::string_view inside = rest_.substr(1, end == std::string_view::npos ? end : end - 1);
                // IPython fills in variables and braces within quotes, too.
                if (end == std::string_view::npos || inside.find_first_of("$`\\{") != std::string_view::npos) {
                    return std::nullopt;
                }
                word += inside;
                rest_.remove_prefix(end + 1);
            } else if (std::string_view("$`\\*?{}").find(c) != std::string_view::npos ||
                       (word.empty() && (c == '~' || c == '!'))) {
                return std::nullopt;
            } else {
                word += c;
                rest_.remove_prefix(1);
            }
        }
        const bool touches = !rest_.empty() && (rest_.front() == '<' || rest_.front() == '>');
        return touches ? std::nullopt : std::optional(std::move(word));
    }

    std::string_view rest_;
};

class PlainReader {
  public:
    explicit PlainReader(std::string_view line) : rest_(line) {}

    std::optional<std::vector<std::string>> read() {
        std::vector<std::string> words;
        while (true) {
            rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size()));
            if (rest_.empty()) {
                return words;
            }
            std::string word;
            const bool starts_a_word = rest_.front() != '~' && rest_.front() != '#';
            if (!starts_a_word || !read_word(word)) {
                return std::nullopt;
            }
            words.push_back(std::move(word));
        }
    }

  private:
    char take() {
        const char c = rest_.front();
        rest_.remove_prefix(1);
        return c;
    }
    bool read_word(std::string& word) {
        while (!rest_.empty() && rest_.front() != ' ' && rest_.front() != '\t') {
            const char c = take();
            if (c == '\'' || c == '"') {
                if (!read_quoted(c, word)) {
                    return false;
                }
            } else if (c == '\\' && !rest_.empty() && rest_.front() != '\n') {
                word += take();
            } else if (std::string_view("\\$`|&;<>()*?[]{}!\n").find(c) != std::string_view::npos) {
                return false;
            } else {
                word += c;
            }
        }
        return true;
    }
    bool read_quoted(char quote, std::string& word) {
        while (!rest_.empty()) {
            char c = take();
            if (c == quote) {
                return true;
            }
            if (quote == '"' && (c == '$' || c == '`')) {
                return false;
            }
            if (quote == '"' && c == '\\' && !rest_.empty() &&
                std::string_view("$`\"\\").find(rest_.front()) != std::string_view::npos) {
                c = take();
            }
            word += c;
        }
        return false;
    }

    std::string_view rest_;
};

} // namespace

std::optional<std::vector<std::string>> plain_words(std::string_view line) {
    return PlainReader(line).read();
}

std::optional<std::vector<std::string>> first_command(std::string_view line) {
    return CommandReader(line).read();
}

std::string shell_word(std::string_view text) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+=,";
    if (!text.empty() && text.find_first_not_of(plain) == std::string_view::npos) {
        return std::string(text);
    }
    std::string word = "'";
    for (const char c : text) {
        word += c == '\'' ? "'\\''" : std::string(1, c);
    }
    return word + "'";
}

std::string shell_words(const std::vector<std::string>& words) {
    std::string line;
    for (const std::string& word : words) {
        line += (line.empty() ? "" : " ") + shell_word(word);
    }
    return line;
}

} // namespace cellgate
