#pragma once
// `find_deno` finds the program Deno, which is a kernel and also installs packages of npm.

#include "base/environment.hpp"

#include <optional>
#include <string>

namespace cellgate::jupyter {

struct Deno {
    std::string program;      // absolute; may be a symlink
    std::string real_program; // what it resolves to
};

// The workspace's own (npm's `node_modules/.bin`), else the first on PATH. One of the workspace that leads out of it is
// none: a link must not be able to show what is outside. Blocks.
std::optional<Deno> find_deno(const std::string& workspace, const Environment& environment);

} // namespace cellgate::jupyter
