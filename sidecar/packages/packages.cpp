#include "packages/packages.hpp"

#include "base/error.hpp"
#include "base/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <string_view>

namespace cellgate::packages {

namespace {

// Names the Python: what is built for one may not run on another. Its own bytes do not count: an update keeps them.
std::string key_of(const Python& python) {
    const std::size_t minor = python.version.find('.');
    std::string version = python.version.substr(0, python.version.find('.', minor + 1));
    std::replace_if(
        version.begin(), version.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '.'; }, '_');
    std::error_code error;
    const std::filesystem::path real = std::filesystem::canonical(python.executable, error);
    constexpr std::size_t digits = 8;
    return fmt::format("python{}-{}", version, sha256(error ? python.executable : real.string()).substr(0, digits));
}

} // namespace

Packages::Packages(const store::Directories& directories, const std::string& root, const Python& python)
    : PackageFolder(directories, root, key_of(python)) {}

// Of "requests-2.31.0.dist-info", or of "requests-2.31.0-py3.11.egg-info", which old installers make.
std::optional<protocol::InstalledPackage> Packages::package_of(std::string_view name) {
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

std::string Packages::next_name() const {
    std::uint64_t last = 0;
    for (const std::string& name : names_in(shown())) {
        std::uint64_t number = 0;
        std::from_chars(name.data(), name.data() + name.size(), number);
        last = std::max(last, number);
    }
    return fmt::format("{:06}", last + 1);
}

std::vector<protocol::InstalledPackage> Packages::publish(const Build& build) const {
    const std::string made = build.directory + "/packages";
    const UniqueFd result = open_result(made);
    std::vector<protocol::InstalledPackage> installed;
    for (const std::string& name : names_in(made)) {
        if (std::optional<protocol::InstalledPackage> package = package_of(name)) {
            installed.push_back(std::move(*package));
        }
    }
    sort(installed);
    const UniqueFd turn = take_turn();
    const std::string name = next_name();
    if (::rename(made.c_str(), fmt::format("{}/{}", shown(), name).c_str()) != 0) {
        throw system_error(ErrorCode::store_failed, fmt::format("cannot move {} to {}/{}", made, shown(), name), errno);
    }
    return installed;
}

} // namespace cellgate::packages
