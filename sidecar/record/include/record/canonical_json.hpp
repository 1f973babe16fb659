#pragma once
// `canonical_json` is the one spelling of a JSON value (RFC 8785): members sorted by the UTF-16 code units of their
// names, numbers as ECMAScript writes the double that they name, as few escapes as possible, no white space. A number
// that a double does not hold exactly is rounded.

#include <string>
#include <string_view>

namespace cellgate::record {

// Throws Error{invalid_params} for what is no I-JSON (RFC 7493): lone surrogates, a name twice in one object, bytes
// that are not UTF-8, numbers beyond the doubles.
std::string canonical_json(std::string_view text);

} // namespace cellgate::record
