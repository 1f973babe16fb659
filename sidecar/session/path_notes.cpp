#include "path_notes.hpp"

#include "base/error.hpp"
#include "base/escape_unprintable.hpp"
#include "protocol/code_advice.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>

namespace cellgate::session {

namespace {

namespace fs = std::filesystem;

constexpr const char* can_write_instead = "{}write into the workspace or, for this session only, into /tmp or the home";

enum class Use { reading, writing };

bool is_there(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(fs::symlink_status(path, ignored));
}

// Whether a restart with it would show the path so.
bool would_be_granted(const StartedSandbox& sandbox, Use use, const std::string& path) {
    sandbox::Additions additions = sandbox.additions;
    (use == Use::reading ? additions.allow_read : additions.allow_write).push_back(path);
    sandbox::Profile profile = sandbox.profile;
    profile.settings = sandbox::with_additions(sandbox.file, additions);
    try {
        const sandbox::Visibility visibility =
            sandbox::explain_paths(profile, sandbox.environment, {path}).paths.front().visibility;
        return visibility == sandbox::Visibility::read_write ||
               (use == Use::reading && visibility == sandbox::Visibility::read_only);
    } catch (const Error&) {
        return false;
    }
}

bool offer(const StartedSandbox& sandbox, protocol::Note& note, Use use, const std::string& path) {
    if (!would_be_granted(sandbox, use, path)) {
        return false;
    }
    note.remedy = fmt::format("allow {} {}: restarts the kernel", use == Use::reading ? "reading" : "writing",
                              escape_unprintable(path));
    protocol::SandboxAdditions& additions = note.sandbox.emplace();
    (use == Use::reading ? additions.allow_read : additions.allow_write) = std::vector<std::string>{path};
    return true;
}

// Of a path that exists outside, and may be had from there; or of one that does not, in a folder that does.
std::optional<protocol::Note> note_of_absent(const StartedSandbox& sandbox, const sandbox::PathExplanation& explained) {
    const fs::path path = explained.path;
    protocol::Note note;
    if (is_there(path)) {
        note.text = fmt::format("{} is not shown in the sandbox: {}", escape_unprintable(path.string()),
                                escape_unprintable(explained.reason));
        return offer(sandbox, note, Use::reading, path) ? std::optional(std::move(note)) : std::nullopt;
    }
    const std::string folder = path.parent_path();
    const bool hidden =
        sandbox::explain_path(*sandbox.mounts, sandbox.environment, folder).visibility == sandbox::Visibility::absent;
    if (!hidden || !is_there(folder)) {
        return std::nullopt;
    }
    note.text = fmt::format("{} does not exist, and its folder is not shown in the sandbox: {}",
                            escape_unprintable(path.string()), escape_unprintable(explained.reason));
    note.remedy = "check the name; what a cell makes belongs into the workspace";
    return note;
}

// The same for what exists and for what does not, so an agent cannot list the user's files with it.
protocol::Note note_of_outside(const StartedSandbox& sandbox, const sandbox::PathExplanation& explained) {
    const std::string folder = fs::path(explained.path).parent_path();
    const bool is_own =
        sandbox::explain_path(*sandbox.mounts, sandbox.environment, folder).visibility == sandbox::Visibility::own;
    const std::string why =
        is_own ? "its folder is the sandbox's own, and was empty when the kernel started" : explained.reason;
    protocol::Note note;
    note.text =
        fmt::format("{} is not in the sandbox: {}", escape_unprintable(explained.path), escape_unprintable(why));
    note.remedy =
        fmt::format("{}use files of the workspace, {}; your user can copy one there, or allow reading it in the "
                    "sandbox's settings",
                    protocol::code_advice, escape_unprintable(sandbox.profile.workspace));
    return note;
}

// A new file in a folder that can only be read.
std::optional<protocol::Note> note_of_new(const StartedSandbox& sandbox, const sandbox::PathExplanation& explained) {
    const sandbox::PathExplanation folder =
        sandbox::explain_path(*sandbox.mounts, sandbox.environment, fs::path(explained.path).parent_path());
    if (folder.visibility != sandbox::Visibility::read_only || folder.cause == sandbox::Cause::machine) {
        return std::nullopt;
    }
    protocol::Note note;
    note.text = fmt::format("{} cannot be made in the sandbox, where its folder can be read, not written: {}",
                            escape_unprintable(explained.path), escape_unprintable(folder.reason));
    note.remedy = fmt::format(can_write_instead, protocol::code_advice);
    return note;
}

protocol::Note note_of_guarded_name(const sandbox::PathExplanation& explained) {
    protocol::Note note;
    note.text = fmt::format("{} cannot be made in the sandbox: programs outside of it would run or obey it",
                            escape_unprintable(explained.path));
    note.remedy = "make it outside of the sandbox";
    return note;
}

protocol::Note note_of_unreadable(const StartedSandbox& sandbox, const sandbox::PathExplanation& explained) {
    protocol::Note note;
    note.text = fmt::format("{} cannot be read in the sandbox: {}", escape_unprintable(explained.path),
                            escape_unprintable(explained.reason));
    if (!offer(sandbox, note, Use::reading, explained.path)) {
        note.remedy = "change the session's sandbox settings, and restart it";
    }
    return note;
}

protocol::Note note_of_read_only(const StartedSandbox& sandbox, const sandbox::PathExplanation& explained) {
    protocol::Note note;
    note.text = fmt::format("{} can be read in the sandbox, not written: {}", escape_unprintable(explained.path),
                            escape_unprintable(explained.reason));
    if (explained.cause == sandbox::Cause::baseline) {
        note.remedy = fmt::format(can_write_instead, protocol::code_advice);
    } else if (!offer(sandbox, note, Use::writing, explained.path)) {
        note.remedy = "change it outside of the sandbox";
    }
    return note;
}

} // namespace

std::optional<protocol::Note> note_of_path(const StartedSandbox& sandbox, const FailedPath& failed, bool for_user) {
    const sandbox::PathExplanation explained = sandbox::explain_path(*sandbox.mounts, sandbox.environment, failed.path);
    const bool wrote = failed.error == EROFS || failed.error == EACCES || failed.error == EPERM;
    switch (explained.visibility) {
    case sandbox::Visibility::absent:
        if (explained.cause == sandbox::Cause::guard) {
            return wrote ? std::optional(note_of_guarded_name(explained)) : std::nullopt;
        }
        if (explained.cause == sandbox::Cause::machine) {
            return wrote ? note_of_new(sandbox, explained) : std::nullopt;
        }
        return for_user ? note_of_absent(sandbox, explained) : note_of_outside(sandbox, explained);
    case sandbox::Visibility::unreadable:
        return explained.cause == sandbox::Cause::machine ? std::nullopt
                                                          : std::optional(note_of_unreadable(sandbox, explained));
    case sandbox::Visibility::read_only:
        return wrote && explained.cause != sandbox::Cause::machine
                   ? std::optional(note_of_read_only(sandbox, explained))
                   : std::nullopt;
    default:
        return std::nullopt;
    }
}

} // namespace cellgate::session
