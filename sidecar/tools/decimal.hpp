#pragma once
// A JSON number as it was written, to be compared exactly, whatever its size.

#include <cstdint>
#include <string>
#include <string_view>

namespace cellgate::tools {

class Decimal {
  public:
    // `text` is a valid JSON number.
    explicit Decimal(std::string_view text);

    // Negative, 0 or positive, as this is less than, equal to or greater than `other`.
    int compare(const Decimal& other) const;
    bool is_integer() const { return digits_.empty() || exponent_ >= 0; }

  private:
    // ±0.D1D2D3… × 10^point, where D1 and the last digit are not 0; no digits: zero.
    bool negative_ = false;
    std::string digits_;
    std::int64_t exponent_ = 0; // of the last digit
    std::int64_t point_ = 0;
};

} // namespace cellgate::tools
