#include "python_support.hpp"

#include "base/json.hpp"
#include "bootstrap_text.hpp"
#include "install_notes.hpp"
#include "packages/packages.hpp"
#include "python_failures.hpp"

#include <fmt/format.h>

namespace cellgate::session {

namespace {

constexpr std::string_view variables_expression = "__import__('_cellgate_kernel').variables()"; // of bootstrap.py

} // namespace

KernelLaunch PythonSupport::launch(const LaunchPlace& place, Environment environment) const {
    KernelLaunch launch;
    launch.environment = std::move(environment);
    add_wrapper_path(launch.environment, place);
    if (!python_) {
        launch.argv = jupyter::launch_argv(choice_, place.connection_file);
        return launch;
    }
    const std::string bootstrap = place.session_dir + "/bootstrap.py";
    launch.files.push_back({bootstrap, bootstrap_text});
    launch.files.push_back({place.session_dir + "/speedups.py", speedups_text});
    launch.argv = jupyter::launch_argv(choice_, place.connection_file, bootstrap);
    launch.packages = packages::Packages(place.directories, place.workspace, *python_).shown();
    launch.environment["CELLGATE_PACKAGES"] = launch.packages;
    launch.keeps_output = true; // bootstrap.py sees to that
    return launch;
}

std::optional<std::string> PythonSupport::chdir_code(const std::string& directory) const {
    std::string literal;
    append_json_string(literal, directory); // also a Python literal, but for characters beyond the first plane
    return fmt::format("__import__('os').chdir({})", literal);
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
    return note_of_install(code, outside);
}

Task<std::optional<jupyter::Variables>> PythonSupport::variables(Ask ask) const {
    jupyter::KernelQuery query = jupyter::variables_query(variables_expression);
    const std::string reply = co_await ask(std::move(query));
    co_return jupyter::read_variables(reply);
}

} // namespace cellgate::session
