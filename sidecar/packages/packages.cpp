#include "packages/packages.hpp"

#include "base/error.hpp"
#include "base/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

namespace cellgate::packages {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view build_prefix = "new-";
constexpr std::size_t max_entries = 10'000; // of a folder that a build made

// Names the Python: what is built for one may not run on another. Its own bytes do not count: an update keeps them.
std::string key_of(const Python& python) {
    const std::size_t minor = python.version.find('.');
    std::string version = python.version.substr(0, python.version.find('.', minor + 1));
    std::replace_if(
        version.begin(), version.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '.'; }, '_');
    std::error_code error;
    const fs::path real = fs::canonical(python.executable, error);
    constexpr std::size_t digits = 8;
    return fmt::format("python{}-{}", version, sha256(error ? python.executable : real.string()).substr(0, digits));
}

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

// One at a time makes, publishes or clears away.
UniqueFd take_turn(const std::string& path) {
    UniqueFd folder = open_folder(path);
    if (!lock(folder, true)) {
        throw system_error(ErrorCode::store_failed, fmt::format("cannot lock the folder {}", path), errno);
    }
    return folder;
}

std::vector<std::string> names_in(const std::string& path) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator each(path, error), end; !error && each != end && names.size() < max_entries;
         each.increment(error)) {
        names.push_back(each->path().filename().string());
    }
    return names;
}

void remove_leftovers(const std::string& path) {
    for (const std::string& name : names_in(path)) {
        if (!name.starts_with(build_prefix)) {
            continue;
        }
        const std::string left = fmt::format("{}/{}", path, name);
        const UniqueFd folder(::open(left.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (folder.get() >= 0 && lock(folder, false)) { // or it is gone, or still being made
            store::remove_tree(left);
        }
    }
}

void make_folder(const std::string& path) {
    if (::mkdir(path.c_str(), 0700) != 0) {
        throw system_error(ErrorCode::store_failed, fmt::format("cannot make the folder {}", path), errno);
    }
}

bool is_plain(std::string_view text, std::string_view others) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [others](unsigned char c) {
        return (c < 0x80 && std::isalnum(c) != 0) || others.find(static_cast<char>(c)) != std::string_view::npos;
    });
}

// Of "requests-2.31.0.dist-info", or of "requests-2.31.0-py3.11.egg-info", which old installers make.
std::optional<protocol::InstalledPackage> package_of(std::string_view name) {
    for (const std::string_view ending : {".dist-info", ".egg-info"}) {
        if (!name.ends_with(ending)) {
            continue;
        }
        name.remove_suffix(ending.size());
        const std::size_t dash = name.find('-');
        if (dash == std::string_view::npos) {
            return std::nullopt;
        }
        const std::string_view version = name.substr(dash + 1, name.find("-py", dash + 1) - dash - 1);
        if (!is_plain(name.substr(0, dash), "._") || !is_plain(version, "._+!-")) {
            return std::nullopt;
        }
        return protocol::InstalledPackage{std::string(name.substr(0, dash)), std::string(version)};
    }
    return std::nullopt;
}

std::string next_name(const std::string& path) {
    std::uint64_t last = 0;
    for (const std::string& name : names_in(path)) {
        std::uint64_t number = 0;
        std::from_chars(name.data(), name.data() + name.size(), number);
        last = std::max(last, number);
    }
    return fmt::format("{:06}", last + 1);
}

} // namespace

Packages::Packages(const store::Directories& directories, const std::string& root, const Python& python)
    : folder_(fmt::format("{}/packages/{}/{}", directories.data, store::key_of_root(root), key_of(python))),
      shown_(folder_ + "/installed") {
    for (const std::string& path : {directories.data, directories.data + "/packages",
                                    fs::path(folder_).parent_path().string(), folder_, shown_}) {
        store::make_private_directory(path);
    }
}

Packages::Build Packages::begin() const {
    const UniqueFd turn = take_turn(folder_);
    remove_leftovers(folder_);
    std::string directory = store::make_unique_directory(folder_, std::string(build_prefix));
    UniqueFd held = take_turn(directory);
    make_folder(directory + "/packages");
    make_folder(directory + "/tmp");
    return Build{std::move(directory), std::move(held)};
}

std::vector<protocol::InstalledPackage> Packages::publish(const Build& build) const {
    const std::string made = build.directory + "/packages";
    const UniqueFd folder = open_folder(made); // a link is none
    ::fchmod(folder.get(), 0700);
    ::syncfs(folder.get()); // what is renamed has to be whole after a crash, too
    std::vector<protocol::InstalledPackage> installed;
    for (const std::string& name : names_in(made)) {
        if (std::optional<protocol::InstalledPackage> package = package_of(name)) {
            installed.push_back(std::move(*package));
        }
    }
    std::sort(installed.begin(), installed.end(),
              [](const auto& a, const auto& b) { return std::tie(a.name, a.version) < std::tie(b.name, b.version); });
    const UniqueFd turn = take_turn(folder_);
    const std::string name = next_name(shown_);
    if (::rename(made.c_str(), fmt::format("{}/{}", shown_, name).c_str()) != 0) {
        throw system_error(ErrorCode::store_failed, fmt::format("cannot move {} to {}/{}", made, shown_, name), errno);
    }
    return installed;
}

void Packages::discard(const Build& build) {
    store::remove_tree(build.directory);
}

} // namespace cellgate::packages
