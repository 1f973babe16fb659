#include "decimal.hpp"

#include <algorithm>
#include <charconv>

namespace cellgate::tools {

Decimal::Decimal(std::string_view text) {
    negative_ = text.front() == '-';
    const std::size_t e = std::min(text.find_first_of("eE"), text.size());
    std::string_view mantissa = text.substr(negative_ ? 1 : 0, e - (negative_ ? 1 : 0));
    if (e < text.size()) {
        std::string_view written = text.substr(e + 1);
        if (written.starts_with('+')) {
            written.remove_prefix(1);
        }
        // What 64 bits do not hold is larger than the digits of any text that fits in memory.
        constexpr std::int64_t huge = std::int64_t{1} << 60;
        const auto [end, status] = std::from_chars(written.data(), written.data() + written.size(), exponent_);
        if (status == std::errc::result_out_of_range || exponent_ > huge || exponent_ < -huge) {
            exponent_ = written.front() == '-' ? -huge : huge;
        }
    }
    const std::size_t dot = mantissa.find('.');
    digits_ = mantissa.substr(0, dot);
    if (dot != std::string_view::npos) {
        digits_ += mantissa.substr(dot + 1);
        exponent_ -= static_cast<std::int64_t>(mantissa.size() - dot - 1);
    }
    digits_.erase(0, std::min(digits_.find_first_not_of('0'), digits_.size()));
    while (!digits_.empty() && digits_.back() == '0') {
        digits_.pop_back();
        ++exponent_;
    }
    point_ = exponent_ + static_cast<std::int64_t>(digits_.size());
    negative_ = negative_ && !digits_.empty();
}

int Decimal::compare(const Decimal& other) const {
    if (negative_ != other.negative_) {
        return negative_ ? -1 : 1;
    }
    const int sign = negative_ ? -1 : 1;
    if (digits_.empty() || other.digits_.empty()) {
        return sign * (static_cast<int>(other.digits_.empty()) - static_cast<int>(digits_.empty()));
    }
    if (point_ != other.point_) {
        return point_ < other.point_ ? -sign : sign;
    }
    const int order = digits_.compare(other.digits_);
    return sign * (order < 0 ? -1 : order > 0 ? 1 : 0);
}

} // namespace cellgate::tools
