#pragma once
// `KernelChoice` is the kernel of a session and the command that starts it. Choosing never runs a program from the
// workspace: such a choice has `from_workspace`, and its start is an action for the gate; after the permission,
// confirm_kernel() checks the rest by running it.

#include "async/loop.hpp"
#include "jupyter/interpreter.hpp"
#include "jupyter/kernelspec.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cellgate::jupyter {

struct KernelRequest {
    std::optional<std::string> name;        // of a kernelspec
    std::optional<std::string> interpreter; // a path, or a name on PATH; takes precedence over `name`
    std::optional<std::string> language;    // used if neither is given
    std::string workspace;                  // absolute
    Environment environment;                // the user's: PATH, HOME, VIRTUAL_ENV, CONDA_PREFIX, JUPYTER_…
};

// Which kernel it is, where that is known and the session has more to do for it than Jupyter's protocol says.
enum class KernelKind { any, deno, bash };

struct KernelChoice {
    std::string name;
    std::string display_name;
    std::string language;
    std::vector<std::string> argv; // with the placeholders {connection_file} and {resource_dir}
    Environment environment;       // of the kernelspec
    std::string resource_dir;
    std::optional<Interpreter> interpreter; // for ipykernel: its prefixes must be visible to the kernel
    bool from_workspace = false;
    bool interrupt_by_signal = false; // ipykernel always understands the message
    bool tcp_only = false;            // it has no unix sockets
    KernelKind kind = KernelKind::any;
    std::string program; // of a known kind: Deno, or the bash that the kernel keeps
};

// By interpreter (or the path of another program that is a kernel: deno, bash), else by name, else, for another
// language than Python, the first kernelspec of it, else a Deno or a bash, else VIRTUAL_ENV, CONDA_PREFIX, `.venv` and
// `venv` of the workspace, else the first python3 on PATH or in /usr/bin that has ipykernel. Throws
// Error{kernel_not_found}.
Task<KernelChoice> find_kernel(async::Loop& loop, KernelRequest request);

// ipykernel by an interpreter that is not among the machine's files, at that path in an image: nothing of it is looked
// at.
KernelChoice choice_in_image(std::string executable);

// Runs the interpreter of a choice to look for ipykernel, if files did not show it. Throws Error{kernel_not_found}.
Task<KernelChoice> confirm_kernel(async::Loop& loop, KernelChoice choice);

// The folders and files that must be visible to the kernel in addition to the system's: the resolved ones of its
// interpreter, its kernelspec and its program.
std::vector<std::string> folders_of(const KernelChoice& choice);

// The command line.
std::vector<std::string> launch_argv(const KernelChoice& choice, const std::string& connection_file);
// The same, but ipykernel is started through `bootstrap` (a Python file that takes ipykernel's own arguments).
std::vector<std::string> launch_argv(KernelChoice choice, const std::string& connection_file,
                                     const std::string& bootstrap);

struct KernelInfo {
    std::string name; // of the kernelspec, or the interpreter's path, or of a program that needs no kernelspec
    std::string display_name;
    std::string language;
    std::string path; // the spec's directory, or the program
    bool is_spec = false;
    bool from_workspace = false;
    std::optional<std::string> problem; // why it cannot start
};

// Kernelspecs, then interpreters, then the other programs, as find_kernel() sees them. `request.name` and
// `.interpreter` are ignored.
Task<std::vector<KernelInfo>> list_kernels(async::Loop& loop, KernelRequest request);

} // namespace cellgate::jupyter
