#pragma once
// `LanguageSupport` is what differs between kernels by their language: what a start adds, how the working directory is
// changed, how a failure is read, how variables are inspected. There is one for each kernel, made for the choice that
// is started. Python, TypeScript and bash have their own; every other language has the plain one, which adds nothing to
// what Jupyter's protocol has.

#include "base/environment.hpp"
#include "jupyter/kernel_choice.hpp"
#include "jupyter/kernel_query.hpp"
#include "packages/python.hpp"
#include "protocol/messages/executions.hpp"
#include "session/failures.hpp"
#include "store/directories.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::session {

// Where a kernel starts. All paths are absolute.
struct LaunchPlace {
    const store::Directories& directories;
    const std::string& workspace;
    const std::string& cwd;
    std::string session_dir; // the kernel's own directory
    std::string connection_file;
};

struct BootstrapFile {
    std::string path;
    std::string_view text;
};

// What a start consists of, as far as the language decides.
struct KernelLaunch {
    std::vector<std::string> argv;
    Environment environment;
    std::vector<BootstrapFile> files; // to be written before the start
    std::string packages;             // folder of installed packages, read-only in the sandbox; empty: none
    bool node_modules = false;        // it is shown as node_modules, not at its own path
    bool keeps_output = false;        // as jupyter::ConnectionInfo::kernel_keeps_output
    std::string print_function;       // as jupyter::ConnectionInfo::print_function
};

class LanguageSupport {
  public:
    using Ask = std::function<Task<std::string>(jupyter::KernelQuery query)>;

    virtual ~LanguageSupport() = default;

    // `environment`: of the kernelspec and of the session. Throws Error{store_failed}.
    virtual KernelLaunch launch(const LaunchPlace& place, Environment environment) const = 0;
    // The Python that packages can be installed for; nothing if they cannot be.
    virtual std::optional<packages::Python> python() const = 0;
    // Code that changes the kernel's working directory; nothing if no such code is known.
    virtual std::optional<std::string> chdir_code(const std::string& directory) const = 0;
    virtual FailureCauses causes_of(const Failure& failure) const = 0;
    // The note for code that installs packages, which are lost with the session. `holds_installs`: whether cellgate's
    // own installs reach this kernel's sandbox.
    virtual std::optional<protocol::Note> install_note(const std::string& code, bool holds_installs) const = 0;
    // Whether an interrupt can leave the kernel deaf for good.
    virtual bool may_hang_when_interrupted() const { return false; }
    // `ask` queries the kernel. Nothing if it does not report its variables. This must outlive the task.
    virtual Task<std::optional<jupyter::Variables>> variables(Ask ask) const = 0;
};

std::unique_ptr<const LanguageSupport> make_language_support(const jupyter::KernelChoice& choice);

// Lets the Python programs of a session that starts outside the workspace's folder find the wrappers, which are in it.
void add_wrapper_path(Environment& environment, const LaunchPlace& place);

} // namespace cellgate::session
