#pragma once
// `RuleStore` is a file of rules: JSON, `{"version":1,"rules":[…]}`, writable only by its owner. It is read again when
// it has changed (another sidecar shares the user's file, and a user may edit it) and replaced atomically under a lock.
// A file that is broken, foreign or writable by others allows nothing, and is never overwritten.

#include "base/error.hpp"
#include "protocol/messages/policy.hpp"

#include <functional>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace cellgate::gate {

// Of the rules that hold for all workspaces.
inline constexpr const char* user_rules_file = "user.json";

class RuleStore {
  public:
    // `about` is written into the file; it explains the file to a reader.
    RuleStore(std::string directory, std::string file_name, protocol::RuleSource source, std::string about);

    // Reads the file if it has changed. True when it had.
    bool refresh();
    const std::vector<protocol::Rule>& rules() const { return rules_; }
    std::uint64_t times_read() const { return times_read_; }
    // Why the file cannot be read: Error{policy_unreadable}.
    const std::optional<Error>& problem() const { return problem_; }

    // Reads the file, applies `change`, and replaces the file; returns when it is on the disk. May block. Touches no
    // mutable state of this object, so another thread may call it. The next refresh() sees it. Throws
    // Error{policy_unreadable} or {store_failed}; then the file is as it was.
    void replace(const std::function<void(std::vector<protocol::Rule>&)>& change) const;

  private:
    // Which file was read; two of equal value hold the same rules.
    struct Version {
        bool exists = false;
        dev_t device = 0;
        ino_t inode = 0;
        off_t size = 0;
        std::int64_t modified = 0; // nanoseconds
        std::int64_t changed = 0;
        friend bool operator==(const Version&, const Version&) = default;
    };
    Version look() const;
    std::vector<protocol::Rule> read() const; // throws Error{policy_unreadable}
    std::vector<protocol::Rule> read_file() const;
    void write_file(const std::vector<protocol::Rule>& rules) const;

    const std::string directory_;
    const std::string path_;
    const protocol::RuleSource source_;
    const std::string about_;
    std::optional<Version> version_;
    std::uint64_t times_read_ = 0;
    std::vector<protocol::Rule> rules_;
    std::optional<Error> problem_;
};

} // namespace cellgate::gate
