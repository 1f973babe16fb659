#include "shell_words.hpp"

#include <filesystem>
#include <system_error>

namespace cellgate::cli {

std::string shell_word(std::string_view text) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+=,";
    if (!text.empty() && text.find_first_not_of(plain) == std::string_view::npos) {
        return std::string(text);
    }
    std::string word = "'";
    for (const char c : text) {
        word += c == '\'' ? "'\\''" : std::string(1, c);
    }
    return word + "'";
}

std::string shell_words(const std::vector<std::string>& words) {
    std::string line;
    for (const std::string& word : words) {
        line += (line.empty() ? "" : " ") + shell_word(word);
    }
    return line;
}

std::string program_to_call(std::string_view invoked_as) {
    if (invoked_as.find('/') == std::string_view::npos) {
        return std::string(invoked_as);
    }
    std::error_code error;
    const std::filesystem::path program = std::filesystem::canonical("/proc/self/exe", error);
    const std::filesystem::path folder = std::filesystem::current_path(error);
    if (error) {
        return std::string(invoked_as);
    }
    const std::string relative = program.lexically_relative(folder).string();
    if (relative.empty() || relative.starts_with("..")) {
        return program.string();
    }
    return relative.find('/') == std::string::npos ? "./" + relative : relative;
}

} // namespace cellgate::cli
