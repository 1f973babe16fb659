#include "base/raw_json.hpp"

#include <fmt/format.h>

namespace cellgate {

RawJson RawJson::parse(std::string_view text, const JsonLimits& limits) {
    if (const std::optional<JsonProblem> problem = check_json(text, limits)) {
        throw Error(ErrorCode::parse_error,
                    fmt::format("expected one JSON value, found {} at byte {}", problem->what, problem->offset));
    }
    return checked(text);
}

RawJson RawJson::checked(std::string_view text) {
    RawJson raw;
    raw.text_ = trim_json(text);
    // Valid strings hold no raw line breaks, so each of these stands between tokens. Every byte is stored, changed or
    // not: that is a loop over whole vectors.
    for (char& c : raw.text_) {
        c = c == '\n' || c == '\r' ? ' ' : c;
    }
    return raw;
}

RawJson RawJson::of(const Json& value) {
    return checked(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

} // namespace cellgate
