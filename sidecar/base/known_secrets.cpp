#include "base/known_secrets.hpp"

#include "base/json_scan.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace cellgate {

namespace {

// The end of the string that begins at `begin` with its quote.
std::size_t end_of_string(std::string_view json, std::size_t begin) {
    std::size_t at = begin + 1;
    while (json[at] != '"') {
        at += json[at] == '\\' ? 2 : 1;
    }
    return at + 1;
}

} // namespace

void KnownSecrets::add(const std::string& name, const std::string& value) {
    const bool is_known = std::any_of(values_.begin(), values_.end(), [&](const MaskedValue& each) {
        return each.name == name && each.value == value;
    });
    if (is_known || value.size() < min_masked_bytes) {
        return;
    }
    values_.push_back({name, value});
    mask_ = std::make_shared<const SecretMask>(values_);
}

std::string masked_text(const std::shared_ptr<const SecretMask>& mask, std::string text) {
    if (!mask) {
        return text;
    }
    MaskedStream stream(mask);
    std::string masked = stream.push(std::move(text));
    masked += stream.finish();
    return masked;
}

RawJson masked_json(const std::shared_ptr<const SecretMask>& mask, RawJson json) {
    if (!mask || masked_text(mask, json.text()) == json.text()) {
        return json;
    }
    const std::string_view text = json.text();
    std::string masked;
    std::size_t copied = 0;
    for (std::size_t quote = text.find('"'); quote != std::string_view::npos; quote = text.find('"', copied)) {
        const std::size_t end = end_of_string(text, quote);
        std::string content = decode_json_string(text.substr(quote, end - quote));
        std::string shown = masked_text(mask, content);
        if (shown == content) {
            masked += text.substr(copied, end - copied);
        } else {
            masked += text.substr(copied, quote - copied);
            append_json_string(masked, shown);
        }
        copied = end;
    }
    masked += text.substr(copied);
    return RawJson::checked(std::move(masked));
}

} // namespace cellgate
