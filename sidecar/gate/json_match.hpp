#pragma once
// Looking into arguments without losing anything: JSON pointers, and equality that knows every digit of a number.

#include <optional>
#include <string_view>

namespace cellgate::gate {

// Whether a condition holds. `unclear`: two readers of the value might disagree. An allow rule needs `yes`; for a deny
// or an ask rule `unclear` is enough.
enum class Match { no, unclear, yes };

bool is_pointer(std::string_view pointer);

// The value at an RFC 6901 pointer; both arguments are valid.
std::optional<std::string_view> find_pointer(std::string_view json, std::string_view pointer);

// Equal as JSON values: members in any order, numbers by value (1, 1.0 and 10e-1 are one). `unclear` where numbers
// differ, but not once they are rounded to doubles.
Match same_value(std::string_view a, std::string_view b);

// False when a number in it has an exponent beyond what same_value() compares.
bool is_comparable(std::string_view json);

} // namespace cellgate::gate
