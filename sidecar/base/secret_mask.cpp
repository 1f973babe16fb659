#include "base/secret_mask.hpp"

#include "base/raw_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>

namespace cellgate {

namespace {

constexpr std::string_view base64_plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view base64_of_urls = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

// The digits that say only this value, where `before` bytes (0 to 2) precede it in its group of three.
std::string base64_digits(std::string_view value, std::size_t before, std::string_view alphabet) {
    std::string digits;
    const std::size_t bits = (before + value.size()) * 8;
    const std::size_t first = (before * 8 + 5) / 6;
    for (std::size_t digit = first; digit < bits / 6; ++digit) {
        unsigned number = 0;
        for (std::size_t bit = digit * 6; bit < digit * 6 + 6; ++bit) {
            const auto byte = static_cast<unsigned char>(value[bit / 8 - before]);
            number = number << 1U | (byte >> (7 - bit % 8) & 1U);
        }
        digits += alphabet[number];
    }
    return digits;
}

std::string hex_of(std::string_view value, bool upper, std::string_view between = {}) {
    std::string text;
    for (const char c : value) {
        const unsigned byte = static_cast<unsigned char>(c);
        text += text.empty() ? std::string_view() : between;
        text += upper ? fmt::format("{:02X}", byte) : fmt::format("{:02x}", byte);
    }
    return text;
}

std::string percent_encoded(std::string_view value, bool upper, bool plus_for_space) {
    constexpr std::string_view kept = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    std::string text;
    for (const char c : value) {
        if (kept.find(c) != std::string_view::npos) {
            text += c;
        } else if (c == ' ' && plus_for_space) {
            text += '+';
        } else {
            text += "%" + hex_of(std::string_view(&c, 1), upper);
        }
    }
    return text;
}

std::string escaped_in_json(std::string_view value) {
    std::string text;
    append_json_string(text, value);
    return text.substr(1, text.size() - 2);
}

// As JSON in ASCII has it: of valid UTF-8, in UTF-16.
std::string in_ascii(std::string_view json) {
    std::string text;
    for (std::size_t at = 0; at < json.size();) {
        const auto lead = static_cast<unsigned char>(json[at]);
        const std::size_t size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
        if (size == 1 || at + size > json.size()) {
            text += json[at++];
            continue;
        }
        std::uint32_t point = lead & (0x7fU >> size);
        for (std::size_t i = 1; i < size; ++i) {
            point = point << 6U | (static_cast<unsigned char>(json[at + i]) & 0x3fU);
        }
        at += size;
        if (point < 0x10000) {
            text += fmt::format("\\u{:04x}", point);
        } else {
            text += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + ((point - 0x10000) >> 10U),
                                0xdc00 + ((point - 0x10000) & 0x3ffU));
        }
    }
    return text;
}

} // namespace

std::vector<std::string> secret_spellings(std::string_view value) {
    std::set<std::string> all = {std::string(value), escaped_in_json(value), in_ascii(escaped_in_json(value))};
    for (const bool upper : {false, true}) {
        all.insert(hex_of(value, upper));
        all.insert(hex_of(value, upper, " ")); // so has S3 it in errors, of the request
        all.insert(percent_encoded(value, upper, false));
        all.insert(percent_encoded(value, upper, true));
    }
    for (const std::string_view alphabet : {base64_plain, base64_of_urls}) {
        for (std::size_t before = 0; before < 3; ++before) {
            all.insert(base64_digits(value, before, alphabet));
        }
    }
    return {all.begin(), all.end()};
}

SecretMask::SecretMask(const std::vector<MaskedValue>& values) : nodes_(1) {
    for (const MaskedValue& each : values) {
        if (each.value.size() >= min_masked_bytes) {
            for (const std::string& spelling : secret_spellings(each.value)) {
                add(spelling, static_cast<std::uint32_t>(names_.size()));
            }
            names_.push_back(each.name);
        }
    }
    link();
}

std::optional<std::uint32_t> SecretMask::child(std::uint32_t node, char c) const {
    if (node == 0) { // most bytes of most texts
        const std::uint32_t next = first_[static_cast<unsigned char>(c)];
        return next == 0 ? std::nullopt : std::optional(next);
    }
    for (const auto& [byte, next] : nodes_[node].next) {
        if (byte == c) {
            return next;
        }
    }
    return std::nullopt;
}

void SecretMask::add(std::string_view spelling, std::uint32_t name) {
    std::uint32_t node = 0;
    for (const char c : spelling) {
        std::optional<std::uint32_t> next = child(node, c);
        if (!next) {
            next = static_cast<std::uint32_t>(nodes_.size());
            nodes_[node].next.emplace_back(c, *next);
            if (node == 0) {
                first_[static_cast<unsigned char>(c)] = *next;
            }
            nodes_.emplace_back().depth = nodes_[node].depth + 1;
        }
        node = *next;
    }
    if (nodes_[node].found == 0) {
        nodes_[node].found = nodes_[node].depth;
        nodes_[node].name = name;
    }
}

// From the root down: a node's fallback is less deep than itself.
void SecretMask::link() {
    std::deque<std::uint32_t> waiting = {0};
    while (!waiting.empty()) {
        const std::uint32_t node = waiting.front();
        waiting.pop_front();
        for (const auto& [c, next] : nodes_[node].next) {
            Node& below = nodes_[next];
            below.fallback = node == 0 ? 0 : step(nodes_[node].fallback, c);
            if (below.found == 0) {
                below.found = nodes_[below.fallback].found;
                below.name = nodes_[below.fallback].name;
            }
            waiting.push_back(next);
        }
    }
}

std::uint32_t SecretMask::step(std::uint32_t node, char c) const {
    while (true) {
        if (const std::optional<std::uint32_t> next = child(node, c)) {
            return *next;
        }
        if (node == 0) {
            return 0;
        }
        node = nodes_[node].fallback;
    }
}

std::string MaskedStream::push(std::string chunk) {
    if (mask_->empty()) {
        return chunk;
    }
    held_ += chunk;
    for (; seen_ < held_.size(); ++seen_) {
        state_ = mask_->step(state_, held_[seen_]);
        if (const SecretMask::Node& node = mask_->nodes_[state_]; node.found != 0) {
            take(node);
        }
        while (state_ != 0 && mask_->nodes_[state_].next.empty()) { // which goes on as what it ends with
            state_ = mask_->nodes_[state_].fallback;
        }
    }
    return shown_before(seen_ - mask_->nodes_[state_].depth);
}

std::string MaskedStream::finish() {
    std::string out = shown_before(held_.size());
    seen_ = 0;
    state_ = 0;
    return out;
}

void MaskedStream::take(const SecretMask::Node& node) {
    Region region = {seen_ + 1 - node.found, seen_ + 1, mask_->names_[node.name]};
    while (!regions_.empty() && regions_.back().end > region.begin) {
        Region& before = regions_.back();
        region.begin = std::min(region.begin, before.begin);
        region.names = before.names + (before.names.ends_with(region.names) ? "" : ", " + region.names);
        regions_.pop_back();
    }
    regions_.push_back(std::move(region));
}

std::string MaskedStream::shown_before(std::size_t open) {
    std::string out;
    std::size_t shown = 0; // bytes of `held_` that are in `out`
    std::size_t done = 0;
    for (; done < regions_.size() && regions_[done].end <= open; ++done) {
        out.append(held_, shown, regions_[done].begin - shown);
        out += fmt::format("[secret {}]", regions_[done].names);
        shown = regions_[done].end;
    }
    regions_.erase(regions_.begin(), regions_.begin() + static_cast<std::ptrdiff_t>(done));
    const std::size_t safe = regions_.empty() ? open : std::min(open, regions_.front().begin);
    out.append(held_, shown, safe - shown);
    held_.erase(0, safe);
    seen_ -= safe;
    for (Region& region : regions_) {
        region.begin -= safe;
        region.end -= safe;
    }
    return out;
}

} // namespace cellgate
