#pragma once
// `LanguageSupport` is what differs between kernels by their language: what a start adds, how the working directory is
// changed, how a failure is read, how variables are listed and copied. There is one for each kernel, made for the
// choice that is started. Python, TypeScript, bash and R have their own; every other language has the plain one, which
// adds nothing to what Jupyter's protocol has.

#include "base/environment.hpp"
#include "base/raw_json.hpp"
#include "jupyter/kernel_choice.hpp"
#include "jupyter/kernel_query.hpp"
#include "kernel_access.hpp"
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
    bool imports_workspace = true;
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

// What a language has for variables that are copied between sessions.
struct VariableRules {
    std::string_view language;
    std::vector<std::string_view> reserved; // words that name no variable
    std::string_view first;                 // a name does not begin with one of these characters
    bool rounds = false;                    // its numbers are doubles
};

// What a kernel tells of a variable: a value; or that there is none, or why it cannot be copied.
struct ExportAnswer {
    std::optional<std::string> type;
    std::optional<RawJson> value;
    std::optional<std::string> wide; // names a whole number in it that a double does not hold
    std::optional<bool> missing;
    std::optional<std::string> problem;

    template <class Self, class Visitor>
    static void fields(Self& self, Visitor& visit) {
        visit("type", self.type);
        visit("value", self.value);
        visit("wide", self.wide);
        visit("missing", self.missing);
        visit("problem", self.problem);
    }
};

struct ImportAnswer {
    std::optional<bool> constant; // it was declared so before, and has its old value
    std::optional<std::string> problem;

    template <class Self, class Visitor>
    static void fields(Self& self, Visitor& visit) {
        visit("constant", self.constant);
        visit("problem", self.problem);
    }
};

class LanguageSupport {
  public:
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
    // Whether one may be kept ready: it takes long to start, and little memory while it waits.
    virtual bool may_be_spare() const { return false; }
    // Whether its kernel can ask before code starts a program (kernel/programs.py).
    virtual bool asks_before_programs() const { return false; }
    // What in code ends its kernel, in words, with a verb.
    virtual std::string_view kernel_ends() const { return "quit() and exit() do"; }
    // Whether an interrupt can leave the kernel deaf for good.
    virtual bool may_hang_when_interrupted() const { return false; }

    // This and `kernel` must outlive the tasks below. All throw what KernelAccess does.
    // Once the kernel has started, before any code runs.
    virtual Task<void> on_started(const KernelAccess& kernel) = 0;
    // Nothing if the kernel does not report its variables.
    virtual Task<std::optional<jupyter::Variables>> variables(const KernelAccess& kernel) const = 0;
    // The description of the name at a place in code (`cursor` in code points); nothing if there is none.
    virtual Task<std::optional<std::string>> inspect(const KernelAccess& kernel, std::string code, std::int64_t cursor,
                                                     std::int64_t detail_level) const = 0;
    // nullptr if variables cannot be copied from and to the kernel: then the two functions below throw
    // Error{unsupported}. Names are such as the rules allow.
    virtual const VariableRules* variable_rules() const { return nullptr; }
    virtual Task<ExportAnswer> export_variable(const KernelAccess& kernel, std::string name) const = 0;
    virtual Task<ImportAnswer> import_variable(const KernelAccess& kernel, std::string name, RawJson value) const = 0;
};

// `image`: that the choice is in, if it is in one.
std::unique_ptr<LanguageSupport> make_language_support(const jupyter::KernelChoice& choice,
                                                       std::shared_ptr<const sandbox::Image> image = nullptr);

// Lets the Python programs of a session that starts outside the workspace's folder find the wrappers, which are in it.
void add_wrapper_path(Environment& environment, const LaunchPlace& place);

} // namespace cellgate::session
