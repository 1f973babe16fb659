#pragma once
// `NamedVariable` is a variable of the environment by which a user configures `cellgate mcp`, and what reads its value.
// The readers throw Error{config_invalid}, which names the variable, for a value that they cannot read.

#include "base/environment.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::agent {

struct NamedVariable {
    std::string name;
    std::function<void(const std::string& name, const std::string& value)> read;
    bool suggested = true; // for a name that is nearly it
};

// Reads each variable that is set and not empty, in their order. Throws Error{config_invalid} for a variable of
// `environment` that begins with `prefix` and is none of them.
void read_variables(const Environment& environment, std::string_view prefix,
                    const std::vector<NamedVariable>& variables);

// A number above 0.
double read_number(const std::string& name, const std::string& value);
// "true" or "false", in upper or lower case.
bool read_flag(const std::string& name, const std::string& value);

// Bytes, as Docker writes them: 134217728, 128m, 2g. Nothing for any other text.
std::optional<std::uint64_t> parse_memory(std::string_view text);
// Less than that, and a kernel may not start.
inline constexpr std::uint64_t least_memory_bytes = std::uint64_t{100} << 20;

// For a variable that says what is not this program's to decide: an error, with what to do instead.
NamedVariable not_taken(std::string name, std::string because, std::string hint);

} // namespace cellgate::agent
