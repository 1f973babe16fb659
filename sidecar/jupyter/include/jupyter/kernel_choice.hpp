#pragma once
// Which kernel a session gets, and the command that starts it. Choosing never runs a program that lies in the
// workspace: a choice says `from_workspace`, and starting one of those is an action for the gate; after its yes,
// confirm_kernel() settles what files alone could not tell.

#include "async/loop.hpp"
#include "jupyter/interpreter.hpp"
#include "jupyter/kernelspec.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cellgate::jupyter {

struct KernelRequest {
    std::optional<std::string> name;        // of a kernelspec
    std::optional<std::string> interpreter; // a path, or a name on PATH; goes before `name`
    std::optional<std::string> language;    // that it is to speak, where neither is given
    std::string workspace;                  // absolute
    Environment environment;                // the person's: PATH, HOME, VIRTUAL_ENV, CONDA_PREFIX, JUPYTER_…
};

struct KernelChoice {
    std::string name;
    std::string display_name;
    std::string language;
    std::vector<std::string> argv; // with {connection_file} and {resource_dir} still in it
    Environment environment;       // of the kernelspec
    std::string resource_dir;
    std::optional<Interpreter> interpreter; // of a kernel that is ipykernel: its prefixes must be visible to it
    bool from_workspace = false;
    bool interrupt_by_signal = false; // ipykernel always understands the message
};

// By interpreter, else by name, else, for another language than Python, the first kernelspec of it, else VIRTUAL_ENV,
// CONDA_PREFIX, `.venv` and `venv` of the workspace, else the first python3 on PATH or in /usr/bin that has ipykernel.
// Throws Error{kernel_not_found}.
Task<KernelChoice> find_kernel(async::Loop& loop, KernelRequest request);

// Probes the interpreter of a choice if files did not show its ipykernel. Throws Error{kernel_not_found}. It runs it.
Task<KernelChoice> confirm_kernel(async::Loop& loop, KernelChoice choice);

// The folders, beside the system's, that the kernel has to see: where its interpreter and its kernelspec really are.
std::vector<std::string> folders_of(const KernelChoice& choice);

// The command line. ipykernel is started through `bootstrap` (a Python file that takes ipykernel's own arguments).
std::vector<std::string> launch_argv(const KernelChoice& choice, const std::string& connection_file,
                                     const std::string& bootstrap);

struct KernelInfo {
    std::string name; // of the kernelspec, or the interpreter's path
    std::string display_name;
    std::string language;
    std::string path; // the spec's directory, or the interpreter
    bool from_workspace = false;
    std::optional<std::string> problem; // why it cannot be started
};

// Kernelspecs, then interpreters, each as find_kernel() would see them. `request.name` and `.interpreter` are not used.
Task<std::vector<KernelInfo>> list_kernels(async::Loop& loop, KernelRequest request);

} // namespace cellgate::jupyter
