#include "cgroup/group_files.hpp"

#include "base/regular_file.hpp"
#include "base/unique_fd.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sstream>
#include <unistd.h>

namespace cellgate::sandbox::group_files {

std::string text_of(const std::string& path) {
    // They are small, and tell no size.
    constexpr std::size_t most = std::size_t{1} << 20;
    return read_regular_file(path, most).bytes;
}

bool has_word(const std::string& text, std::string_view word, char separator) {
    std::istringstream words(text);
    for (std::string each; std::getline(words, each, separator);) {
        if (each == word) {
            return true;
        }
    }
    return false;
}

std::string words_of(const std::string& path) {
    std::string text = text_of(path);
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

int write_to(const std::string& path, std::string_view text) {
    const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.get() < 0) {
        return errno;
    }
    return ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : errno;
}

std::vector<std::string> members_of(const std::string& folder) {
    std::vector<std::string> members;
    std::istringstream lines(text_of(folder + "/cgroup.procs"));
    for (std::string pid; std::getline(lines, pid);) {
        members.push_back(pid);
    }
    return members;
}

bool gives_to_groups_below(const std::string& folder) {
    const std::string given = words_of(folder + "/cgroup.subtree_control");
    return has_word(given, "memory", ' ') && has_word(given, "pids", ' ');
}

} // namespace cellgate::sandbox::group_files
