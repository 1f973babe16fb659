#include "base/json_value.hpp"

#include "base/json_scan.hpp"

#include <algorithm>
#include <charconv>

namespace cellgate {

namespace {

constexpr std::string_view space = " \t\r\n";
// An exponent beyond it is clamped.
constexpr std::int64_t max_exponent = 999'999;

// Over text that check_json() found valid, so nothing is checked again.
class Parser {
  public:
    explicit Parser(std::string_view text) : text_(text) {}

    JsonValue value() {
        skip_space();
        const std::size_t start = at_;
        JsonValue parsed;
        switch (text_[at_]) {
        case '{':
            parsed.type = JsonValue::Type::object;
            ++at_;
            while (next_is_not('}')) {
                std::string key = decode_json_string(string());
                skip_space();
                ++at_; // the colon
                parsed.members.push_back({std::move(key), value()});
            }
            break;
        case '[':
            parsed.type = JsonValue::Type::array;
            ++at_;
            while (next_is_not(']')) {
                parsed.elements.push_back(value());
            }
            break;
        case '"':
            parsed.type = JsonValue::Type::string;
            parsed.string = decode_json_string(string());
            break;
        default:
            at_ = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
            parsed.type = text_[start] == 'n'                          ? JsonValue::Type::null
                          : text_[start] == 't' || text_[start] == 'f' ? JsonValue::Type::boolean
                                                                       : JsonValue::Type::number;
        }
        parsed.text = text_.substr(start, at_ - start);
        return parsed;
    }

  private:
    void skip_space() { at_ = std::min(text_.find_first_not_of(space, at_), text_.size()); }
    // Whether an array or object continues; consumes the comma, or the end.
    bool next_is_not(char end) {
        skip_space();
        if (text_[at_] == ',') {
            ++at_;
            skip_space();
        }
        if (text_[at_] == end) {
            ++at_;
            return false;
        }
        return true;
    }
    std::string_view string() {
        const std::size_t start = at_++;
        while (text_[at_] != '"') {
            at_ += text_[at_] == '\\' ? 2 : 1;
        }
        return text_.substr(start, ++at_ - start);
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

Equality compare_numbers(std::string_view a, std::string_view b) {
    const Decimal left(a);
    const Decimal right(b);
    if (left.is_exact() && right.is_exact() && left.compare(right) == 0) {
        return Equality::equal;
    }
    double x = 0;
    double y = 0;
    const bool fits = std::from_chars(a.data(), a.data() + a.size(), x).ec == std::errc() &&
                      std::from_chars(b.data(), b.data() + b.size(), y).ec == std::errc();
    return fits && x != y ? Equality::different : Equality::unclear;
}

// One reference token of a pointer, without its escapes.
std::string decode_pointer_token(std::string_view token) {
    std::string decoded;
    for (std::size_t at = 0; at < token.size(); ++at) {
        const bool escaped = token[at] == '~' && at + 1 < token.size();
        decoded += !escaped ? token[at] : token[++at] == '1' ? '/' : '~';
    }
    return decoded;
}

// An array's index has no sign and no leading zero.
std::optional<std::size_t> read_index(std::string_view token) {
    std::size_t index = 0;
    const auto [end, status] = std::from_chars(token.data(), token.data() + token.size(), index);
    const bool canonical =
        status == std::errc() && end == token.data() + token.size() && (token.front() != '0' || token.size() == 1);
    return canonical ? std::optional(index) : std::nullopt;
}

} // namespace

Decimal::Decimal(std::string_view text) {
    negative_ = text.front() == '-';
    text.remove_prefix(negative_ ? 1 : 0);
    const std::size_t e = std::min(text.find_first_of("eE"), text.size());
    const std::string_view mantissa = text.substr(0, e);
    const std::size_t dot = std::min(mantissa.find('.'), mantissa.size());
    digits_ = mantissa.substr(0, dot);
    if (dot < mantissa.size()) {
        digits_ += mantissa.substr(dot + 1);
        exponent_ = -static_cast<std::int64_t>(mantissa.size() - dot - 1);
    }
    digits_.erase(0, std::min(digits_.find_first_not_of('0'), digits_.size()));
    if (digits_.empty()) {
        *this = Decimal();
        return;
    }
    const std::size_t length = digits_.find_last_not_of('0') + 1;
    exponent_ += static_cast<std::int64_t>(digits_.size() - length);
    digits_.resize(length);
    if (e < text.size()) {
        std::string_view written = text.substr(e + 1);
        written.remove_prefix(written.starts_with('+') ? 1 : 0);
        std::int64_t value = 0;
        const auto [end, status] = std::from_chars(written.data(), written.data() + written.size(), value);
        exact_ = status == std::errc() && value <= max_exponent && value >= -max_exponent;
        exponent_ += exact_ ? value : written.starts_with('-') ? -max_exponent : max_exponent;
    }
    magnitude_ = exponent_ + static_cast<std::int64_t>(digits_.size());
}

int Decimal::compare(const Decimal& other) const {
    if (negative_ != other.negative_) {
        return negative_ ? -1 : 1;
    }
    const int sign = negative_ ? -1 : 1;
    if (digits_.empty() || other.digits_.empty()) {
        return sign * (static_cast<int>(other.digits_.empty()) - static_cast<int>(digits_.empty()));
    }
    if (magnitude_ != other.magnitude_) {
        return magnitude_ < other.magnitude_ ? -sign : sign;
    }
    const int order = digits_.compare(other.digits_);
    return sign * (order < 0 ? -1 : order > 0 ? 1 : 0);
}

const JsonValue* JsonValue::find(std::string_view name) const {
    const auto entry =
        std::find_if(members.begin(), members.end(), [&](const Member& member) { return member.name == name; });
    return entry == members.end() ? nullptr : &entry->value;
}

JsonValue parse_json_value(std::string_view text) {
    return Parser(text).value();
}

bool is_pointer(std::string_view pointer) {
    if (!pointer.empty() && pointer.front() != '/') {
        return false;
    }
    for (std::size_t at = pointer.find('~'); at != std::string_view::npos; at = pointer.find('~', at + 1)) {
        if (at + 1 == pointer.size() || (pointer[at + 1] != '0' && pointer[at + 1] != '1')) {
            return false;
        }
    }
    return true;
}

std::optional<std::string_view> find_pointer(std::string_view json, std::string_view pointer) {
    json = trim_json(json);
    while (!pointer.empty()) {
        pointer.remove_prefix(1);
        const std::string_view token = pointer.substr(0, pointer.find('/'));
        pointer.remove_prefix(token.size());
        const std::string key = decode_pointer_token(token);
        if (json.front() == '{') {
            const auto members = json_members(json);
            const auto found =
                std::find_if(members.begin(), members.end(), [&](const auto& member) { return member.first == key; });
            if (found == members.end()) {
                return std::nullopt;
            }
            json = found->second;
        } else if (json.front() == '[') {
            const auto elements = json_elements(json);
            const std::optional<std::size_t> index = read_index(key);
            if (!index || *index >= elements.size()) {
                return std::nullopt;
            }
            json = elements[*index];
        } else {
            return std::nullopt;
        }
    }
    return json;
}

Equality compare(const JsonValue& a, const JsonValue& b) {
    using Type = JsonValue::Type;
    if (a.type != b.type || a.elements.size() != b.elements.size() || a.members.size() != b.members.size()) {
        return Equality::different;
    }
    Equality all = Equality::equal;
    switch (a.type) {
    case Type::null:
        return Equality::equal;
    case Type::boolean:
        return a.text == b.text ? Equality::equal : Equality::different;
    case Type::number:
        return compare_numbers(a.text, b.text);
    case Type::string:
        return a.string == b.string ? Equality::equal : Equality::different;
    case Type::array:
        for (std::size_t i = 0; i < a.elements.size() && all != Equality::different; ++i) {
            all = std::min(all, compare(a.elements[i], b.elements[i]));
        }
        return all;
    case Type::object:
        break;
    }
    for (auto member = a.members.begin(); member != a.members.end() && all != Equality::different; ++member) {
        const JsonValue* other = b.find(member->name);
        all = other == nullptr ? Equality::different : std::min(all, compare(member->value, *other));
    }
    return all;
}

bool is_comparable(const JsonValue& value) {
    return (value.type != JsonValue::Type::number || Decimal(value.text).is_exact()) &&
           std::all_of(value.elements.begin(), value.elements.end(), is_comparable) &&
           std::all_of(value.members.begin(), value.members.end(),
                       [](const JsonValue::Member& member) { return is_comparable(member.value); });
}

} // namespace cellgate
