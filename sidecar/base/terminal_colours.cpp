#include "base/terminal_colours.hpp"

namespace cellgate {

std::string without_colours(std::string_view text) {
    std::string plain;
    while (true) {
        const std::size_t escape = text.find("\x1b[");
        plain += text.substr(0, escape);
        if (escape == std::string_view::npos) {
            return plain;
        }
        text.remove_prefix(escape + 2);
        const std::size_t end = text.find_first_not_of("0123456789;");
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
}

} // namespace cellgate
