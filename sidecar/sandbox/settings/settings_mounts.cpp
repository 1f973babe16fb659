#include "settings/settings_mounts.hpp"

#include "base/escape_unprintable.hpp"
#include "mounts/paths.hpp"
#include "protected/protected_mounts.hpp"
#include "sandbox/protected_files.hpp"
#include "settings/glob.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

namespace cellgate::sandbox {

namespace {

namespace fs = std::filesystem;

// As many as are searched for what is guarded.
constexpr int max_settings_entries = 200'000;
constexpr std::size_t max_matches = 500;

constexpr std::array<std::string_view, 2> own_places = {"/proc", "/dev"};
constexpr std::array<std::string_view, 3> private_scratch = {"/tmp", "/var/tmp", "/dev/shm"};
constexpr std::array<std::string_view, 2> never_shown = {"/sys", "/run"};
// Parts of them are made for the sandbox.
constexpr std::array<std::string_view, 2> shown_in_parts = {"/etc", "/var"};
constexpr std::array<std::string_view, 9> system_places = {"/usr", "/etc",   "/boot",  "/bin",   "/sbin",
                                                           "/lib", "/lib32", "/lib64", "/libx32"};
constexpr std::array<std::string_view, 5> folders_of_the_system = {"/var", "/opt", "/home", "/root", "/srv"};
// Of the home. IPython and Jupyter run what lies there.
constexpr std::array<std::string_view, 2> run_by_jupyter = {".ipython", ".jupyter"};

template <class Places>
bool is_inside(std::string_view path, const Places& places) {
    return std::any_of(places.begin(), places.end(), [&](std::string_view place) { return is_within(path, place); });
}

template <class Places>
bool is_one_of(std::string_view path, const Places& places) {
    return std::find(places.begin(), places.end(), path) != places.end();
}

// Whether `name` is one of the parts before the first wildcard.
bool names_literally(const std::string& pattern, const std::string& name) {
    for (const fs::path& part : fs::path(pattern)) {
        if (is_glob(part.native())) {
            return false;
        }
        if (part.native() == name) {
            return true;
        }
    }
    return false;
}

// "src/**" is src.
std::string_view without_all_below(std::string_view path) {
    while (path.size() > 3 && path.ends_with("/**")) {
        path.remove_suffix(3);
    }
    return path;
}

} // namespace

SettingsMounts::SettingsMounts(const Settings& settings, const ProtectedPaths& places, std::string workspace)
    : settings_(settings), places_(places), workspace_(std::move(workspace)), notices_(settings.notices),
      entries_left_(max_settings_entries) {
    for (const PathRule& rule : settings_.allow_write) {
        allow(rule, true);
    }
    for (const PathRule& rule : settings_.allow_read) {
        allow(rule, false);
    }
    std::vector<std::string> writable_roots = {workspace_};
    for (const Allowed& allowed : allowed_) {
        if (allowed.writable) {
            writable_roots.push_back(allowed.path);
        }
    }
    for (const std::string& top : writable_roots) {
        refuse_links_in(top);
    }
    // Of one place the writable entry comes last, and wins.
    std::sort(allowed_.begin(), allowed_.end(), [](const Allowed& a, const Allowed& b) {
        return fs::path(a.path) != fs::path(b.path) ? fs::path(a.path) < fs::path(b.path) : a.writable < b.writable;
    });
    for (const Allowed& allowed : allowed_) {
        links_.insert(allowed.links.begin(), allowed.links.end());
    }
    if (!workspace_is_writable()) {
        notices_.emplace_back("filesystem.allowWrite does not have the workspace (\".\"): cells can read it, and write "
                              "only what is named");
    }
}

SettingsMounts::Anchored SettingsMounts::anchored(const PathRule& rule) const {
    const std::string path(rule.literal ? rule.path : without_all_below(rule.path));
    if (path == "~" || path.starts_with("~/")) {
        if (places_.homes.empty()) {
            throw invalid(rule, "expected a home directory, found none", "Set HOME, or write the whole path.");
        }
        return {places_.homes.front(), path.substr(std::min<std::size_t>(2, path.size()))};
    }
    return path.starts_with('/') ? Anchored{"/", path.substr(1)} : Anchored{workspace_, path};
}

std::string SettingsMounts::reason(const PathRule& rule) const {
    return rule.added ? rule.where : fmt::format("{} of {}", rule.where, escape_unprintable(settings_.file));
}

std::string SettingsMounts::named(const PathRule& rule) const {
    return rule.added ? rule.where : fmt::format("{}: {}", escape_unprintable(settings_.file), rule.where);
}

void SettingsMounts::notice(const PathRule& rule, const std::string& text) {
    std::string line = fmt::format("{}: {}", rule.where, text);
    if (std::find(notices_.begin(), notices_.end(), line) == notices_.end()) {
        notices_.push_back(std::move(line));
    }
}

void SettingsMounts::add_notices(const std::vector<std::string>& notices) {
    notices_.insert(notices_.end(), notices.begin(), notices.end());
}

Error SettingsMounts::invalid(const PathRule& rule, const std::string& why, std::string hint) const {
    return Error(ErrorCode::config_invalid, fmt::format("{}: {}", named(rule), why), std::move(hint));
}

bool SettingsMounts::find(const PathRule& rule, const std::string& path, Allowed& found) {
    try {
        found.links.clear();
        found.path = canonical_path(path, rule.where, found.links);
    } catch (const Error&) {
        return false; // not there, or not for this user: then not for the cell either
    }
    return true;
}

void SettingsMounts::allow(const PathRule& rule, bool writable) {
    const Anchored where = anchored(rule);
    std::vector<std::string> paths = {where.path()};
    const bool glob = !writable && !rule.literal && is_glob(where.rest);
    if (glob) {
        const auto everywhere = [](const std::string&) { return true; };
        paths = expand_glob(where.base, where.rest, everywhere, entries_left_, max_matches);
    }
    bool any = false;
    for (const std::string& each : paths) {
        Allowed asked;
        asked.rule = &rule;
        asked.writable = writable;
        asked.exact = !glob;
        if (find(rule, each, asked)) {
            any = true;
            if (accepts(asked)) {
                allowed_.push_back(std::move(asked));
            }
        }
    }
    if (!any) {
        notice(rule, writable && is_glob(rule.path)
                         ? "skipped: it does not exist (what is writable is named without wildcards)"
                         : "skipped: it does not exist");
    }
}

bool SettingsMounts::accepts(const Allowed& asked) {
    const PathRule& rule = *asked.rule;
    const std::string& path = asked.path;
    if (is_one_of(path, private_scratch)) {
        notice(rule, "the sandbox has an empty one of its own, writable; that of the machine is not shown");
        return false;
    }
    if (is_inside(path, own_places)) {
        notice(rule, "the sandbox has its own; that of the machine is not shown");
        return false;
    }
    if (path == "/" || is_inside(path, never_shown) || is_one_of(path, shown_in_parts)) {
        throw invalid(rule, "it cannot be shown to a cell", "Name the folders or files that are meant.");
    }
    const std::string what = named(rule) + ":";
    refuse_if_private(path, what, places_, "Name the folders in it that are meant.");
    if (asked.writable && (is_inside(path, system_places) || is_one_of(path, folders_of_the_system))) {
        throw invalid(rule, "it is the system's, and programs outside of the sandbox run what lies there",
                      "Name a folder that holds your own data only.");
    }
    const fs::file_type type = fs::status(path).type();
    if (type != fs::file_type::directory && type != fs::file_type::regular) {
        throw invalid(rule,
                      "expected a folder or a file, found something else: through a socket or a device, programs "
                      "outside of the sandbox are reached",
                      "Remove it.");
    }
    for (const std::string& home : places_.homes) {
        for (const std::string_view name : run_by_jupyter) {
            if (asked.writable && is_within(path, fmt::format("{}/{}", home, name))) {
                notice(rule, "the sandbox has an empty one of its own, writable: programs outside run the files in "
                             "yours");
                return false;
            }
        }
    }
    const bool in_workspace = is_within(path, workspace_);
    const fs::path parts = in_workspace ? fs::path(path).lexically_relative(workspace_) : fs::path(path);
    for (const fs::path& part : parts) {
        const std::string name = part.string();
        const bool secret = is_secret_name(name);
        if (asked.writable && (secret || is_auto_run_name(name))) {
            notice(rule, fmt::format("{} stays guarded, so it cannot be written: {}", escape_unprintable(name),
                                     secret ? "it is a secret, by its name"
                                            : "programs outside of the sandbox run or obey it"));
            return false;
        }
        if (secret && !asked.exact && !names_literally(rule.path, name)) {
            notice(rule, "secrets that it matches stay hidden: they are shown only by their whole names");
            return false;
        }
    }
    if (asked.writable && is_within(path, workspace_ + "/mcptools")) {
        notice(rule, "mcptools stays guarded, so it cannot be written: it is what calls tools");
        return false;
    }
    return true;
}

void SettingsMounts::refuse_links_in(const std::string& top) {
    std::erase_if(allowed_, [&](const Allowed& allowed) {
        const auto link = std::find_if(allowed.links.begin(), allowed.links.end(),
                                       [&](const auto& each) { return is_within(each.first, top); });
        if (link == allowed.links.end()) {
            return false;
        }
        if (allowed.exact) {
            throw invalid(*allowed.rule,
                          fmt::format("it goes through the link '{}', which a cell may have made",
                                      escape_unprintable(link->first)),
                          fmt::format("If '{}' is meant, write that.", escape_unprintable(allowed.path)));
        }
        notice(*allowed.rule,
               fmt::format("skipped '{}': a link that a cell may have made", escape_unprintable(link->first)));
        return true;
    });
}

bool SettingsMounts::workspace_is_writable() const {
    return std::any_of(allowed_.begin(), allowed_.end(),
                       [this](const Allowed& each) { return each.writable && is_within(workspace_, each.path); });
}

std::vector<std::string> SettingsMounts::writable_roots() const {
    std::vector<std::string> writable_roots;
    for (const Allowed& allowed : allowed_) {
        writable_roots.push_back(allowed.path);
    }
    return writable_roots;
}

void SettingsMounts::show(MountPlan& plan) {
    for (const Allowed& allowed : allowed_) {
        const Mount* there = plan.at(allowed.path);
        const bool shown = there != nullptr && there->shows_machine();
        const bool hidden = there != nullptr && there->is_hidden();
        if (hidden || (shown && (there->writable || !allowed.writable))) {
            continue;
        }
        if (shown && there->reason.cause == Cause::guard) {
            notice(*allowed.rule,
                   fmt::format("{} stays guarded, so it cannot be written", escape_unprintable(there->place)));
            continue;
        }
        add_notices(
            show_guarded(plan, allowed.path, allowed.writable, {reason(*allowed.rule), Cause::user}, places_.homes));
    }
    for (const Allowed& allowed : allowed_) {
        unhide(plan, allowed);
    }
}

void SettingsMounts::unhide(MountPlan& plan, const Allowed& allowed) {
    const Mount* there = plan.at(allowed.path);
    if (there == nullptr || !there->is_hidden()) {
        return;
    }
    if (!allowed.exact || allowed.writable) {
        notice(*allowed.rule, fmt::format("{} stays hidden: a secret, by its name", escape_unprintable(there->place)));
        return;
    }
    if (there->place == allowed.path) {
        plan.remove(allowed.path);
    } else {
        plan.open_passage(there->place);
    }
    add_notices(show_guarded(plan, allowed.path, false, {reason(*allowed.rule), Cause::user}, places_.homes));
}

void SettingsMounts::hide(MountPlan& plan, const std::vector<std::string>& needed) {
    std::map<fs::path, const PathRule*> hidden; // parents first
    for (const PathRule& rule : settings_.deny_read) {
        for (const std::string& path : matches(plan, rule, needed)) {
            Allowed found;
            if (find(rule, path, found)) {
                hidden.emplace(found.path, &rule);
            }
        }
    }
    for (const auto& [path, rule] : hidden) {
        hide_one(plan, path, *rule, needed);
    }
    forbid_writing(plan);
}

std::vector<std::string> SettingsMounts::matches(MountPlan& plan, const PathRule& rule,
                                                 const std::vector<std::string>& needed) {
    const Anchored where = anchored(rule);
    if (rule.literal || !is_glob(where.rest)) {
        return {where.path()};
    }
    bool left_out = false;
    const auto enter = [&](const std::string& folder) {
        const Mount* there = plan.at(folder);
        if (there != nullptr && std::find(needed.begin(), needed.end(), there->place) != needed.end()) {
            left_out = true;
            return false;
        }
        const std::vector<fs::path> below = plan.places_below(folder);
        return plan.shows(folder) ||
               std::any_of(below.begin(), below.end(), [&](const fs::path& place) { return plan.shows(place); });
    };
    std::vector<std::string> found = expand_glob(where.base, where.rest, enter, entries_left_, max_matches);
    if (left_out) {
        notice(rule, "not looked for among the files of the system and the interpreter, which stay readable");
    }
    return found;
}

void SettingsMounts::forbid_writing(MountPlan& plan) {
    for (const PathRule& rule : settings_.deny_write) {
        const Anchored where = anchored(rule);
        Allowed found;
        if (find(rule, where.path(), found)) {
            plan.set_reason({reason(rule), Cause::user});
            plan.forbid_writing(found.path);
            continue;
        }
        std::string path = fs::path(where.path()).lexically_normal();
        if (path.size() > 1 && path.ends_with('/')) {
            path.pop_back();
        }
        if (const Mount* there = plan.at(path); there != nullptr && there->writable) {
            notice(rule, is_glob(rule.path)
                             ? "nothing is guarded by it: it is taken without wildcards, and there is no such file"
                             : "nothing is guarded by it: it does not exist, and a cell may make it");
        }
    }
}

SettingsMounts::Exceptions SettingsMounts::allowed_within(const MountPlan& plan, const std::string& path) const {
    Exceptions exceptions;
    for (const Allowed& allowed : allowed_) {
        if (plan.shows(allowed.path) && allowed.path != path && is_within(allowed.path, path)) {
            exceptions[allowed.path] = &allowed;
        }
    }
    return exceptions;
}

bool SettingsMounts::contain(const Exceptions& exceptions, const std::string& place) {
    return std::any_of(exceptions.begin(), exceptions.end(),
                       [&](const auto& each) { return is_within(place, each.first); });
}

void SettingsMounts::show_again(MountPlan& plan, const Exceptions& exceptions,
                                const std::map<std::string, bool>& rebound) const {
    for (const auto& [place, writable] : rebound) {
        const Allowed* allowed = exceptions.at(place);
        plan.set_reason(allowed == nullptr ? Reason{"needed for anything to run"}
                                           : Reason{reason(*allowed->rule), Cause::user});
        if (writable) {
            plan.read_write(place);
        } else {
            plan.read_only(place);
        }
    }
}

void SettingsMounts::hide_one(MountPlan& plan, const std::string& path, const PathRule& rule,
                              const std::vector<std::string>& needed) {
    Exceptions inside = allowed_within(plan, path);
    if (is_within(workspace_, path) && !contain(inside, workspace_)) {
        throw invalid(rule, fmt::format("it hides the workspace '{}' itself", escape_unprintable(workspace_)),
                      "Add \".\" to filesystem.allowRead, or to allowWrite, if only what is around it is meant.");
    }
    std::vector<std::string> kept;
    for (const std::string& place : needed) {
        if (is_within(place, path) && !contain(inside, place)) {
            kept.push_back(place);
        }
    }
    if (!kept.empty()) {
        notice(rule, fmt::format("{}{} stays readable: nothing runs without it", escape_unprintable(kept.front()),
                                 kept.size() == 1 ? "" : fmt::format(", as {} more,", kept.size() - 1)));
    }
    if (!plan.shows(path) || std::find(kept.begin(), kept.end(), path) != kept.end()) {
        return;
    }
    for (const std::string& place : kept) {
        inside[place] = nullptr;
    }
    std::map<std::string, bool> rebound; // what the place itself showed, and has to be mounted again
    for (const auto& [place, allowed] : inside) {
        const Mount* there = plan.at(place);
        if (there->place != place) {
            rebound[place] = allowed != nullptr && allowed->writable && there->writable;
        }
    }
    for (const fs::path& place : plan.places_below(path)) {
        if (!contain(inside, place)) {
            plan.remove(place);
        }
    }
    plan.set_reason({reason(rule), Cause::user});
    if (fs::is_directory(path)) {
        plan.hide_directory(path);
    } else {
        plan.hide_file(path);
    }
    if (!inside.empty()) {
        plan.open_passage(path);
    }
    show_again(plan, inside, rebound);
}

} // namespace cellgate::sandbox
