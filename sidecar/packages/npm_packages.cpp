#include "packages/npm_packages.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>

namespace cellgate::packages {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view versions_folder = ".deno"; // of node_modules, as Deno names it
constexpr const char* lock_file = "deno.lock";

fs::file_type type_of(const std::string& path) {
    std::error_code error;
    return fs::symlink_status(path, error).type(); // of a link itself
}

void rename_to(const std::string& from, const std::string& to, unsigned flags) {
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags) != 0) {
        throw system_error(ErrorCode::store_failed, fmt::format("cannot move {} to {}", from, to), errno);
    }
}

} // namespace

NpmPackages::NpmPackages(const store::Directories& directories, const std::string& root, bool scripts)
    : PackageFolder(directories, root, "npm"), scripts_(scripts) {}

// Of "lodash@4.17.21", "@std+yaml@1.0.5", and "a@1.0.0_b@2.0.0" for a version that is made for one of another package.
std::optional<protocol::InstalledPackage> NpmPackages::package_of(std::string_view folder_name) {
    const std::size_t at = folder_name.find('@', 1);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    std::string name(folder_name.substr(0, at));
    const std::string_view version = folder_name.substr(at + 1, folder_name.find('_', at) - at - 1);
    const std::size_t scope = name.starts_with('@') ? name.find('+') : std::string::npos;
    if (name.starts_with('@') && scope != std::string::npos && is_plain(name.substr(1, scope - 1), "._-")) {
        name[scope] = '/';
    }
    const bool scoped = name.find('/') != std::string::npos;
    if (scoped != name.starts_with('@') || !is_plain(name.substr(name.find('/') + 1), "._-") ||
        !is_plain(version, "._+-")) {
        return std::nullopt;
    }
    return protocol::InstalledPackage{std::move(name), std::string(version)};
}

// One version of a package, with links to the versions that it needs.
void NpmPackages::add_version(const std::string& made, const std::string& kept) const {
    if (type_of(kept) == fs::file_type::not_found) {
        rename_to(made, kept, RENAME_NOREPLACE);
    } else if (scripts_) {
        rename_to(made, kept, RENAME_EXCHANGE); // the earlier one is removed with the build
    }
}

// The links of packages' names, and those in the folders of scopes. They are never followed out here, and in a sandbox
// they lead no further than all that runs in there.
void NpmPackages::add_links(const std::string& made, const std::string& kept, bool of_scope) {
    store::make_private_directory(kept);
    for (const std::string& name : names_in(made)) {
        const std::string from = fmt::format("{}/{}", made, name);
        const std::string to = fmt::format("{}/{}", kept, name);
        const fs::file_type type = type_of(from);
        if (type == fs::file_type::symlink && is_plain(name, "._-")) {
            rename_to(from, to, 0);
        } else if (type == fs::file_type::directory && !of_scope && name.starts_with('@') &&
                   is_plain(name.substr(1), "._-")) {
            add_links(from, to, true);
        }
    }
}

std::vector<protocol::InstalledPackage> NpmPackages::publish(const Build& build) const {
    const std::string made = build.directory + "/packages/node_modules";
    const std::string made_versions = fmt::format("{}/{}", made, versions_folder);
    const std::string kept_versions = fmt::format("{}/{}", shown(), versions_folder);
    const UniqueFd result = open_result(made);
    const UniqueFd versions = open_result(made_versions);
    const UniqueFd turn = take_turn();
    store::make_private_directory(kept_versions);
    std::vector<protocol::InstalledPackage> installed;
    for (const std::string& name : names_in(made_versions)) {
        const std::string from = fmt::format("{}/{}", made_versions, name);
        std::optional<protocol::InstalledPackage> package = package_of(name);
        if (package && type_of(from) == fs::file_type::directory) {
            add_version(from, fmt::format("{}/{}", kept_versions, name));
            installed.push_back(std::move(*package));
        }
    }
    // What packages find that they do not name themselves, as in a node_modules of npm's.
    const std::string further = made_versions + "/node_modules";
    if (type_of(further) == fs::file_type::directory) {
        add_links(further, kept_versions + "/node_modules");
    }
    add_links(made, shown());
    const std::string lock = fmt::format("{}/packages/{}", build.directory, lock_file);
    if (type_of(lock) == fs::file_type::regular) {
        rename_to(lock, fmt::format("{}/{}", folder(), lock_file), 0);
    }
    sort(installed);
    return installed;
}

} // namespace cellgate::packages
