#include "bash_support.hpp"

#include "base/shell_words.hpp"
#include "bootstrap_text.hpp"
#include "failed_path_finder.hpp"

#include <algorithm>
#include <array>

namespace cellgate::session {

KernelLaunch BashSupport::launch(const LaunchPlace& place, Environment environment) const {
    KernelLaunch launch = PlainSupport::launch(place, std::move(environment));
    const std::string file = place.session_dir + "/bash_kernel.py";
    std::replace(launch.argv.begin(), launch.argv.end(), std::string("bash_kernel.py"), file);
    launch.files.push_back({file, bash_kernel_text});
    launch.files.push_back({place.session_dir + "/mcptools_command.py", mcptools_command_text});
    launch.files.push_back({place.session_dir + "/bootstrap.py", bootstrap_text});
    launch.files.push_back({place.session_dir + "/speedups.py", speedups_text});
    launch.keeps_output = true; // bash_kernel.py sees to that
    return launch;
}

std::optional<std::string> BashSupport::chdir_code(const std::string& directory) const {
    return "cd -- " + shell_word(directory);
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

} // namespace cellgate::session
