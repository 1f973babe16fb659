#pragma once
// `Profiles` is the profiles that sessions can be made with: those that are built in, and those of a user's file
// profiles.json in cellgate's configuration directory, which no cell can see.

#include "protocol/messages/kernels.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cellgate::service {

class Profiles {
  public:
    // A missing file means the built-in ones. Throws Error{config_invalid} unless it is {"default": NAME, "profiles":
    // {NAME: {"extends": NAME, "description", "modules", "domains", "limits", "validation"}}}, each field optional.
    explicit Profiles(const std::string& path);

    const std::vector<protocol::Profile>& all() const { return all_; }
    // Throws Error{config_invalid}, which names those that there are.
    const protocol::Profile& find(const std::string& name) const;
    // Of a session that is made with that name, or with none: then the file's default. nullptr: no profile.
    const protocol::Profile* of_session(const std::optional<std::string>& name) const;

  private:
    std::vector<protocol::Profile> all_;
    std::optional<std::string> default_;
};

// Takes the limits that `limits` lacks from `others`.
void fill_missing(protocol::Limits& limits, const protocol::Limits& others);

} // namespace cellgate::service
