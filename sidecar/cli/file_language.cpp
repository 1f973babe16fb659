#include "file_language.hpp"

#include "base/suggest.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

namespace cellgate::cli {

namespace {

struct Language {
    std::string_view name;
    std::array<std::string_view, 3> endings;
};

constexpr Language languages[] = {
    {"bash", {".sh", ".bash"}},
    {"c", {".c"}},
    {"c++", {".cpp", ".cc", ".cxx"}},
    {"fish", {".fish"}},
    {"go", {".go"}},
    {"haskell", {".hs"}},
    {"java", {".java"}},
    {"javascript", {".js", ".mjs", ".cjs"}},
    {"julia", {".jl"}},
    {"kotlin", {".kt"}},
    {"lua", {".lua"}},
    {"perl", {".pl"}},
    {"php", {".php"}},
    {"powershell", {".ps1"}},
    {"python", {".py"}},
    {"R", {".r"}},
    {"ruby", {".rb"}},
    {"rust", {".rs"}},
    {"scala", {".scala"}},
    {"sql", {".sql"}},
    {"typescript", {".ts", ".mts"}},
    {"zsh", {".zsh"}},
};

std::optional<std::string> language_of_ending(std::string_view ending) {
    for (const Language& language : languages) {
        if (!ending.empty() &&
            std::find(language.endings.begin(), language.endings.end(), ending) != language.endings.end()) {
            return std::string(language.name);
        }
    }
    return std::nullopt;
}

} // namespace

std::optional<std::string> language_of_file(std::string_view path) {
    return language_of_ending(lower(std::filesystem::path(path).extension().string()));
}

std::optional<std::string> language_of_name(std::string_view name) {
    const std::string wanted = lower(name);
    for (const Language& language : languages) {
        if (lower(language.name) == wanted) {
            return std::string(language.name);
        }
    }
    return language_of_ending("." + wanted);
}

std::string nearest_language(std::string_view name) {
    constexpr std::size_t min_length = 3;
    if (name.size() < min_length) {
        return {};
    }
    std::vector<std::string> names;
    for (const Language& language : languages) {
        names.emplace_back(language.name);
    }
    return nearest_name(name, names);
}

} // namespace cellgate::cli
