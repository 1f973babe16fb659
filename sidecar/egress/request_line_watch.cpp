#include "request_line_watch.hpp"

#include "protocol_sniffer.hpp"

namespace cellgate::egress {

bool RequestLineWatch::finds(std::string_view bytes) {
    for (const char c : bytes) {
        const bool whole = state_ == State::minor || state_ == State::behind;
        if (whole && (c == '\n' || c == '\r')) {
            return true;
        }
        state_ = next(c);
    }
    return false;
}

RequestLineWatch::State RequestLineWatch::next(char c) const {
    const State fresh = is_blank(c) ? State::blank : State::anywhere;
    const bool digit = c >= '0' && c <= '9';
    const char capital = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    switch (state_) {
    case State::anywhere:
        return fresh;
    case State::blank:
        return capital == 'H' ? State::h : fresh;
    case State::h:
        return capital == 'T' ? State::t : fresh;
    case State::t:
        return capital == 'T' ? State::second_t : fresh;
    case State::second_t:
        return capital == 'P' ? State::p : fresh;
    case State::p:
        return c == '/' ? State::slash : fresh;
    case State::slash:
        return digit ? State::major : fresh;
    case State::major:
        return digit ? State::major : c == '.' ? State::dot : fresh;
    case State::dot:
        return digit ? State::minor : fresh;
    case State::minor:
        return digit ? State::minor : fresh == State::blank ? State::behind : fresh;
    case State::behind:
        return capital == 'H' ? State::h : fresh == State::blank ? State::behind : fresh;
    }
    return fresh;
}

} // namespace cellgate::egress
