#pragma once
// `Interpreter` is a Python interpreter. inspect_interpreter() only reads files, so it is safe for an interpreter in a
// workspace; probe_interpreter() runs the interpreter (and its site-packages), so for one in a workspace it needs the
// gate's permission first.

#include "async/loop.hpp"
#include "base/clock.hpp"
#include "jupyter/kernelspec.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cellgate::jupyter {

enum class InterpreterKind { system, venv, uv_venv, conda, other };

struct Interpreter {
    std::string executable; // absolute; links are not resolved, as the link's path identifies a virtual environment
    InterpreterKind kind = InterpreterKind::other;
    std::string prefix;                // sys.prefix; empty if only running it would tell (a shim, say)
    std::string base_prefix;           // sys.base_prefix: the standard library's prefix
    std::string version;               // "3.11.2"; empty if unknown
    std::optional<bool> has_ipykernel; // nothing if only running it would tell
};

// Reads the files around `path`. A prefix is set only if it is a real one (a standard library, a virtual environment):
// it becomes visible to the kernel, and a link in a workspace must not be able to expose a home directory.
Interpreter inspect_interpreter(const std::string& path);

// Runs `path` isolated (-I), in / and in a minimal environment. Throws Error{kernel_not_found} unless it is a Python 3
// that answers within `timeout`.
Task<Interpreter> probe_interpreter(async::Loop& loop, std::string path, Duration timeout);

// Error{kernel_not_found} that names the interpreter; its hint is the command that installs ipykernel into it, with a
// warning if the interpreter is in the workspace.
Error no_ipykernel(const Interpreter& interpreter, bool from_workspace);

// Whether `path` or a target of its links is inside the workspace, so that the workspace's files decide what runs.
bool is_inside(const std::string& path, const std::string& workspace);

} // namespace cellgate::jupyter
