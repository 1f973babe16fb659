#include "session/failures.hpp"

#include "base/json_scan.hpp"

namespace cellgate::session {

void LastPrinted::add(const RawJson& body) {
    constexpr std::size_t most = 8;
    constexpr std::size_t largest = std::size_t{4} << 10;
    if (body.text().size() <= largest) {
        bodies_.push_back(body);
    }
    if (bodies_.size() > most) {
        bodies_.pop_front();
    }
}

std::string LastPrinted::text() const {
    std::string text;
    for (const RawJson& body : bodies_) {
        text += json_member_text(body.text(), "text").value_or("");
    }
    return text;
}

} // namespace cellgate::session
