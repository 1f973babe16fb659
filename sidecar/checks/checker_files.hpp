#pragma once
// `checker_files` are the Python files of this folder, embedded at build time.

#include <array>
#include <string_view>

namespace cellgate::checks {

struct CheckerFile {
    const char* name;
    std::string_view text;
};

extern const std::array<CheckerFile, 6> checker_files;

} // namespace cellgate::checks
