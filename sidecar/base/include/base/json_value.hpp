#pragma once
// `JsonValue` is a JSON text taken apart, with its numbers still as they were written; the parts point into the text,
// which is valid JSON (check_json) and outlives them. `Decimal` is a number compared exactly. `compare()` is the one
// equality of JSON values by which rules and schemas decide.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate {

// A JSON number: ±digits × 10^exponent, whatever its size. `text` is a valid JSON number.
class Decimal {
  public:
    Decimal() = default; // zero
    explicit Decimal(std::string_view text);

    // Negative, 0 or positive, as this is less than, equal to or greater than `other`.
    int compare(const Decimal& other) const;
    bool is_integer() const { return digits_.empty() || exponent_ >= 0; }
    // False when the exponent is so large that it was clamped; compare() may be wrong then.
    bool is_exact() const { return exact_; }

  private:
    bool negative_ = false;
    std::string digits_;         // neither begins nor ends with 0; empty: zero
    std::int64_t exponent_ = 0;  // of the last digit
    std::int64_t magnitude_ = 0; // exponent of the digit before the first
    bool exact_ = true;
};

struct JsonValue {
    enum class Type { null, boolean, number, string, array, object };

    Type type = Type::null;
    std::string_view text;
    std::string string; // of a string: with its escapes resolved
    std::vector<JsonValue> elements;
    struct Member;
    std::vector<Member> members;

    // nullptr when there is none.
    const JsonValue* find(std::string_view name) const;
};

struct JsonValue::Member {
    std::string name;
    JsonValue value;
};

JsonValue parse_json_value(std::string_view text);

// Whether it is an RFC 6901 JSON pointer.
bool is_pointer(std::string_view pointer);

// The value at a pointer, found in the text without taking all of it apart. Both arguments are valid.
std::optional<std::string_view> find_pointer(std::string_view json, std::string_view pointer);

// `unclear`: two readers might disagree, because the numbers differ and are the same once rounded to doubles, or have
// exponents too large to be compared.
enum class Equality { different, unclear, equal };

// Numbers by value (1, 1.0 and 10e-1 are one), strings without their escapes, members in any order.
Equality compare(const JsonValue& a, const JsonValue& b);

// False when a number in it has an exponent that no reader keeps: such a value is equal to nothing.
bool is_comparable(const JsonValue& value);

} // namespace cellgate
