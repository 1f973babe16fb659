#include "base/raw_json.hpp"

#include <fmt/format.h>

namespace cellgate {

const std::string& RawJson::null_text() {
    static const std::string text = "null";
    return text;
}

RawJson RawJson::parse(std::string_view text, const JsonLimits& limits) {
    if (const std::optional<JsonProblem> problem = check_json(text, limits)) {
        throw Error(ErrorCode::parse_error,
                    fmt::format("expected one JSON value, found {} at byte {}", problem->what, problem->offset));
    }
    return checked(std::string(text));
}

RawJson RawJson::checked(std::string text) {
    if (const std::string_view trimmed = trim_json(text); trimmed.size() < text.size()) {
        text = std::string(trimmed);
    }
    // Valid strings hold no raw line breaks, so each line break is between tokens. Every byte is stored, changed or
    // not, so that the loop vectorizes.
    for (char& c : text) {
        c = c == '\n' || c == '\r' ? ' ' : c;
    }
    RawJson raw;
    raw.text_ = std::make_shared<const std::string>(std::move(text));
    return raw;
}

RawJson RawJson::of(const Json& value) {
    return checked(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

} // namespace cellgate
