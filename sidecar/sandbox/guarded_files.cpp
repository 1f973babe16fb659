#include "sandbox/guarded_files.hpp"

#include "base/error.hpp"
#include "paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>

namespace cellgate::sandbox {

namespace {

namespace fs = std::filesystem;

// About half a second of looking, at most.
constexpr int most_entries = 200'000;

constexpr std::array secret_names = {".envrc", ".netrc", ".pgpass", ".pypirc", ".git-credentials", ".ssh",      ".aws",
                                     ".gnupg", ".kube",  "id_rsa",  "id_dsa",  "id_ecdsa",         "id_ed25519"};
constexpr std::array secret_suffixes = {".pem", ".key", ".p12", ".pfx"};
constexpr std::array example_suffixes = {".example", ".sample", ".template", ".dist"};

constexpr std::string_view run_or_obeyed[] = {
    // git: whole, as a new .git/commondir alone moves hooks and config elsewhere
    ".git", ".gitmodules", ".gitconfig", ".husky", ".pre-commit-config.yaml",
    // editors and agents
    ".vscode", ".idea", ".zed", ".devcontainer", ".devcontainer.json", ".mcp.json", ".claude", ".cursor", ".exrc",
    ".vimrc", ".nvimrc", ".nvim.lua",
    // shells and what hooks into them
    ".envrc", "mise.toml", ".mise.toml", ".bashrc", ".bash_profile", ".profile", ".zshrc", ".zprofile", ".zshenv",
    ".ripgreprc"};

// Large, and never the work of a person. By their names alone: no file that a cell adds may keep us from looking.
bool is_not_searched(std::string_view name) {
    return name == ".git" || name == "node_modules" || name == "__pycache__" || name == "site-packages";
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

// Where a guard goes: symlinks are replaced by what they point to; nothing for what lies outside or leads nowhere.
std::string place_of(const fs::directory_entry& entry, const std::string& workspace) {
    std::error_code error;
    if (!entry.is_symlink(error)) {
        return entry.path().string();
    }
    std::string target = fs::canonical(entry.path(), error).string();
    return !error && target != workspace && is_within(target, workspace) ? target : std::string();
}

} // namespace

bool is_secret_name(std::string_view name) {
    if (name.starts_with(".env")) {
        return !has_suffix(example_suffixes, name);
    }
    return contains(secret_names, name) || has_suffix(secret_suffixes, name);
}

bool is_auto_run_name(std::string_view name) {
    return contains(run_or_obeyed, name);
}

std::span<const std::string_view> auto_run_names() {
    return run_or_obeyed;
}

GuardedFiles find_guarded_files(const std::string& workspace) {
    GuardedFiles found;
    std::deque<fs::path> directories = {workspace};
    int entries_left = most_entries;
    while (!directories.empty()) {
        fs::path directory = std::move(directories.front());
        directories.pop_front();
        std::error_code error;
        // A directory that we cannot list, the kernel cannot list either.
        for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
            if (--entries_left < 0) {
                throw Error(ErrorCode::sandbox_unavailable,
                            fmt::format("expected at most {} files and folders in {}, found more: its "
                                        "secrets cannot all be found and hidden",
                                        most_entries, workspace),
                            "Make a folder further down the root, or move bulk data out of it; without a sandbox "
                            "(sandbox: false, --no-sandbox) nothing is hidden.");
            }
            std::string name = entry->path().filename().string();
            std::error_code ignored;
            bool is_real_directory = !entry->is_symlink(ignored) && entry->is_directory(ignored);
            bool virtual_environment = is_real_directory && fs::exists(entry->path() / "pyvenv.cfg", ignored);
            if (virtual_environment) {
                found.read_only.push_back(entry->path().string());
            }
            bool named_as_environment = virtual_environment && name.starts_with(".env");
            bool secret = is_secret_name(name) && !named_as_environment;
            if (secret || is_auto_run_name(name)) {
                std::string place = place_of(*entry, workspace);
                if (!place.empty()) {
                    bool directory_there = fs::is_directory(place, ignored);
                    (!secret           ? found.read_only
                     : directory_there ? found.secret_directories
                                       : found.secret_files)
                        .push_back(std::move(place));
                }
            }
            if (is_real_directory && !secret && !is_not_searched(name)) {
                directories.push_back(entry->path());
            }
        }
    }
    return found;
}

} // namespace cellgate::sandbox
