#pragma once
// `checks.hpp` is what the readers that are made from schemas/ check beyond ranges. Each function has the meaning of a
// pattern or a description there (schemas/generator/cpp_checks.py).

#include "base/http_token.hpp"
#include "base/json_codec.hpp"
#include "base/names.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::protocol {

// In characters, as JSON Schema counts.
bool has_at_most(std::string_view text, std::size_t characters);
bool has_no_nul(std::string_view text);
bool has_no_controls(std::string_view text);
// Begins with a slash, or is *.
bool is_request_path(std::string_view text);
// Begins with a scheme.
bool is_uri(std::string_view text);
// Of base/host.hpp.
bool is_host_pattern(std::string_view text);
bool is_request_id(const RawJson& value);
bool is_time(std::string_view text);
bool is_object(const RawJson& value);

template <class T>
bool all_different(std::vector<T> values) {
    std::sort(values.begin(), values.end());
    return std::adjacent_find(values.begin(), values.end()) == values.end();
}

} // namespace cellgate::protocol
