#include "mounts/paths.hpp"

#include "base/error.hpp"
#include "mounts/symlink_chain.hpp"

#include <fmt/format.h>

#include <cstring>

namespace cellgate::sandbox {

std::string canonical_path(const std::string& path, std::string_view what, std::map<std::string, std::string>& links) {
    if (!path.starts_with('/') || path.find('\0') != std::string::npos) {
        throw Error(ErrorCode::config_invalid, fmt::format("{} must be an absolute path, found '{}'", what, path));
    }
    SymlinkChain chain = resolve_symlinks("/", path);
    if (chain.end.empty()) {
        throw Error(ErrorCode::config_invalid,
                    fmt::format("{} '{}' cannot be opened: {}", what, path, std::strerror(chain.error)),
                    "Check that it exists and that you may read it.");
    }
    for (auto& [place, target] : chain.links) {
        links.insert_or_assign(std::move(place), std::move(target));
    }
    return chain.end;
}

} // namespace cellgate::sandbox
