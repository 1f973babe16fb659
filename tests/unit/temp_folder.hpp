#pragma once
// `TempFolder` is an empty folder for one test, removed with it. `path` has no links in it.

#include <filesystem>
#include <stdexcept>
#include <stdlib.h>
#include <string>
#include <string_view>

namespace cellgate {

struct TempFolder {
    explicit TempFolder(const std::filesystem::path& parent = std::filesystem::temp_directory_path()) {
        std::string pattern = (parent / "cellgate-test-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) {
            throw std::runtime_error("cannot make a temporary folder");
        }
        path = std::filesystem::canonical(pattern);
    }
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;
    ~TempFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }

    std::string at(std::string_view name) const { return path / name; }

    std::filesystem::path path;
};

} // namespace cellgate
