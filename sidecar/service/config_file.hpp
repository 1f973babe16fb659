#pragma once
// `read_config_file` reads a small JSON file of cellgate's configuration directory.

#include "base/error.hpp"
#include "base/json_codec.hpp"
#include "base/regular_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <optional>
#include <string>

namespace cellgate::service {

// Nothing if there is no such file. Throws Error{config_invalid} if it cannot be read or is none of `File`; `may_hold`
// is the hint.
template <class File>
std::optional<File> read_config_file(const std::string& path, const std::string& may_hold) {
    constexpr std::size_t max_bytes = 65536;
    const RegularFile file = read_regular_file(path, max_bytes);
    if (file.error == ENOENT) {
        return std::nullopt;
    }
    if (file.error != 0) {
        throw system_error(ErrorCode::config_invalid, fmt::format("cannot read {}", path), file.error);
    }
    const std::string name = path.substr(path.rfind('/') + 1);
    try {
        return from_json<File>(RawJson::parse(file.bytes), name);
    } catch (const Error& error) {
        std::string what = error.message;
        if (what.starts_with(name + ":") || what.starts_with(name + ".")) { // the path ends with it already
            what.erase(0, what.find_first_not_of(":. ", name.size()));
        }
        throw Error(ErrorCode::config_invalid, fmt::format("{}: {}", path, what), may_hold);
    }
}

} // namespace cellgate::service
