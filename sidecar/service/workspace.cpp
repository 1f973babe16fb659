#include "workspace.hpp"

#include "base/names.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace cellgate::service {

std::string canonical_workspace(const std::string& workspace) {
    std::error_code error;
    const std::filesystem::path path = std::filesystem::canonical(workspace, error);
    if (error || !std::filesystem::is_directory(path)) {
        throw Error(ErrorCode::config_invalid, fmt::format("expected the workspace to be a directory, found {}: {}",
                                                           workspace, error ? error.message() : "it is none"));
    }
    return path;
}

std::string Workspace::resolve(const std::string& relative) const {
    if (relative.empty() || relative.find('\0') != std::string::npos) {
        throw Error(ErrorCode::invalid_params, "expected a path, found an empty one or one with a NUL");
    }
    return (std::filesystem::path(path) / relative).lexically_normal();
}

session::SessionOptions Workspace::default_session() const {
    session::SessionOptions options;
    options.id = default_session_id;
    options.cwd = path;
    options.settings = settings;
    if (profile) {
        use_profile(options, *profile);
    }
    return options;
}

namespace {

// Takes them out of the environment.
Environment take_secrets(Environment& environment) {
    constexpr std::string_view prefix = "CELLGATE_SECRET_";
    Environment secrets;
    std::erase_if(environment, [&](const auto& variable) {
        if (!variable.first.starts_with(prefix)) {
            return false;
        }
        const std::string name = variable.first.substr(prefix.size());
        if (is_variable_name(name) && !variable.second.empty()) {
            secrets[name] = variable.second;
        }
        return true;
    });
    return secrets;
}

} // namespace

Workspace open_workspace(const SidecarOptions& options) {
    Workspace workspace;
    workspace.path = canonical_workspace(options.workspace);
    workspace.environment = options.environment;
    workspace.secrets = take_secrets(workspace.environment);
    if (options.sandbox_config) {
        workspace.settings = sandbox::read_settings(std::filesystem::absolute(*options.sandbox_config));
    }
    return workspace;
}

} // namespace cellgate::service
