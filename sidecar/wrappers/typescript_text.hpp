#pragma once
// `typescript_text` turns text from outside into parts of TypeScript source: literals, comments and names that any text
// cannot escape from.

#include <string>
#include <string_view>

namespace cellgate::wrappers {

// A string literal with exactly this value; invisible and reordering characters are escaped.
std::string typescript_literal(std::string_view text);

// A /** comment */ in lines of its own, indented; "" for a text without content. Invisible characters are escaped.
std::string doc_comment(std::string_view text, int indent);

// The name of a property: itself where it is an identifier, else a literal.
std::string property_name(std::string_view wire);

} // namespace cellgate::wrappers
