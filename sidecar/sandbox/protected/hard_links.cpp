#include "protected/hard_links.hpp"

#include "base/error.hpp"
#include "sandbox/protected_files.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <sys/stat.h>

namespace cellgate::sandbox {

namespace {

namespace fs = std::filesystem;

// About three seconds of looking, and only where a secret has a second name that is not found before.
constexpr int max_linked_entries = 1'000'000;

} // namespace

void HardLinkIndex::of(const std::string& path) {
    struct stat status{};
    if (::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink > 1) {
        File& file = files_[{status.st_dev, status.st_ino}];
        file.known.insert(path);
        file.names = status.st_nlink;
    }
}

void HardLinkIndex::of_secrets_in(const std::string& home) {
    std::error_code error;
    for (fs::directory_iterator entry(home, error), end; !error && entry != end; entry.increment(error)) {
        if (!is_secret_name(entry->path().filename().string())) {
            continue;
        }
        of(entry->path());
        std::error_code no_folder;
        for (fs::directory_iterator inner(entry->path(), no_folder), last; !no_folder && inner != last;
             inner.increment(no_folder)) {
            of(inner->path());
        }
    }
}

std::vector<std::string> HardLinkIndex::find_in(const std::string& top) const {
    nlink_t left = 0;
    for (const auto& [identity, file] : files_) {
        left += file.names - std::min<nlink_t>(file.names, file.known.size());
    }
    std::vector<std::string> found;
    int entries_left = max_linked_entries;
    std::vector<fs::path> folders = {top};
    while (left > 0 && !folders.empty()) {
        const fs::path folder = std::move(folders.back());
        folders.pop_back();
        std::error_code error;
        for (fs::directory_iterator entry(folder, error), end; !error && entry != end && left > 0;
             entry.increment(error)) {
            if (--entries_left < 0) {
                throw Error(ErrorCode::sandbox_unavailable,
                            fmt::format("a guarded file in {} has another name (a hard link), and expected at most {} "
                                        "files and folders to look for it in, found more",
                                        top, max_linked_entries),
                            "Open a folder further down, or make the secret a file with one name: copy it, and remove "
                            "the old one.");
            }
            std::error_code ignored;
            if (entry->is_symlink(ignored)) {
                continue;
            }
            if (entry->is_directory(ignored)) {
                folders.push_back(entry->path());
                continue;
            }
            struct stat status{};
            if (!entry->is_regular_file(ignored) || ::lstat(entry->path().c_str(), &status) != 0 ||
                status.st_nlink < 2) {
                continue;
            }
            const auto file = files_.find({status.st_dev, status.st_ino});
            if (file != files_.end() && !file->second.known.contains(entry->path().string())) {
                found.push_back(entry->path().string());
                --left;
            }
        }
    }
    return found;
}

} // namespace cellgate::sandbox
