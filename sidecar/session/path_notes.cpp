#include "path_notes.hpp"

#include "base/error.hpp"
#include "base/visible_text.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <regex>

namespace cellgate::session {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_text = 10'000; // two paths of the system's longest

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
        const sandbox::Sight sight = sandbox::explain_paths(profile, sandbox.environment, {path}).paths.front().sight;
        return sight == sandbox::Sight::read_write || (use == Use::reading && sight == sandbox::Sight::read_only);
    } catch (const Error&) {
        return false;
    }
}

bool offer(const StartedSandbox& sandbox, protocol::Note& note, Use use, const std::string& path) {
    if (!would_be_granted(sandbox, use, path)) {
        return false;
    }
    note.remedy = fmt::format("allow {} {}: restarts the kernel", use == Use::reading ? "reading" : "writing",
                              visible_text(path));
    protocol::SandboxAdditions& additions = note.sandbox.emplace();
    (use == Use::reading ? additions.allow_read : additions.allow_write) = std::vector<std::string>{path};
    return true;
}

std::optional<protocol::Note> note_of_absent(const StartedSandbox& sandbox, const sandbox::PathExplanation& explained) {
    // What was to be made has at least a folder outside.
    const fs::path path = explained.path;
    const bool exists = is_there(path);
    const fs::path missing = exists ? path : path.parent_path();
    protocol::Note note;
    note.text = fmt::format("{} is not shown in the sandbox: {}", visible_text(missing.string()),
                            visible_text(explained.reason));
    if (is_there(missing) && offer(sandbox, note, exists ? Use::reading : Use::writing, missing)) {
        return note;
    }
    return std::nullopt;
}

protocol::Note note_of_guarded_name(const sandbox::PathExplanation& explained) {
    protocol::Note note;
    note.text = fmt::format("{} cannot be made in the sandbox: programs outside of it would run or obey it",
                            visible_text(explained.path));
    note.remedy = "make it outside of the sandbox";
    return note;
}

protocol::Note note_of_unreadable(const StartedSandbox& sandbox, const sandbox::PathExplanation& explained) {
    protocol::Note note;
    note.text = fmt::format("{} cannot be read in the sandbox: {}", visible_text(explained.path),
                            visible_text(explained.reason));
    if (!offer(sandbox, note, Use::reading, explained.path)) {
        note.remedy = "change that line of the settings, and restart the session";
    }
    return note;
}

protocol::Note note_of_read_only(const StartedSandbox& sandbox, const sandbox::PathExplanation& explained) {
    protocol::Note note;
    note.text = fmt::format("{} can be read in the sandbox, not written: {}", visible_text(explained.path),
                            visible_text(explained.reason));
    if (explained.cause == sandbox::Cause::house) {
        note.remedy = "write into the workspace or, for this session only, into /tmp or the home";
    } else if (!offer(sandbox, note, Use::writing, explained.path)) {
        note.remedy = "change it outside of the sandbox";
    }
    return note;
}

} // namespace

std::vector<std::string> paths_in_error(const std::string& evalue) {
    static const std::regex os_error(
        R"re(^\[Errno \d+\] [^:'"]+: (?:'([^'\\]+)'|"([^"\\]+)")(?: -> (?:'([^'\\]+)'|"([^"\\]+)"))?$)re");
    std::vector<std::string> paths;
    std::smatch found;
    if (evalue.size() <= longest_text && evalue.starts_with("[Errno ") && std::regex_match(evalue, found, os_error)) {
        for (std::size_t i = 1; i < found.size(); ++i) {
            if (found[i].matched) {
                paths.push_back(found[i]);
            }
        }
    }
    return paths;
}

std::optional<protocol::Note> note_of_path(const StartedSandbox& sandbox, const std::string& path, bool for_person) {
    const sandbox::PathExplanation explained = sandbox::explain_path(*sandbox.mounts, sandbox.environment, path);
    if (explained.cause == sandbox::Cause::machine) {
        return std::nullopt;
    }
    switch (explained.sight) {
    case sandbox::Sight::absent:
        if (explained.cause == sandbox::Cause::guard) {
            return note_of_guarded_name(explained);
        }
        return for_person ? note_of_absent(sandbox, explained) : std::nullopt;
    case sandbox::Sight::unreadable:
        return note_of_unreadable(sandbox, explained);
    case sandbox::Sight::read_only:
        return note_of_read_only(sandbox, explained);
    default:
        return std::nullopt;
    }
}

} // namespace cellgate::session
