#pragma once
// `SettingsMounts` are the changes that a settings file makes to the file system of a kernel's sandbox, which shows
// less than srt's by default.
//
// allowRead and allowWrite show further places, with their protected files kept; denyRead hides, denyWrite makes
// read-only. Of two entries for reading the deeper one counts, and of two for the same place the one that denies; for
// writing, denying always counts. The workspace is writable if allowWrite has it. allowRead, when it names a secret
// exactly, shows it. What would break a promise of the sandbox (cellgate's own directories, the home as a whole, the
// system's files, sockets of /run) is an error; what is protected anyway stays so, and a notice says it. Writable
// places and denyWrite are literal; "x/**" is x everywhere.
//
// A cell may exchange files in a place that it can write, so an allowed path is never resolved through a link from
// there.

#include "base/error.hpp"
#include "mounts/mount_plan.hpp"
#include "protected/protected_paths.hpp"
#include "sandbox/settings.hpp"

#include <map>
#include <string>
#include <vector>

namespace cellgate::sandbox {

class SettingsMounts {
  public:
    // All canonical; `settings` outlives it. Throws Error{config_invalid, sandbox_unavailable}.
    SettingsMounts(const Settings& settings, const ProtectedPaths& places, std::string workspace);

    bool workspace_is_writable() const;
    // Once the workspace is planned. Throws as the constructor does.
    void show(MountPlan& plan);
    // `needed`: what has to be seen for anything to run, the interpreter for one; it stays. Throws as the constructor
    // does, also for settings that hide the workspace.
    void hide(MountPlan& plan, const std::vector<std::string>& needed);

    // The places that were shown.
    std::vector<std::string> writable_roots() const;
    const std::vector<std::string>& notices() const { return notices_; }
    // Symlinks on the way to them: where they lie, what they hold.
    const std::map<std::string, std::string>& links() const { return links_; }

  private:
    using Links = std::map<std::string, std::string>;

    struct Allowed {
        std::string path;
        const PathRule* rule = nullptr;
        bool writable = false;
        bool exact = true; // no wildcard found it
        Links links;
    };

    struct Anchored {
        std::string base; // canonical: the root, the workspace or the home
        std::string rest; // may be empty
        std::string path() const { return base + "/" + rest; }
    };

    Anchored anchored(const PathRule& rule) const;
    std::string reason(const PathRule& rule) const;
    std::string named(const PathRule& rule) const; // in an error
    void notice(const PathRule& rule, const std::string& text);
    void add_notices(const std::vector<std::string>& notices);
    Error invalid(const PathRule& rule, const std::string& why, std::string hint) const;
    static bool find(const PathRule& rule, const std::string& path, Allowed& found);
    void allow(const PathRule& rule, bool writable);
    bool accepts(const Allowed& asked);
    // `top` is a place that cells may write.
    void refuse_links_in(const std::string& top);
    void unhide(MountPlan& plan, const Allowed& allowed);
    std::vector<std::string> matches(MountPlan& plan, const PathRule& rule, const std::vector<std::string>& needed);
    void forbid_writing(MountPlan& plan);
    // What stays visible within a hidden path; nullptr: what is needed for anything to run.
    using Exceptions = std::map<std::string, const Allowed*>;
    Exceptions allowed_within(const MountPlan& plan, const std::string& path) const;
    static bool contain(const Exceptions& exceptions, const std::string& place);
    // Those that the hidden path itself showed, and whether for writing.
    void show_again(MountPlan& plan, const Exceptions& exceptions, const std::map<std::string, bool>& rebound) const;
    void hide_one(MountPlan& plan, const std::string& path, const PathRule& rule,
                  const std::vector<std::string>& needed);

    const Settings& settings_;
    const ProtectedPaths& places_;
    std::string workspace_;
    std::vector<Allowed> allowed_; // parents first
    std::vector<std::string> notices_;
    Links links_;
    int entries_left_;
};

} // namespace cellgate::sandbox
