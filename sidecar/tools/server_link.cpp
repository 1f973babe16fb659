#include "server_link.hpp"

namespace cellgate::tools {

namespace {

constexpr std::size_t max_logged = std::size_t{64} << 10;

} // namespace

std::string ServerLink::log() const {
    std::string text = output();
    if (!text.empty() && text.back() != '\n' && !logged_.empty()) {
        text += '\n';
    }
    return text + logged_;
}

void ServerLink::add_to_log(const std::string& text) {
    logged_ += text + "\n";
    if (logged_.size() > max_logged) {
        // Whole lines, so that no character is cut.
        const std::size_t line = logged_.find('\n', logged_.size() - max_logged);
        logged_.erase(0, line + 1);
    }
}

} // namespace cellgate::tools
