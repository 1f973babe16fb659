#include "tools/workspace_programs.hpp"

#include "base/error.hpp"
#include "base/regular_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string_view>

namespace cellgate::tools {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_program_bytes = std::size_t{256} << 20; // Deno has 100 MB

// Whether a file that a command names is what runs, rather than what it works on (a database, say).
bool looks_like_program(const fs::path& path) {
    constexpr std::array<std::string_view, 16> endings{".py",  ".js",  ".mjs",  ".cjs", ".ts", ".mts",
                                                       ".cts", ".sh",  ".bash", ".rb",  ".pl", ".php",
                                                       ".lua", ".jar", ".wasm", ".json"};
    std::error_code error;
    const fs::perms executable = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
    return std::find(endings.begin(), endings.end(), path.extension().string()) != endings.end() ||
           (fs::status(path, error).permissions() & executable) != fs::perms::none;
}

} // namespace

void add_workspace_programs(Fingerprint& text, const std::vector<std::string>& command, const std::string& cwd,
                            const std::string& workspace) {
    for (const std::string& argument : command) {
        std::error_code error;
        const fs::path path = fs::canonical(fs::path(cwd) / argument, error);
        if (error || !path.string().starts_with(workspace + "/") || fs::is_directory(path, error) ||
            !looks_like_program(path)) {
            continue;
        }
        const RegularFile file = read_regular_file(path, max_program_bytes + 1);
        if (file.error == ENOENT || file.error == ENOTDIR) {
            continue;
        }
        if (file.error != 0) {
            throw system_error(ErrorCode::config_invalid, "cannot read " + path.string(), file.error);
        }
        if (file.bytes.size() > max_program_bytes) {
            throw Error(ErrorCode::config_invalid,
                        fmt::format("expected {} to have at most {} bytes", path.string(), max_program_bytes));
        }
        text.add(path.string());
        text.add(sha256(file.bytes));
    }
}

} // namespace cellgate::tools
