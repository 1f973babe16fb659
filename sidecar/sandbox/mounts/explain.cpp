#include "sandbox/explain.hpp"

#include "base/escape_unprintable.hpp"
#include "launch/bwrap_probe.hpp"
#include "mounts/kernel_mounts.hpp"
#include "mounts/symlink_chain.hpp"
#include "sandbox/protected_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace cellgate::sandbox {

namespace {

namespace fs = std::filesystem;

constexpr const char* of_permissions = "the permissions of the files themselves";

// Whether files' own permissions let this user read (4) or go through (1). Root has no more in a sandbox than others.
bool permits(const struct stat& status, mode_t what) {
    std::vector<gid_t> groups(static_cast<std::size_t>(std::max(0, ::getgroups(0, nullptr))));
    groups.resize(static_cast<std::size_t>(std::max(0, ::getgroups(static_cast<int>(groups.size()), groups.data()))));
    groups.push_back(::getegid());
    const bool in_group = std::find(groups.begin(), groups.end(), status.st_gid) != groups.end();
    const int shift = status.st_uid == ::geteuid() ? 6 : in_group ? 3 : 0;
    return (status.st_mode >> shift & what) == what;
}

// Walks a path as a process in the sandbox would.
class Walk {
  public:
    Walk(const MountPlan& plan, bool names_are_guarded, const std::string& path)
        : plan_(plan), names_are_guarded_(names_are_guarded) {
        push_front(path);
    }

    PathExplanation run() {
        while (true) {
            if (rest_.empty()) {
                return end();
            }
            const fs::path part = std::move(rest_.front());
            rest_.pop_front();
            if (part.empty() || part == ".") {
                continue;
            }
            if (part == "..") {
                current_ = current_.parent_path();
                continue;
            }
            if (std::optional<PathExplanation> stopped = step(current_ / part)) {
                return std::move(*stopped);
            }
        }
    }

  private:
    void push_front(const fs::path& path) {
        const fs::path relative = path.relative_path();
        rest_.insert(rest_.begin(), relative.begin(), relative.end());
    }

    std::optional<PathExplanation> step(const fs::path& next) {
        const Mount* there = plan_.at(next);
        const bool mounted_here = there != nullptr && there->place == next.native();
        if (mounted_here && there->kind == Mount::Kind::symlink) {
            return follow(there->source, next);
        }
        if (there != nullptr && there->shows_machine()) {
            return step_in_machine(next, *there);
        }
        const bool holds_mounts = !plan_.places_below(next).empty();
        const bool hidden = there != nullptr && there->is_hidden();
        const bool closed = hidden && !holds_mounts && !rest_.empty();
        if ((mounted_here && !closed) || holds_mounts || in_own_system(there)) {
            current_ = next;
            return std::nullopt;
        }
        if (hidden) {
            return PathExplanation{Visibility::unreadable, whole(next), there->reason.text, there->reason.cause};
        }
        return PathExplanation{Visibility::absent, whole(next),
                               there != nullptr ? there->reason.text : "nothing of the machine is shown there"};
    }

    // Of /proc and /dev: what is in there is not ours to list.
    static bool in_own_system(const Mount* there) {
        return there != nullptr && (there->place == "/proc" || there->place == "/dev");
    }

    std::optional<PathExplanation> step_in_machine(const fs::path& next, const Mount& there) {
        const std::string real = there.machine_path(next.native());
        struct stat status{};
        if (::lstat(real.c_str(), &status) != 0) {
            return absent(next, there);
        }
        if (S_ISLNK(status.st_mode)) {
            std::error_code error;
            return follow(fs::read_symlink(real, error), next);
        }
        if (S_ISDIR(status.st_mode) && !rest_.empty() && !permits(status, 1)) {
            return PathExplanation{Visibility::unreadable, whole(next), of_permissions, Cause::machine};
        }
        current_ = next;
        return std::nullopt;
    }

    PathExplanation absent(const fs::path& path, const Mount& there) const {
        const auto is_guarded = [](const fs::path& part) { return is_auto_run_name(part.string()); };
        const bool guarded = is_guarded(path.filename()) || std::any_of(rest_.begin(), rest_.end(), is_guarded);
        if (guarded && there.writable && names_are_guarded_) {
            return {Visibility::absent, whole(path),
                    "it does not exist, and no cell can make it; guarded: programs outside of the sandbox would run or "
                    "obey it",
                    Cause::guard};
        }
        return {Visibility::absent, whole(path), "it does not exist, in " + there.reason.text, Cause::machine};
    }

    std::optional<PathExplanation> follow(const fs::path& target, const fs::path& link) {
        if (links_left_-- == 0) {
            return PathExplanation{Visibility::absent, whole(link), "too many symbolic links"};
        }
        if (target.is_absolute()) {
            current_ = "/";
        }
        push_front(target);
        return std::nullopt;
    }

    PathExplanation end() const {
        const Mount* there = plan_.at(current_);
        const std::string path = current_.string();
        if (there == nullptr || there->kind == Mount::Kind::symlink) {
            return {Visibility::own, path, "the sandbox's own folder, for what is mounted below it"};
        }
        if (there->is_hidden()) {
            return {Visibility::unreadable, path, there->reason.text, there->reason.cause};
        }
        if (!there->shows_machine()) {
            return {Visibility::own, path, there->reason.text};
        }
        struct stat status{};
        if (::stat(there->machine_path(path).c_str(), &status) != 0 || !permits(status, 4)) {
            return {Visibility::unreadable, path, of_permissions, Cause::machine};
        }
        return {there->writable ? Visibility::read_write : Visibility::read_only, path, there->reason.text,
                there->reason.cause};
    }

    std::string whole(fs::path path) const {
        for (const fs::path& part : rest_) {
            path /= part;
        }
        return path.string();
    }

    const MountPlan& plan_;
    bool names_are_guarded_;
    fs::path current_ = "/";
    std::deque<fs::path> rest_;
    int links_left_ = max_links;
};

} // namespace

Explained explain_paths(const Profile& profile, const Environment& environment, const std::vector<std::string>& paths,
                        Isolation isolation) {
    KernelMounts mounts = traits_of(isolation).mounts ? plan_kernel_mounts(profile, environment)
                                                      : plan_without_mounts(profile, environment);
    mounts.plan.set_reason({"a link on the way to what is shown"});
    add_links(mounts.plan, mounts.links);
    Explained explained;
    const bool names_are_guarded = mounts.without_namespaces || guards_names(environment);
    for (const std::string& path : paths) {
        explained.paths.push_back(
            Walk(mounts.plan, names_are_guarded, path.starts_with('/') ? path : mounts.workspace + "/" + path).run());
    }
    explained.notices = std::move(mounts.notices);
    return explained;
}

PathExplanation explain_path(const KernelMounts& mounts, const Environment& environment, const std::string& path) {
    return Walk(mounts.plan, mounts.without_namespaces || guards_names(environment), path).run();
}

HostExplanation explain_host(const Settings* settings, const HostQuery& host) {
    if (settings == nullptr) {
        return {Reach::asked, "no settings file names hosts"};
    }
    const auto covering = [&](const std::vector<std::string>& entries) {
        return std::find_if(entries.begin(), entries.end(),
                            [&](const std::string& entry) { return domain_covers(entry, host); });
    };
    const auto reason = [&](const char* list, const std::vector<std::string>& entries, auto entry) {
        return fmt::format("{}[{}] \"{}\" of {}", list, entry - entries.begin(), *entry,
                           escape_unprintable(settings->file));
    };
    const std::vector<std::string>& denied = settings->network.denied_domains;
    if (const auto entry = covering(denied); entry != denied.end()) {
        return {Reach::denied, reason("network.deniedDomains", denied, entry)};
    }
    const std::vector<std::string>& allowed = settings->network.allowed_domains;
    if (const auto entry = covering(allowed); entry != allowed.end()) {
        return {Reach::allowed, reason("network.allowedDomains", allowed, entry)};
    }
    return {Reach::asked, fmt::format("no line of {} names it", escape_unprintable(settings->file))};
}

} // namespace cellgate::sandbox
