#pragma once
// `AccessPolicy` decides which calls the guard refuses: those that would give a protected name to a file and, in a
// sandbox without mounts, those that the rules for files do not allow.

#include "file_rules.hpp"
#include "protected_names.hpp"

#include <optional>

namespace cellgate::helper {

class AccessPolicy {
  public:
    explicit AccessPolicy(ProtectedNames names) : names_(std::move(names)) {}
    AccessPolicy(ProtectedNames names, FileRules rules) : names_(std::move(names)), rules_(std::move(rules)) {}

    // Whether what is there must not be made, moved or changed.
    bool denies_create(const Place& place) const;
    // Of an empty folder that is made, and of what is removed.
    bool denies_create_of_itself(const Place& place) const;
    bool denies_create(const OpenNode& held) const;
    bool denies_write(const OpenNode& held) const;
    bool denies_attributes(const OpenNode& held) const;
    bool is_hidden(const OpenNode& held) const;
    // A thing that stays where it is, as a mount point does.
    bool is_pinned(const Place& place) const;
    bool crosses_rules(const Place& from, const Place& to) const;
    bool crosses_rules(const OpenNode& from, const Place& to) const;
    // Whether a program outside may have made what is there, if it was not made in here.
    bool is_shared(const OpenNode& held) const { return names_.is_shared(path_of(held)); }
    bool is_shared(const Place& place) const { return names_.is_shared(path_of(place)); }
    // Abstract addresses are those of all programs of the machine, where no namespace holds them apart.
    bool shares_abstract_names() const { return rules_.has_value(); }
    // Terminals of the user are not told from others by their paths.
    bool hides_terminals() const { return rules_.has_value(); }

  private:
    ProtectedNames names_;
    std::optional<FileRules> rules_;
};

} // namespace cellgate::helper
