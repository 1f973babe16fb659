#pragma once
// `require_identifier` checks a name from outside before it becomes part of a path, a module or an id; `random_id`
// makes one.

#include <string>
#include <string_view>

namespace cellgate {

// Throws Error{invalid_params} unless `name` is 1 to 64 of a-z A-Z 0-9 _ . - and does not start with a dot or a dash;
// `what` says in the message what kind of name it is ("session id").
void require_identifier(std::string_view name, std::string_view what);

// 128 random bits from the system, as 32 hexadecimal digits.
std::string random_id();

} // namespace cellgate
