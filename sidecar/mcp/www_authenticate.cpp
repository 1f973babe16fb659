#include "www_authenticate.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace cellgate::mcp {

namespace {

constexpr std::size_t max_value_bytes = 4096;

// One value of WWW-Authenticate, read from its beginning: challenges with commas between, whose parameters have commas
// between, too. A word with "=" behind it is a parameter, another one begins a challenge.
class ChallengeReader {
  public:
    explicit ChallengeReader(std::string_view text) : rest_(text) {}

    // Whether a challenge "Bearer" was found; its parameters are in `found`.
    bool read(BearerChallenge& found) {
        bool in_bearer = false;
        while (!rest_.empty()) {
            skip(" \t,");
            const std::string word = lower(take_until(" \t,=\""));
            if (word.empty()) {
                rest_.remove_prefix(std::min<std::size_t>(1, rest_.size())); // of another scheme's token
                continue;
            }
            skip(" \t");
            if (!rest_.starts_with('=') || rest_.starts_with("==")) {
                if (in_bearer) {
                    return true; // the next challenge
                }
                in_bearer = word == "bearer";
                continue;
            }
            rest_.remove_prefix(1);
            skip(" \t");
            const std::string value = take_value();
            if (in_bearer) {
                keep(found, word, value);
            }
        }
        return in_bearer;
    }

  private:
    static void keep(BearerChallenge& found, const std::string& name, const std::string& value) {
        std::string* field = name == "resource_metadata" ? &found.resource_metadata
                             : name == "scope"           ? &found.scope
                             : name == "error"           ? &found.error
                                                         : nullptr;
        if (field != nullptr && field->empty() && value.size() <= max_value_bytes) {
            *field = value;
        }
    }
    void skip(std::string_view chars) { rest_.remove_prefix(std::min(rest_.find_first_not_of(chars), rest_.size())); }
    std::string take_until(std::string_view chars) {
        const std::string_view token = rest_.substr(0, rest_.find_first_of(chars));
        rest_.remove_prefix(token.size());
        return std::string(token);
    }
    std::string take_value() {
        if (!rest_.starts_with('"')) {
            return take_until(" \t,");
        }
        std::string value;
        std::size_t at = 1;
        for (; at < rest_.size() && rest_[at] != '"'; ++at) {
            at += rest_[at] == '\\' && at + 1 < rest_.size() ? 1 : 0;
            value += rest_[at];
        }
        rest_.remove_prefix(std::min(at + 1, rest_.size()));
        return value;
    }

    std::string_view rest_;
};

} // namespace

std::optional<BearerChallenge> bearer_challenge(const async::HttpHead& head) {
    for (const auto& [name, value] : head.fields) {
        BearerChallenge found;
        if (name == "www-authenticate" && ChallengeReader(value).read(found)) {
            return found;
        }
    }
    return std::nullopt;
}

} // namespace cellgate::mcp
