#pragma once
// `FileRules` are the access rules of a sandbox without namespaces: every open and every change of a file is judged by
// them. The nearest rule at a path or above it decides, as the nearest mount would; without a rule, access is denied.
// The paths are those that the system gives for open files, so no link evades a rule.

#include "path_walk.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cellgate::helper {

class FileRules {
  public:
    enum class Right : char {
        nothing = 'n',
        read = 'r',   // and execute
        write = 'w',  // and read
        device = 'd', // read and write what is behind it
    };

    // `text`: a letter and an absolute path without links for each, ended by a NUL. Throws std::invalid_argument.
    explicit FileRules(const std::string& text);

    bool may_read(const OpenNode& held) const;
    bool may_write(const OpenNode& held) const;
    // Mode, owner, dates and attributes.
    bool may_alter(const OpenNode& held) const;
    bool may_make(const Place& place) const;
    // What is outside of all folders and has no name, such as a pipe, is whose who holds it.
    static bool is_anonymous(const OpenNode& held);
    // There is a rule for the path or for one below it: such a path is not moved or removed, or what a rule names could
    // be replaced.
    bool is_pinned(const std::string& path) const;
    // As with mounts: between two rules nothing is moved or linked.
    bool belong_together(const Place& a, const Place& b) const;
    bool belong_together(const OpenNode& file, const Place& place) const;

    // All rules, by their paths.
    const std::map<std::string, Right>& all() const { return rules_; }

  private:
    Right right_at(const std::string& path) const;
    Right right_of(const OpenNode& held) const;
    std::map<std::string, Right>::const_iterator nearest(const std::string& path) const;

    std::map<std::string, Right> rules_;
    // Of the files that a rule gives less than the folder around them: another name of theirs gives no more.
    std::map<std::pair<dev_t, ino_t>, Right> files_;
};

} // namespace cellgate::helper
