#pragma once
// `is_identifier` says whether a name from outside may become part of a path, a module or an id; `random_id` makes one.

#include <string>
#include <string_view>

namespace cellgate {

// 1 to 64 of a-z A-Z 0-9 _ . -, of which the first is no dot or dash.
bool is_identifier(std::string_view name);
// Throws Error{invalid_params} unless it is one; `what` says in the message what kind of name it is ("session id").
void require_identifier(std::string_view name, std::string_view what);

// As variables of the environment are called: letters, digits and _, at most 128, of which the first is no digit.
bool is_variable_name(std::string_view name);

// As images of containers are called in podman: at most 255 of a-z A-Z 0-9 . _ - : / @, of which the first is a letter
// or a digit. It is no option then.
bool is_image_name(std::string_view name);

// Random bytes from the system, at most 256.
std::string random_bytes(std::size_t count);
// 128 random bits from the system, as 32 hexadecimal digits.
std::string random_id();

} // namespace cellgate
