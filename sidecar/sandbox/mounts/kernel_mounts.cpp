#include "mounts/kernel_mounts.hpp"

#include "base/error.hpp"
#include "base/escape_unprintable.hpp"
#include "mounts/gpu_mounts.hpp"
#include "mounts/image_mounts.hpp"
#include "mounts/paths.hpp"
#include "mounts/system_mounts.hpp"
#include "protected/protected_mounts.hpp"
#include "protected/protected_paths.hpp"
#include "settings/settings_mounts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <sys/stat.h>

namespace cellgate::sandbox {

namespace {

// bwrap's time grows with the square of the mounts: these take about two seconds.
constexpr std::size_t max_mounts = 500;

void refuse_system_workspace(const std::string& workspace) {
    for (std::string_view path : {"/usr", "/etc", "/tmp", "/var", "/run", "/home", "/root", "/boot", "/opt"}) {
        if (is_within(path, workspace)) {
            throw Error(
                ErrorCode::config_invalid,
                fmt::format("'{}' cannot be a workspace: it is, or contains, the system's '{}'", workspace, path),
                "Open a folder that holds your project only.");
        }
    }
    for (std::string_view path : {"/proc", "/sys", "/dev"}) {
        if (is_within(workspace, path)) {
            throw Error(ErrorCode::config_invalid,
                        fmt::format("'{}' cannot be a workspace: '{}' is the machine's", workspace, path),
                        "Open a folder that holds your project only.");
        }
    }
}

std::vector<std::string> add_workspace(MountPlan& plan, const std::string& workspace, bool writable,
                                       const ProtectedPaths& places) {
    const std::string wrappers = workspace + "/mcptools";
    std::vector<std::string> notices =
        show_guarded(plan, workspace, writable, {"the workspace"}, places.homes, {wrappers});
    struct stat status = {};
    if (::lstat(wrappers.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
        plan.set_reason({"guarded: what calls tools", Cause::guard});
        plan.read_only(wrappers);
    }
    return notices;
}

void add_interpreter(KernelMounts& mounts, const std::vector<std::string>& folders, const ProtectedPaths& places,
                     std::vector<std::string>& needed) {
    mounts.plan.set_reason({"the kernel's interpreter"});
    for (const std::string& given : folders) {
        const std::string path = canonical_path(given, "a read-only path of the sandbox", mounts.links);
        refuse_if_private(path, "the read-only path", places);
        if (path == mounts.workspace) {
            throw Error(
                ErrorCode::config_invalid,
                fmt::format("the workspace '{}' is itself the interpreter's prefix, so it could not be written", path),
                "Make the environment in a folder of its own, such as '.venv'.");
        }
        const Mount* there = mounts.plan.at(path);
        const bool read_only = there != nullptr && there->shows_machine() && !there->writable;
        if (!read_only || is_within(path, mounts.workspace)) {
            mounts.plan.read_only(path);
        }
        needed.push_back(path);
    }
}

// What has to be seen for anything to run.
std::vector<std::string> planned_so_far(const MountPlan& plan) {
    std::vector<std::string> needed;
    for (const auto& [place, mount] : plan.mounts()) {
        if (!mount.is_hidden() && mount.kind != Mount::Kind::scratch && mount.kind != Mount::Kind::symlink) {
            needed.push_back(mount.place);
        }
    }
    return needed;
}

// The settings are read again for each session, so no cell may change them.
void guard_settings(KernelMounts& mounts, const std::string& given) {
    std::error_code error;
    const std::string file = std::filesystem::canonical(given, error);
    const Mount* there = mounts.plan.at(file);
    if (!error && there != nullptr && there->writable) {
        mounts.plan.set_reason({"guarded: the settings of this sandbox", Cause::guard});
        mounts.plan.read_only(file);
        mounts.notices.push_back(fmt::format("{} lies where cells can write: those of this session cannot change it, "
                                             "those of a session without it can. Keep it elsewhere.",
                                             escape_unprintable(file)));
    }
}

// Called once everything in the places that are shown is planned.
void finalize(MountPlan& plan, const std::string& workspace, const std::vector<std::string>& writable_roots) {
    std::set<std::filesystem::path> places;
    for (const std::string& top : writable_roots) {
        plan.pin_folders(top);
        const std::vector<std::filesystem::path> below = plan.places_below(top);
        places.insert(below.begin(), below.end());
    }
    if (places.size() <= max_mounts) {
        return;
    }
    std::map<std::filesystem::path, std::size_t> folders;
    for (const std::filesystem::path& place : places) {
        ++folders[place.parent_path()];
    }
    const auto [folder, count] = *std::max_element(folders.begin(), folders.end(),
                                                   [](const auto& a, const auto& b) { return a.second < b.second; });
    throw Error(
        ErrorCode::sandbox_unavailable,
        fmt::format("expected at most {} files and folders to guard in the workspace {}{} (secrets, what programs "
                    "outside run or obey, and the folders above them), found {}; most of them, {}, are in {}",
                    max_mounts, workspace, writable_roots.size() == 1 ? "" : " and in what its settings show",
                    places.size(), count, folder.string()),
        fmt::format("Look at {}: a cell may have made them. Remove what is not needed, move it out of the "
                    "workspace, or open a folder further down.",
                    folder.string()));
}

} // namespace

void show_packages(MountPlan& plan, const std::string& folder, bool node_modules,
                   std::map<std::string, std::string>& links) {
    plan.set_reason({"the packages that were installed for this workspace"});
    if (!node_modules) {
        plan.read_only(canonical_path(folder, "the folder of installed packages", links));
        return;
    }
    std::map<std::string, std::string> not_shown;
    plan.put(
        {.place = "/node_modules", .source = canonical_path(folder, "the folder of installed packages", not_shown)});
    plan.file("{}\n", "/package.json");
}

KernelMounts plan_kernel_mounts(const Profile& profile, const Environment& environment) {
    KernelMounts mounts;
    const ProtectedPaths places = protected_paths(environment, profile.hidden);
    mounts.workspace = canonical_path(profile.workspace, "the workspace", mounts.links);
    const std::string session_dir = canonical_path(profile.session_dir, "the session's directory", mounts.links);
    refuse_system_workspace(mounts.workspace);
    refuse_if_private(mounts.workspace, "the workspace", places);
    check_private(session_dir, "the session's directory");
    if (is_within(session_dir, mounts.workspace) || is_within(mounts.workspace, session_dir)) {
        throw Error(ErrorCode::config_invalid,
                    fmt::format("the session's directory '{}' and the workspace '{}' must lie apart", session_dir,
                                mounts.workspace),
                    "Set XDG_RUNTIME_DIR to a directory outside the workspace.");
    }

    mounts.home = private_home(places);
    mounts.image = profile.image;
    const auto add_own_system = mounts.image ? add_system_of_image : add_system;
    add_own_system(mounts.plan, mounts.home, profile.limits.disk_bytes);
    std::vector<std::string> needed = planned_so_far(mounts.plan);
    add_home(mounts.plan, mounts.home, profile.limits.disk_bytes);
    std::optional<SettingsMounts> settings;
    if (profile.settings) {
        settings.emplace(*profile.settings, places, mounts.workspace);
    }
    if (profile.shows_workspace) {
        mounts.notices =
            add_workspace(mounts.plan, mounts.workspace, !settings || settings->workspace_is_writable(), places);
        mounts.exchangeable = {mounts.workspace};
    }
    if (settings) {
        settings->show(mounts.plan);
        for (std::string& top : settings->writable_roots()) {
            mounts.exchangeable.push_back(std::move(top));
        }
    }
    add_interpreter(mounts, profile.read_only, places, needed);
    if (settings) {
        settings->hide(mounts.plan, needed);
        mounts.notices.insert(mounts.notices.end(), settings->notices().begin(), settings->notices().end());
        mounts.links.insert(settings->links().begin(), settings->links().end());
        if (!profile.settings->file.empty()) {
            guard_settings(mounts, profile.settings->file);
        }
        if (profile.settings->gpu) {
            add_gpu(mounts.plan);
        }
    }
    guard_targets(mounts.plan);
    finalize(mounts.plan, mounts.workspace, mounts.exchangeable);
    if (!profile.packages.empty()) {
        show_packages(mounts.plan, profile.packages, profile.node_modules, mounts.links);
    }
    mounts.plan.set_reason({"the session's own directory, for its sockets"});
    mounts.plan.read_write(session_dir);
    if (mounts.image) {
        add_image(mounts.plan, *mounts.image);
    }
    return mounts;
}

} // namespace cellgate::sandbox
