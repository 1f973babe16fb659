#include "python_support.hpp"

#include "base/json.hpp"
#include "base/json_codec.hpp"
#include "bootstrap_text.hpp"
#include "install_notes.hpp"
#include "packages/packages.hpp"
#include "python_failures.hpp"

#include <fmt/format.h>

namespace cellgate::session {

namespace {

constexpr std::string_view variables_expression = "__import__('_cellgate_kernel').variables()"; // of bootstrap.py

const VariableRules& rules_of_python() {
    static const VariableRules rules{"Python",
                                     {"False",  "None",   "True",    "and",      "as",       "assert", "async",
                                      "await",  "break",  "class",   "continue", "def",      "del",    "elif",
                                      "else",   "except", "finally", "for",      "from",     "global", "if",
                                      "import", "in",     "is",      "lambda",   "nonlocal", "not",    "or",
                                      "pass",   "raise",  "return",  "try",      "while",    "with",   "yield"},
                                     "",
                                     false};
    return rules;
}

// Also a Python literal, but for characters beyond the first plane.
std::string python_text(const std::string& text) {
    return to_json(text);
}

// An expression that calls a function of transfer.py, which is in the kernel's own directory as `path` is.
std::string transfer_call(std::string_view function, const std::string& path, const std::string& arguments) {
    const std::string file = path.substr(0, path.rfind('/')) + "/transfer.py";
    return fmt::format("__import__('runpy').run_path({})['{}'](__import__('IPython').get_ipython().user_ns, {})",
                       python_text(file), function, arguments);
}

} // namespace

KernelLaunch PythonSupport::launch(const LaunchPlace& place, Environment environment) const {
    KernelLaunch launch;
    launch.environment = std::move(environment);
    add_wrapper_path(launch.environment, place);
    if (!python_) {
        launch.argv = jupyter::launch_argv(choice_, place.connection_file);
        return launch;
    }
    launch.files = {{place.session_dir + "/bootstrap.py", bootstrap_text},
                    {place.session_dir + "/programs.py", programs_text},
                    {place.session_dir + "/python_variables.py", python_variables_text},
                    {place.session_dir + "/speedups.py", speedups_text},
                    {place.session_dir + "/transfer.py", transfer_py_text}};
    launch.argv = jupyter::launch_argv(choice_, place.connection_file, launch.files.front().path);
    if (!python_->image) {
        launch.packages = packages::Packages(place.directories, place.workspace, *python_).shown();
        launch.environment["CELLGATE_PACKAGES"] = launch.packages;
    }
    launch.keeps_output = true; // bootstrap.py sees to that
    return launch;
}

std::optional<std::string> PythonSupport::chdir_code(const std::string& directory) const {
    return fmt::format("__import__('os').chdir({})", python_text(directory));
}

FailureCauses PythonSupport::causes_of(const Failure& failure) const {
    FailureCauses causes{failed_paths(failure), bypassed_proxy(failure)};
    if (python_) {
        causes.missing = missing_module(failure);
    }
    return causes;
}

std::optional<protocol::Note> PythonSupport::install_note(const std::string& code, bool holds_installs) const {
    std::optional<std::string> outside;
    if (!holds_installs && python_) {
        outside = python_->executable;
    }
    return note_of_install(code, outside, python_ && python_->image);
}

Task<std::optional<jupyter::Variables>> PythonSupport::variables(const KernelAccess& kernel) const {
    jupyter::KernelQuery query = jupyter::evaluation_query(variables_expression);
    const std::string reply = co_await kernel.ask(std::move(query));
    co_return jupyter::read_variables(reply);
}

const VariableRules* PythonSupport::variable_rules() const {
    return python_ ? &rules_of_python() : nullptr;
}

Task<ExportAnswer> PythonSupport::export_variable(const KernelAccess& kernel, std::string name) const {
    KernelAccess::MakeQuery make = [&name](const std::string& path) {
        return jupyter::evaluation_query(
            transfer_call("export_variable", path, fmt::format("\"{}\", {}", name, python_text(path))));
    };
    co_return co_await kernel.answer<ExportAnswer>(std::move(make));
}

Task<ImportAnswer> PythonSupport::import_variable(const KernelAccess& kernel, std::string name, RawJson value) const {
    KernelAccess::MakeQueryOf make = [&name](const std::string& path, const std::string& source) {
        const std::string arguments = fmt::format("\"{}\", {}, {}", name, python_text(source), python_text(path));
        return jupyter::evaluation_query(transfer_call("import_variable", path, arguments));
    };
    co_return co_await kernel.answer_to<ImportAnswer>(std::move(value), std::move(make));
}

} // namespace cellgate::session
