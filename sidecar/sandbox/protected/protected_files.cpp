#include "sandbox/protected_files.hpp"

#include "base/error.hpp"
#include "base/escape_unprintable.hpp"
#include "base/text.hpp"
#include "mounts/paths.hpp"
#include "mounts/symlink_chain.hpp"
#include "protected/git_references.hpp"
#include "protected/hard_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>
#include <set>
#include <utility>

namespace cellgate::sandbox {

namespace {

namespace fs = std::filesystem;

// About half a second of looking, at most.
constexpr int max_entries = 200'000;
// No cell makes any there. What lies deeper in a larger one is not looked at.
constexpr int max_entries_in_protected = 100'000;

constexpr std::array secret_names = {".envrc", ".netrc", ".pgpass", ".pypirc", ".git-credentials", ".ssh",      ".aws",
                                     ".gnupg", ".kube",  "id_rsa",  "id_dsa",  "id_ecdsa",         "id_ed25519"};
constexpr std::array secret_suffixes = {".pem", ".key", ".p12", ".pfx"};
constexpr std::array example_suffixes = {".example", ".sample", ".template", ".dist"};

constexpr std::string_view workspace_of_editor = ".code-workspace";
constexpr std::string_view run_or_obeyed[] = {
    // version control: whole, as a new .git/commondir alone moves hooks and config elsewhere
    ".git", ".gitmodules", ".gitconfig", ".hg", ".jj", ".sl",
    // what its hooks run
    ".githooks", ".husky", ".pre-commit-config.yaml", ".lefthook", ".lefthook-local", "lefthook.yml", ".lefthook.yml",
    "lefthook-local.yml", ".lefthook-local.yml", "lefthook.yaml", "lefthook.toml", "lefthook.json", ".overcommit.yml",
    // editors
    ".vscode", "*.code-workspace", ".idea", ".zed", ".fleet", ".devcontainer", ".devcontainer.json", ".exrc", ".vimrc",
    ".nvimrc", ".nvim.lua", ".lvimrc", ".dir-locals.el", ".dir-locals-2.el",
    // agents
    ".mcp.json", ".claude", ".cursor", ".gemini", ".codex", ".qwen", ".opencode", "opencode.json", "opencode.jsonc",
    ".crush.json", ".aider.conf.yml", ".continue", ".windsurf", ".kiro", ".roo", ".amazonq", ".augment", ".junie",
    // shells and what hooks into them
    ".envrc", ".direnv", "mise.toml", ".mise.toml", "mise.local.toml", ".mise.local.toml", ".mise", ".tool-versions",
    ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zprofile", ".zshenv", ".zlogin",
    ".zlogout", ".ripgreprc",
    // programs that run what they find where they are started
    ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", "bunfig.toml", ".cargo", ".gdbinit", ".lldbinit", ".pdbrc",
    ".rprofile", "jupyter_config.py", "jupyter_config.json", "jupyter_server_config.py", "jupyter_server_config.json",
    "jupyter_notebook_config.py", "jupyter_notebook_config.json", "jupyter_lab_config.py", "jupyter_lab_config.json"};

// Large, and never the work of a user. By their names alone: no file that a cell adds may keep us from looking.
bool is_not_searched(std::string_view name) {
    return name == ".git" || name == ".hg" || name == ".jj" || name == ".sl" || name == "node_modules" ||
           name == "__pycache__" || name == "site-packages";
}

template <class Names>
bool contains(const Names& names, std::string_view name) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

template <class Suffixes>
bool has_suffix(const Suffixes& suffixes, std::string_view name) {
    return std::any_of(suffixes.begin(), suffixes.end(),
                       [&](std::string_view suffix) { return name.ends_with(suffix); });
}

// What version control keeps of the files themselves, which nothing runs or follows, and of which there are many.
bool is_store(const fs::path& folder, std::string_view name) {
    if (name == "store") {
        const fs::path above = folder.filename();
        return above == ".hg" || above == ".sl" || above == "repo";
    }
    std::error_code ignored;
    return (name == "objects" || name == "refs" || name == "logs" || name == "lfs" || name == "annex") &&
           fs::exists(folder / "HEAD", ignored);
}

class Search {
  public:
    Search(std::string top, std::vector<std::string> also_obeyed)
        : top_(std::move(top)), also_obeyed_(std::move(also_obeyed)) {}

    void walk();
    // What else is to be guarded by what was found: looked for in guarded folders, and under other names.
    void complete(const std::vector<std::string>& homes);
    ProtectedFiles found() &&;

  private:
    struct Folder {
        fs::path path;
        bool of_environment = false;
    };
    void inspect(const fs::directory_entry& entry, bool of_environment);
    void guard(const std::string& path);
    void hide(const std::string& path);
    std::string obey(const std::string& folder, const std::string& text, bool file_only = false);
    void obey_repository(const std::string& repository);
    bool has_protected_name(const std::string& path) const;
    void obey_link(const fs::path& link);
    void look_inside(const std::string& folder);
    void inspect_secrets(const std::string& folder);
    bool is_guarded_already(const std::string& path) const;

    std::string top_;
    std::vector<std::string> also_obeyed_;
    ProtectedFiles found_;
    std::deque<Folder> folders_;
    std::set<std::string> guarded_; // with all that is below
    std::deque<std::string> to_look_inside_;
    std::vector<std::string> repositories_; // what is named .git
    HardLinkIndex other_names_of_secrets_;
    HardLinkIndex other_names_of_guarded_;
    int entries_left_in_protected_ = max_entries_in_protected;
};

void Search::walk() {
    folders_ = {{top_}};
    int entries_left = max_entries;
    while (!folders_.empty()) {
        const Folder folder = std::move(folders_.front());
        folders_.pop_front();
        std::error_code error;
        // A directory that we cannot list, the kernel cannot list either.
        for (fs::directory_iterator entry(folder.path, error), end; !error && entry != end; entry.increment(error)) {
            if (--entries_left < 0) {
                throw Error(ErrorCode::sandbox_unavailable,
                            fmt::format("expected at most {} files and folders in {}, found more: its "
                                        "secrets cannot all be found and hidden",
                                        max_entries, top_),
                            "Make a folder further down the root, or move bulk data out of it; without a sandbox "
                            "(sandbox: false, --no-sandbox) nothing is hidden.");
            }
            inspect(*entry, folder.of_environment);
        }
    }
}

void Search::inspect(const fs::directory_entry& entry, bool of_environment) {
    const std::string name = entry.path().filename().string();
    std::error_code ignored;
    const bool is_link = entry.is_symlink(ignored);
    const bool is_folder = !is_link && entry.is_directory(ignored);
    const bool is_environment = is_folder && fs::exists(entry.path() / "pyvenv.cfg", ignored);
    if (is_environment && guarded_.insert(entry.path().string()).second) {
        found_.read_only.push_back(entry.path().string());
    }
    const bool named_as_environment = is_environment && name.starts_with(".env");
    const bool secret = is_secret_name(name) && !named_as_environment;
    const bool obeyed = is_auto_run_name(name) || contains(also_obeyed_, entry.path().native());
    if (is_link && (obeyed || of_environment)) {
        obey_link(entry.path());
    }
    if (secret) {
        const std::string place = is_link ? resolve_symlinks(top_, entry.path().string()).end : entry.path().string();
        if (place != top_ && is_within(place, top_)) {
            hide(place);
        }
    } else if (obeyed && !is_link) {
        guard(entry.path().string());
    }
    if (name == ".git") {
        repositories_.push_back(entry.path().string());
    }
    if (is_folder && !secret && !is_not_searched(name)) {
        folders_.push_back({entry.path(), of_environment || is_environment});
    }
}

bool Search::is_guarded_already(const std::string& path) const {
    for (fs::path each = path; each != each.parent_path(); each = each.parent_path()) {
        if (guarded_.contains(each.string())) {
            return true;
        }
    }
    return false;
}

void Search::guard(const std::string& path) {
    if (!is_guarded_already(path)) {
        guarded_.insert(path);
        found_.read_only.push_back(path);
        to_look_inside_.push_back(path);
    }
}

void Search::hide(const std::string& path) {
    std::error_code ignored;
    const bool is_folder = fs::is_directory(path, ignored);
    (is_folder ? found_.secret_directories : found_.secret_files).push_back(path);
    if (is_folder) {
        inspect_secrets(path);
    } else {
        other_names_of_secrets_.of(path);
    }
}

void Search::inspect_secrets(const std::string& folder) {
    std::error_code error;
    for (fs::recursive_directory_iterator entry(folder, error), end;
         !error && entry != end && entries_left_in_protected_-- > 0; entry.increment(error)) {
        other_names_of_secrets_.of(entry->path());
    }
}

// Returns what it resolves to, or would, in the workspace; nothing for other places.
std::string Search::obey(const std::string& folder, const std::string& text, bool file_only) {
    const SymlinkChain trail = resolve_symlinks(folder, text);
    std::error_code ignored;
    if (file_only && (trail.end.empty() || !fs::is_regular_file(trail.end, ignored))) {
        return {};
    }
    for (const auto& [link, target] : trail.links) {
        found_.places.insert(link);
    }
    if (!trail.missing.empty()) {
        found_.places.insert(trail.missing);
    }
    // What holds the workspace is not within its cells' reach, or cannot be kept from them.
    if (trail.end.empty() || is_within(top_, trail.end)) {
        return is_within(trail.missing, top_) ? trail.missing : std::string();
    }
    found_.places.insert(trail.end);
    if (!is_within(trail.end, top_)) {
        return {};
    }
    guard(trail.end);
    return trail.end;
}

void Search::obey_link(const fs::path& link) {
    obey(link.parent_path().string(), link.filename().string());
}

void Search::look_inside(const std::string& folder) {
    std::deque<fs::path> folders = {folder};
    while (!folders.empty()) {
        const fs::path each = std::move(folders.front());
        folders.pop_front();
        std::error_code error;
        for (fs::directory_iterator entry(each, error), end; !error && entry != end && entries_left_in_protected_-- > 0;
             entry.increment(error)) {
            const std::string name = entry->path().filename().string();
            std::error_code ignored;
            if (entry->is_symlink(ignored)) {
                obey_link(entry->path());
            } else if (!entry->is_directory(ignored)) {
                other_names_of_guarded_.of(entry->path());
            } else if (!is_not_searched(name) && !is_store(each, name)) {
                folders.push_back(entry->path());
            }
        }
    }
}

bool Search::has_protected_name(const std::string& path) const {
    const fs::path below = fs::path(path).lexically_relative(top_);
    return std::any_of(below.begin(), below.end(),
                       [](const fs::path& part) { return is_auto_run_name(part.native()); });
}

void Search::obey_repository(const std::string& repository) {
    const std::string place = resolve_symlinks(top_, repository).end;
    std::set<std::string> unlisted;
    for (const GitReference& reference : find_git_references(place, fs::path(repository).parent_path())) {
        const std::string target = obey(reference.folder, reference.path, reference.file_only);
        if (!target.empty() && !has_protected_name(target)) {
            unlisted.insert(target);
        }
    }
    if (!unlisted.empty()) {
        const std::string more = unlisted.size() == 1 ? "" : fmt::format(" and {} more", unlisted.size() - 1);
        found_.notices.push_back(
            fmt::format("{} makes git run or obey {}{}: protected as it is now, and not by its name",
                        escape_unprintable(repository), escape_unprintable(*unlisted.begin()), more));
    }
}

void Search::complete(const std::vector<std::string>& homes) {
    for (const std::string& repository : repositories_) {
        obey_repository(repository);
    }
    while (!to_look_inside_.empty()) {
        const std::string path = std::move(to_look_inside_.front());
        to_look_inside_.pop_front();
        other_names_of_guarded_.of(path);
        look_inside(path);
    }
    for (const std::string& home : homes) {
        other_names_of_secrets_.of_secrets_in(home);
    }
    for (std::string& name : other_names_of_secrets_.find_in(top_)) {
        found_.secret_files.push_back(std::move(name));
    }
    for (std::string& name : other_names_of_guarded_.find_in(top_)) {
        guard(name);
    }
}

ProtectedFiles Search::found() && {
    // What can be removed at its place only, or not be made there: not the inside of what is read-only as a whole.
    std::erase_if(found_.places,
                  [this](const std::string& place) { return !guarded_.contains(place) && is_guarded_already(place); });
    return std::move(found_);
}

} // namespace

bool is_secret_name(std::string_view name) {
    if (name.starts_with(".env")) {
        return !has_suffix(example_suffixes, name);
    }
    return contains(secret_names, name) || has_suffix(secret_suffixes, name);
}

bool is_auto_run_name(std::string_view name) {
    static const std::set<std::string_view> whole(std::begin(run_or_obeyed), std::end(run_or_obeyed));
    const std::string lowered = lower(name);
    return whole.contains(lowered) || lowered.ends_with(workspace_of_editor);
}

std::span<const std::string_view> auto_run_names() {
    return run_or_obeyed;
}

ProtectedFiles find_protected_files(const std::string& workspace, const std::vector<std::string>& homes,
                                    const std::vector<std::string>& also_obeyed) {
    Search search(workspace, also_obeyed);
    search.walk();
    search.complete(homes);
    return std::move(search).found();
}

} // namespace cellgate::sandbox
