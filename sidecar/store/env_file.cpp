#include "store/env_file.hpp"

#include <algorithm>

namespace cellgate::store {

namespace {

constexpr std::string_view blanks = " \t\r";

class EnvFileReader {
  public:
    explicit EnvFileReader(std::string_view text) : rest_(text) {}

    std::optional<std::string> last_of(std::string_view name) {
        std::optional<std::string> found;
        while (!rest_.empty()) {
            skip(blanks);
            if (const std::string_view here = read_name(); here.empty()) {
                skip_line();
            } else if (std::string value = read_value(); here == name) {
                found = std::move(value);
            }
        }
        return found;
    }

  private:
    void skip(std::string_view which) { rest_.remove_prefix(std::min(rest_.find_first_not_of(which), rest_.size())); }
    std::string_view take(std::size_t size) {
        const std::string_view taken = rest_.substr(0, size);
        rest_.remove_prefix(taken.size());
        return taken;
    }
    void skip_line() {
        take(rest_.find('\n'));
        take(1);
    }
    // Up to and with the `=`; empty for a line that sets nothing.
    std::string_view read_name() {
        constexpr std::string_view before = "export ";
        if (rest_.starts_with(before)) {
            take(before.size());
            skip(blanks);
        }
        const std::size_t equals = rest_.substr(0, rest_.find('\n')).find('=');
        if (equals == std::string_view::npos || rest_.front() == '#') {
            return {};
        }
        std::string_view name = take(equals);
        take(1);
        return name.substr(0, name.find_last_not_of(blanks) + 1);
    }
    std::string read_value() {
        skip(blanks);
        std::string value;
        if (rest_.starts_with('\'') || rest_.starts_with('"')) {
            value = read_quoted(take(1).front());
        } else {
            value = read_plain();
        }
        skip_line();
        return value;
    }
    std::string read_plain() {
        std::string_view line = take(rest_.find('\n'));
        for (std::size_t at = 0; at < line.size(); ++at) {
            if (line[at] == '#' && (at == 0 || blanks.find(line[at - 1]) != std::string_view::npos)) {
                line = line.substr(0, at);
            }
        }
        return std::string(line.substr(0, line.find_last_not_of(blanks) + 1));
    }
    std::string read_quoted(char quote) {
        std::string value;
        while (!rest_.empty() && rest_.front() != quote) {
            const char c = take(1).front();
            value += quote == '"' && c == '\\' && !rest_.empty() ? unescaped(take(1).front()) : std::string(1, c);
        }
        return value;
    }
    static std::string unescaped(char c) {
        switch (c) {
        case 'n':
            return "\n";
        case 'r':
            return "\r";
        case 't':
            return "\t";
        case '"':
        case '\\':
            return std::string(1, c);
        default:
            return std::string("\\") + c;
        }
    }

    std::string_view rest_;
};

} // namespace

std::optional<std::string> env_file_value(std::string_view text, std::string_view name) {
    return EnvFileReader(text).last_of(name);
}

} // namespace cellgate::store
