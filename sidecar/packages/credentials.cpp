#include "packages/credentials.hpp"

namespace cellgate::packages {

std::string without_credentials(std::string_view text) {
    constexpr std::string_view before = "://";
    constexpr std::string_view behind = "/?#\\\"'<> \t\r\n"; // an authority
    std::string safe;
    while (true) {
        const std::size_t found = text.find(before);
        if (found == std::string_view::npos) {
            return safe.append(text);
        }
        safe.append(text.substr(0, found + before.size()));
        text.remove_prefix(found + before.size());
        const std::size_t at = text.substr(0, text.find_first_of(behind)).rfind('@');
        if (at != std::string_view::npos) {
            safe.append("****");
            text.remove_prefix(at);
        }
    }
}

} // namespace cellgate::packages
