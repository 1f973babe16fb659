#include "packages/package_folder.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

namespace cellgate::packages {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view build_prefix = "new-";
constexpr std::size_t max_entries = 10'000; // of a folder that a build made

UniqueFd open_folder(const std::string& path) {
    UniqueFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (folder.get() < 0) {
        throw system_error(ErrorCode::store_failed, fmt::format("cannot open the folder {}", path), errno);
    }
    return folder;
}

// Held until the descriptor is closed, also against other threads of this process.
bool lock(const UniqueFd& folder, bool wait) {
    int result = 0;
    do {
        result = ::flock(folder.get(), LOCK_EX | (wait ? 0 : LOCK_NB));
    } while (result != 0 && errno == EINTR);
    return result == 0;
}

UniqueFd open_locked(const std::string& path) {
    UniqueFd folder = open_folder(path);
    if (!lock(folder, true)) {
        throw system_error(ErrorCode::store_failed, fmt::format("cannot lock the folder {}", path), errno);
    }
    return folder;
}

void remove_left_build(const std::string& path) {
    const UniqueFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (folder.get() >= 0 && lock(folder, false)) { // or it is gone, or still being made
        store::remove_tree(path);
    }
}

void make_folder(const std::string& path) {
    if (::mkdir(path.c_str(), 0700) != 0) {
        throw system_error(ErrorCode::store_failed, fmt::format("cannot make the folder {}", path), errno);
    }
}

} // namespace

PackageFolder::PackageFolder(const store::Directories& directories, const std::string& root, const std::string& key)
    : folder_(fmt::format("{}/packages/{}/{}", directories.data, store::key_of_root(root), key)),
      shown_(folder_ + "/installed") {
    for (const std::string& path : {directories.data, directories.data + "/packages",
                                    fs::path(folder_).parent_path().string(), folder_, shown_}) {
        store::make_private_directory(path);
    }
}

UniqueFd PackageFolder::take_turn() const {
    return open_locked(folder_);
}

PackageFolder::Build PackageFolder::begin() const {
    const UniqueFd turn = take_turn();
    for (const std::string& name : names_in(folder_)) {
        if (name.starts_with(build_prefix)) {
            remove_left_build(fmt::format("{}/{}", folder_, name));
        }
    }
    std::string directory = store::make_unique_directory(folder_, std::string(build_prefix));
    UniqueFd held = open_locked(directory);
    make_folder(directory + "/packages");
    make_folder(directory + "/tmp");
    return Build{std::move(directory), std::move(held)};
}

void PackageFolder::discard(const Build& build) {
    store::remove_tree(build.directory);
}

UniqueFd PackageFolder::open_result(const std::string& path) {
    UniqueFd folder = open_folder(path);
    ::fchmod(folder.get(), 0700);
    ::syncfs(folder.get()); // what is renamed has to be whole after a crash, too
    return folder;
}

std::vector<std::string> PackageFolder::names_in(const std::string& path) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator each(path, error), end; !error && each != end; each.increment(error)) {
        if (names.size() == max_entries) {
            throw Error(ErrorCode::limit_exceeded,
                        fmt::format("expected at most {} names in {}, found more", max_entries, path));
        }
        names.push_back(each->path().filename().string());
    }
    return names;
}

bool PackageFolder::is_plain(std::string_view text, std::string_view others) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [others](unsigned char c) {
        return (c < 0x80 && std::isalnum(c) != 0) || others.find(static_cast<char>(c)) != std::string_view::npos;
    });
}

void PackageFolder::sort(std::vector<protocol::InstalledPackage>& installed) {
    std::sort(installed.begin(), installed.end(),
              [](const auto& a, const auto& b) { return std::tie(a.name, a.version) < std::tie(b.name, b.version); });
}

} // namespace cellgate::packages
