#pragma once
// `group_files` reads and writes the files by which the system shows control groups.

#include <string>
#include <string_view>
#include <vector>

namespace cellgate::sandbox::group_files {

// Where a sidecar of version 2 goes itself: a group that has groups with limits below it can have no processes.
inline constexpr const char* own_leaf = "cellgate.own";

// Empty where it cannot be read.
std::string text_of(const std::string& path);
// Whether it is one of the words that `separator` separates.
bool has_word(const std::string& text, std::string_view word, char separator);
// The words of a file.
std::string words_of(const std::string& path);
// 0, or the errno.
int write_to(const std::string& path, std::string_view text);

// The pids of the group.
std::vector<std::string> members_of(const std::string& folder);
// Of version 2: whether the groups below can have limits of memory and processes.
bool gives_to_groups_below(const std::string& folder);

} // namespace cellgate::sandbox::group_files
