#pragma once
// `RawJson` is the text of one JSON value that passed check_json(). It keeps the original bytes, so the hashed,
// matched, shown and sent text is the same; only line breaks between tokens become spaces, so that it fits into a
// line-framed protocol. A value inside it may be a slice of a message, and may be spliced into another without a check.
// Copies share the text, which is immutable.

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/json_scan.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace cellgate {

class RawJson {
  public:
    // null, as is a moved-from value.
    RawJson() = default;
    // Throws Error{parse_error} that names the problem and its byte offset.
    static RawJson parse(std::string_view text, const JsonLimits& limits = {});
    // For text that is part of checked text, or that our own writer made.
    static RawJson checked(std::string text);
    static RawJson of(const Json& value);

    const std::string& text() const { return text_ ? *text_ : null_text(); }
    std::string_view type() const { return json_type(text()); }
    bool is_object() const { return text().front() == '{'; }
    bool is_null() const { return text() == "null"; }
    // For inspection. Numbers beyond 64 bits become doubles: never decide on those, see text().
    Json value() const { return Json::parse(text()); }

    friend bool operator==(const RawJson& a, const RawJson& b) { return a.text() == b.text(); }

  private:
    static const std::string& null_text();

    std::shared_ptr<const std::string> text_;
};

// `JsonText` is a RawJson that messages carry as a string of its text: a client keeps its bytes without a JSON reader
// of its own that knows exact numbers, orders and duplicates.
class JsonText : public RawJson {
  public:
    JsonText() = default;
    JsonText(RawJson json) : RawJson(std::move(json)) {}
};

} // namespace cellgate
