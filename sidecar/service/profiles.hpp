#pragma once
// `Profiles` is the profiles that sessions can be made with: those that are built in, and those of a user's file
// profiles.json in cellgate's configuration directory, which no cell can see.

#include "protocol/messages/kernels.hpp"
#include "session/session_options.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cellgate::service {

class Profiles {
  public:
    // A missing file means the built-in ones. Throws Error{config_invalid} unless it is {"default": NAME, "profiles":
    // {NAME: {"extends": NAME, "description", "modules", "domains", "limits", "askBeforePrograms", "validation"}}},
    // each field optional.
    explicit Profiles(const std::string& path);

    const std::vector<protocol::Profile>& all() const { return all_; }
    // Throws Error{config_invalid}, which names those that there are.
    const protocol::Profile& find(const std::string& name) const;
    // For sessions that name none; nothing: they have no profile.
    std::optional<protocol::Profile> default_profile() const;

  private:
    std::vector<protocol::Profile> all_;
    std::optional<std::string> default_;
};

// Of a new session; limits that it has already stay.
void use_profile(session::SessionOptions& options, const protocol::Profile& profile);

} // namespace cellgate::service
