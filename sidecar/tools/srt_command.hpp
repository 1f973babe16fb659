#pragma once
// `SrtCommand` is a command line of srt (@anthropic-ai/sandbox-runtime), which runs a program in a sandbox by a
// settings file. A tool server that is configured so runs in ours by that file, and srt need not be installed:
//
//     srt [-s FILE | --settings FILE] PROGRAM ARGUMENT…
//     srt [-s FILE | --settings FILE] -c "shell line"
//     npx [-y] @anthropic-ai/sandbox-runtime …

#include <optional>
#include <string>
#include <vector>

namespace cellgate::tools {

// Where srt looks without --settings, in the home. When it is not there, these are its settings.
inline constexpr const char* srt_settings_name = ".srt-settings.json";
inline constexpr const char* srt_settings = R"({"network":{"allowedDomains":[],"deniedDomains":[]},)"
                                            R"("filesystem":{"denyRead":[],"allowWrite":[],"denyWrite":[]}})";

struct SrtCommand {
    std::optional<std::string> settings; // as it is written there
    std::vector<std::string> argv;       // what srt would run
};

// Nothing when `argv` does not start srt by its name. Throws Error{config_invalid} for options that are not known.
std::optional<SrtCommand> parse_srt_command(const std::vector<std::string>& argv);

} // namespace cellgate::tools
