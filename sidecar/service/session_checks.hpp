#pragma once
// `SessionChecks` looks at code as a session would run it: in its language, with its Python and packages, with the
// names of the cells that ran there, and by its profile.

#include "checks/code_checks.hpp"
#include "profiles.hpp"
#include "session_table.hpp"

#include <memory>
#include <string>

namespace cellgate::service {

class SessionChecks {
  public:
    // All must outlive it.
    SessionChecks(checks::CodeChecks& checks, const SessionTable& sessions, const Profiles& profiles)
        : checks_(checks), sessions_(sessions), profiles_(profiles) {}

    // Throws Error{session_not_found}, Error{config_invalid} for a profile that is not there, and what
    // CodeChecks::check() throws.
    Task<protocol::ValidateResult> validate(protocol::ValidateParams params);
    // All profiles, with those of their modules that the workspace's Python does not find.
    Task<std::vector<protocol::Profile>> profiles_here() const;

    // Whether code is looked at before it runs there.
    bool is_strict(const session::Session& session) const;
    // Throws Error{denied} with the first error of the code, and what CodeChecks::check() throws: what cannot be looked
    // at does not run.
    Task<void> require_allowed(std::shared_ptr<session::Session> session, std::string code);

  private:
    checks::CheckRequest request_for(protocol::ValidateParams params) const;

    checks::CodeChecks& checks_;
    const SessionTable& sessions_;
    const Profiles& profiles_;
};

} // namespace cellgate::service
