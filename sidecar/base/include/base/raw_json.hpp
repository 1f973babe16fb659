#pragma once
// RawJson: the text of one JSON value that passed check_json(). It keeps the bytes that arrived, so that what is
// hashed, matched, shown and sent is the same; only line breaks between tokens become spaces, so that it fits in a
// protocol that frames by lines. Values inside it may be splices of a message; they may be spliced into one unseen.
// Copies share the text, which never changes.

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/json_scan.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace cellgate {

class RawJson {
  public:
    // null, as is what was moved from.
    RawJson() = default;
    // Throws Error{parse_error} that names what is wrong and at which byte.
    static RawJson parse(std::string_view text, const JsonLimits& limits = {});
    // For text that is part of something that was checked, or that our own writer made.
    static RawJson checked(std::string text);
    static RawJson of(const Json& value);

    const std::string& text() const { return text_ ? *text_ : null_text(); }
    std::string_view type() const { return json_type(text()); }
    bool is_object() const { return text().front() == '{'; }
    bool is_null() const { return text() == "null"; }
    // For looking inside. Numbers beyond 64 bits come out as doubles: never decide on those, see text().
    Json value() const { return Json::parse(text()); }

    friend bool operator==(const RawJson& a, const RawJson& b) { return a.text() == b.text(); }

  private:
    static const std::string& null_text();

    std::shared_ptr<const std::string> text_;
};

} // namespace cellgate
