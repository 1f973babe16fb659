#include "base/http_token.hpp"

#include <algorithm>

namespace cellgate {

bool is_http_token(std::string_view text) {
    static constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
    const auto fits = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               marks.find(c) != std::string_view::npos;
    };
    return !text.empty() && std::all_of(text.begin(), text.end(), fits);
}

} // namespace cellgate
