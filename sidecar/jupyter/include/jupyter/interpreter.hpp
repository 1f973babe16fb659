#pragma once
// Python interpreters. look_at_interpreter() reads files only and runs nothing, so that it may look at an interpreter
// that lies in a workspace; probe_interpreter() asks the interpreter itself, which runs it (and whatever its
// site-packages start): for one from a workspace only after the gate has agreed.

#include "async/loop.hpp"
#include "base/clock.hpp"
#include "jupyter/kernelspec.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cellgate::jupyter {

enum class InterpreterKind { system, venv, uv_venv, conda, other };

struct Interpreter {
    std::string executable; // absolute; not resolved further, as a virtual environment is known by its link's place
    InterpreterKind kind = InterpreterKind::other;
    std::string prefix;                // sys.prefix; empty when only running it could tell (a shim, say)
    std::string base_prefix;           // sys.base_prefix: where the standard library lives
    std::string version;               // "3.11.2"; empty when not known
    std::optional<bool> has_ipykernel; // nothing when only running it could tell
};

// What the files around `path` say. A prefix is given only if it is one (a standard library, a virtual environment): it
// will be visible to the kernel, and a link in a workspace must not be able to make that somebody's home.
Interpreter look_at_interpreter(const std::string& path);

// Runs `path` isolated (-I), in / and in a minimal environment. Throws Error{kernel_not_found} when it is no Python 3
// that answers within `timeout`.
Task<Interpreter> probe_interpreter(async::Loop& loop, std::string path, Duration timeout);

// Error{kernel_not_found} that names the interpreter and, as its hint, the command that installs ipykernel into it. Of
// one that lies in the workspace it says first what that command runs.
Error no_ipykernel(const Interpreter& interpreter, bool from_workspace);

// Whether starting `path` runs something that the workspace's files decide: it, or what it links to, lies in there.
bool lies_in(const std::string& path, const std::string& workspace);

} // namespace cellgate::jupyter
