#pragma once
// Which calls the guard refuses: where mounts hold, those that would give a guarded name to a file; where nothing but
// Landlock does, also those that the rules for files do not allow.

#include "file_rules.hpp"
#include "guarded_names.hpp"

#include <optional>

namespace cellgate::helper {

class Judge {
  public:
    explicit Judge(GuardedNames names) : names_(std::move(names)) {}
    Judge(GuardedNames names, FileRules rules) : names_(std::move(names)), rules_(std::move(rules)) {}

    // Whether what is there must not be made, moved or changed.
    bool keeps(const Place& place) const;
    // Of an empty folder that is made, and of what is removed.
    bool keeps_itself(const Place& place) const;
    bool keeps(const Held& held) const;
    bool keeps_content(const Held& held) const;
    bool keeps_attributes(const Held& held) const;
    bool hides(const Held& held) const;
    // A thing that stays where it is, as a mount point does.
    bool pins(const Place& place) const;
    bool divides(const Place& from, const Place& to) const;
    bool divides(const Held& from, const Place& to) const;
    // Whether a program outside may have made what is there, if it was not made in here.
    bool is_shared(const Held& held) const { return names_.is_shared(path_of(held)); }
    bool is_shared(const Place& place) const { return names_.is_shared(path_of(place)); }
    // Abstract addresses are those of all programs of the machine, where no namespace holds them apart.
    bool shares_abstract_names() const { return rules_.has_value(); }
    // Terminals of the person are not told from others by their paths.
    bool hides_terminals() const { return rules_.has_value(); }

  private:
    GuardedNames names_;
    std::optional<FileRules> rules_;
};

} // namespace cellgate::helper
