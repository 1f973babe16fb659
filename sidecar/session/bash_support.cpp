#include "bash_support.hpp"

#include "base/json_codec.hpp"
#include "base/shell_words.hpp"
#include "bootstrap_text.hpp"
#include "failed_path_finder.hpp"

#include <algorithm>
#include <array>

namespace cellgate::session {

namespace {

const VariableRules& rules_of_bash() {
    static const VariableRules rules{"bash",
                                     {"_", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
                                      "function", "if", "in", "select", "then", "time", "until", "while"},
                                     "",
                                     false};
    return rules;
}

// What bash_variables.py does.
jupyter::KernelQuery bash_question(const std::vector<std::string>& words) {
    return jupyter::evaluation_query(to_json(words));
}

} // namespace

KernelLaunch BashSupport::launch(const LaunchPlace& place, Environment environment) const {
    KernelLaunch launch = PlainSupport::launch(place, std::move(environment));
    launch.files = {{place.session_dir + "/bash_kernel.py", bash_kernel_text},
                    {place.session_dir + "/mcptools_command.py", mcptools_command_text},
                    {place.session_dir + "/bootstrap.py", bootstrap_text},
                    {place.session_dir + "/programs.py", programs_text},
                    {place.session_dir + "/speedups.py", speedups_text},
                    {place.session_dir + "/bash_variables.py", bash_variables_text},
                    {place.session_dir + "/transfer.py", transfer_py_text}};
    std::replace(launch.argv.begin(), launch.argv.end(), std::string("bash_kernel.py"), launch.files.front().path);
    launch.keeps_output = true; // bash_kernel.py sees to that
    return launch;
}

std::optional<std::string> BashSupport::chdir_code(const std::string& directory) const {
    return "cd -- " + shell_word(directory);
}

std::string_view BashSupport::kernel_ends() const {
    return "exit does, and a command that fails after set -e (within parentheses they end a subshell only)";
}

FailureCauses BashSupport::causes_of(const Failure& failure) const {
    FailedPathFinder finder;
    FailedPathFinder::for_lines(failure.printed, [&finder](std::string_view line) { finder.read_complaint(line); });
    FailureCauses causes;
    causes.paths = finder.take();
    constexpr std::array unreachable = {"Network is unreachable", "emporary failure in name resolution",
                                        "Could not resolve host"};
    causes.bypassed_proxy = std::any_of(unreachable.begin(), unreachable.end(), [&failure](const char* each) {
        return failure.printed.find(each) != std::string::npos;
    });
    return causes;
}

Task<std::optional<jupyter::Variables>> BashSupport::variables(const KernelAccess& kernel) const {
    jupyter::KernelQuery query = bash_question({"variables"});
    const std::string reply = co_await kernel.ask(std::move(query));
    co_return jupyter::read_variables(reply);
}

const VariableRules* BashSupport::variable_rules() const {
    return &rules_of_bash();
}

Task<ExportAnswer> BashSupport::export_variable(const KernelAccess& kernel, std::string name) const {
    KernelAccess::MakeQuery make = [&name](const std::string& path) { return bash_question({"export", name, path}); };
    co_return co_await kernel.answer<ExportAnswer>(std::move(make));
}

Task<ImportAnswer> BashSupport::import_variable(const KernelAccess& kernel, std::string name, RawJson value) const {
    KernelAccess::MakeQueryOf make = [&name](const std::string& path, const std::string& source) {
        return bash_question({"import", name, source, path});
    };
    co_return co_await kernel.answer_to<ImportAnswer>(std::move(value), std::move(make));
}

} // namespace cellgate::session
