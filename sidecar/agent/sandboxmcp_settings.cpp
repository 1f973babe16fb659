#include "sandboxmcp_settings.hpp"

#include "base/error.hpp"
#include "base/escape_unprintable.hpp"
#include "named_variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace cellgate::agent {

namespace {

constexpr std::string_view secret_prefix = "SANDBOXMCP_SECRET_";
constexpr const char* how_to_add_a_secret = "add it to cellgate's: cellgate secret add NAME";

// A variable that has one value here.
NamedVariable only_value(const char* name, const char* expected, const char* hint) {
    return {name, [expected, hint](const std::string& variable, const std::string& value) {
                if (value != expected) {
                    throw Error(ErrorCode::config_invalid,
                                fmt::format("expected {} to be {}, found \"{}\"", variable, expected,
                                            escape_unprintable(value)),
                                hint);
                }
            }};
}

} // namespace

SandboxmcpSettings read_sandboxmcp_settings(const Environment& environment) {
    for (const auto& [name, value] : environment) {
        if (name.starts_with(secret_prefix)) {
            throw Error(ErrorCode::config_invalid,
                        fmt::format("{}: secrets are not read from such variables", escape_unprintable(name)),
                        how_to_add_a_secret);
        }
    }
    SandboxmcpSettings settings;
    read_variables(
        environment, "SANDBOXMCP_",
        {only_value(
             "SANDBOXMCP_BACKEND", "process",
             "code runs as processes in cellgate's sandbox; a session in an image is a user's to start: cellgate "
             "run --image"),
         {"SANDBOXMCP_MAX_CONCURRENT",
          [&settings](const std::string& name, const std::string& value) {
              settings.max_concurrent = static_cast<std::size_t>(std::clamp(read_number(name, value), 1.0, 1000.0));
          }},
         only_value("SANDBOXMCP_NETWORK", "false",
                    "each host is asked about when code connects to it; a rule allows one: cellgate policy add"),
         only_value("SANDBOXMCP_VAULT", "memory", how_to_add_a_secret),
         only_value("SANDBOXMCP_AUDIT", "sqlite", "the workspace's record is always kept: cellgate record"),
         {"SANDBOXMCP_MAX_RAM_MB",
          [&settings](const std::string& name, const std::string& value) {
              constexpr double max_mb = 1e12;
              settings.memory_bytes = static_cast<std::uint64_t>(std::min(read_number(name, value), max_mb)) << 20;
          }},
         {"SANDBOXMCP_TIMEOUT",
          [&settings](const std::string& name, const std::string& value) {
              settings.timeout_seconds = read_number(name, value);
          }},
         not_taken("SANDBOXMCP_SQLITE_PATH", "the workspace's record has its own place", "read it by cellgate record"),
         not_taken("SANDBOXMCP_IMAGE", "an image is not chosen here",
                   "a session in an image is a user's to start: cellgate run --image")});
    return settings;
}

} // namespace cellgate::agent
