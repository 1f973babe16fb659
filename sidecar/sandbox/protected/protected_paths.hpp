#pragma once
// `ProtectedPaths` are the directories of the machine that no sandbox shows as they are: the user's homes, and
// cellgate's own.

#include "base/environment.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cellgate::sandbox {

struct ProtectedPaths {
    std::vector<std::string> homes;  // HOME first, then the one that the system knows, if HOME was changed
    std::vector<std::string> hidden; // Profile::hidden
};

ProtectedPaths protected_paths(const Environment& environment, const std::vector<std::string>& hidden);

// `shown` is about to appear in the sandbox: nothing private may be in it, nor it in something private. `what` names
// it, `hint` says what to do about a home in it. Throws Error{config_invalid}.
void refuse_if_private(const std::string& shown, std::string_view what, const ProtectedPaths& places,
                       const std::string& hint = "Open a folder below your home directory, one for each project.");

// `what`: "the session's directory". Throws Error{sandbox_unavailable} unless it is this user's with mode 0700.
void check_private(const std::string& path, std::string_view what);

// Where the home of a sandbox is: where the user's own would be, so that ~/project in a cell is what it is outside;
// but not on top of what the sandbox shows of the system (the homes of service users).
std::string private_home(const ProtectedPaths& places);

} // namespace cellgate::sandbox
