#include "kernel_selection.hpp"

#include "base/escape_unprintable.hpp"
#include "base/fingerprint.hpp"
#include "base/paths.hpp"
#include "base/shell_words.hpp"
#include "jupyter/language_names.hpp"
#include "tools/workspace_programs.hpp"

#include <fmt/format.h>

#include <functional>

namespace cellgate::session {

namespace {

constexpr int max_attempts = 3; // at a workspace's kernel, for one start

// Whether everything that the workspace decides runs in the sandbox. An interpreter without ipykernel is queried
// outside.
bool runs_in_sandbox(const jupyter::KernelChoice& choice, const SessionOptions& options) {
    const bool asked_outside = choice.interpreter && !choice.interpreter->has_ipykernel;
    return sandbox::traits_of(options.isolation).isolates && !asked_outside;
}

// The folders that the kernel will see, besides the workspace and the system.
std::vector<std::string> folders_outside(const jupyter::KernelChoice& choice, const std::string& workspace) {
    std::vector<std::string> folders = jupyter::folders_of(choice);
    for (const std::string& shown_anyway : {workspace, std::string("/usr")}) {
        std::erase_if(folders, [&](const std::string& folder) { return is_within(folder, shown_anyway); });
    }
    return folders;
}

// The identity that a user allows when the workspace decides which kernel starts.
std::string identity_of(const jupyter::KernelChoice& choice, const SessionOptions& options,
                        const std::string& workspace) {
    Fingerprint text;
    text.add("kernel");
    text.add_all(choice.argv);
    text.add(options.cwd);
    text.add(choice.resource_dir);
    text.add(std::to_string(choice.environment.size()));
    for (const auto& [name, value] : choice.environment) {
        // A user agreed to the value: another one is another program as soon as the name is LD_PRELOAD.
        text.add(name);
        text.add(value);
    }
    std::vector<std::string> names;
    for (const auto& [name, value] : options.environment) {
        names.push_back(name);
    }
    text.add_all(names);
    text.add(runs_in_sandbox(choice, options) ? "sandbox" : "no sandbox");
    text.add_all(folders_outside(choice, workspace));
    tools::add_workspace_programs(text, choice.argv, options.cwd, workspace);
    return text.hash();
}

Task<gate::OutcomeReport> allow_workspace_kernel(SessionServices& services, const SessionOptions& options,
                                                 jupyter::KernelChoice choice, std::string identity) {
    gate::KernelStart start;
    start.command = jupyter::launch_argv(choice, "<connection file>", "<bootstrap>");
    start.cwd = options.cwd;
    std::map<std::string, std::string> all = choice.environment;
    all.insert(options.environment.begin(), options.environment.end());
    std::vector<std::string> names;
    for (const auto& [name, value] : all) {
        names.push_back(name);
    }
    start.environment_names = std::move(names);
    if (!choice.environment.empty() && jupyter::is_inside(choice.resource_dir, services.workspace)) {
        start.environment = choice.environment;
    }
    start.sandbox = runs_in_sandbox(choice, options);
    if (start.sandbox) {
        start.folders = folders_outside(choice, services.workspace);
    }
    start.server_identity = std::move(identity);
    gate::Request request;
    request.action = std::move(start);
    request.session_id = options.id;
    request.agent = options.agent;
    gate::Decision decision = co_await services.gate.decide(std::move(request));
    if (!decision.allowed) {
        throw Error(ErrorCode::denied,
                    fmt::format("the kernel of this workspace ({}) was not started: {}", choice.name, decision.reason),
                    options.agent ? std::string() : "name another kernel for the session: see `cellgate kernels`");
    }
    co_return services.gate.outcome_report(decision);
}

// Its Python, or the one there that was named.
jupyter::KernelChoice kernel_of_image(const sandbox::Image& image, const SessionOptions& options) {
    if (options.language && !jupyter::runs_language("python", *options.language)) {
        throw Error(ErrorCode::kernel_not_found,
                    fmt::format("expected a kernel for Python in the image {}, found the wish for {}", image.name,
                                escape_unprintable(*options.language)),
                    "Start the session without an image: kernels for other languages are the machine's.");
    }
    if (options.kernel.name && *options.kernel.name != "python3") {
        throw Error(ErrorCode::kernel_not_found,
                    fmt::format("expected \"python3\", or the path of an interpreter in the image {}, found the "
                                "kernelspec \"{}\"",
                                image.name, escape_unprintable(*options.kernel.name)),
                    "Kernelspecs are the machine's. Name a Python in the image, or start the session without one.");
    }
    const std::string named = options.kernel.interpreter.value_or("python3");
    const std::optional<std::string> python = sandbox::find_program(image, named);
    if (!python) {
        throw Error(
            ErrorCode::kernel_not_found,
            fmt::format("expected the program {} in the image {}, found none", escape_unprintable(named), image.name),
            "Install Python with ipykernel in the image: RUN apt-get install -y python3-ipykernel, or begin "
            "with FROM python:3. Its path may be named, too: --kernel /opt/conda/bin/python.");
    }
    return jupyter::choice_in_image(*python);
}

} // namespace

Error no_ipykernel_in_image(const sandbox::Image& image, const std::string& executable) {
    return Error(
        ErrorCode::kernel_not_found,
        fmt::format("expected ipykernel for {} in the image {}, found none", executable, image.name),
        fmt::format("Add it in the image's Containerfile, and build that again: RUN {} -m pip install ipykernel",
                    shell_word(executable)));
}

Task<SelectedKernel> select_kernel(SessionServices& services, const SessionOptions& options, bool may_ask) {
    if (options.image) {
        std::function<jupyter::KernelChoice()> look = [&options] { return kernel_of_image(*options.image, options); };
        SelectedKernel selected;
        selected.choice = co_await services.loop.run_blocking(std::move(look));
        co_return selected;
    }
    jupyter::KernelRequest request;
    request.name = options.kernel.name;
    request.interpreter = options.kernel.interpreter;
    request.language = options.language;
    request.workspace = services.workspace;
    request.environment = services.environment;
    jupyter::KernelChoice choice;
    gate::OutcomeReport outcome;
    std::optional<std::string> agreed;
    for (int looks = 0;; ++looks) {
        choice = co_await jupyter::find_kernel(services.loop, request);
        if (!choice.from_workspace) {
            break;
        }
        if (!may_ask) {
            throw Error(ErrorCode::denied, fmt::format("the workspace decides on the kernel {}", choice.name));
        }
        std::function<std::string()> identify = [&services, &options, &choice] {
            return identity_of(choice, options, services.workspace);
        };
        const std::string identity = co_await services.loop.run_blocking(std::move(identify));
        if (agreed == identity) {
            break;
        }
        if (looks == max_attempts) {
            throw Error(
                ErrorCode::denied,
                fmt::format("the kernel of this workspace ({}) changed each time while its start was decided on",
                            choice.name),
                "something keeps writing it; name another kernel for the session: see `cellgate kernels`");
        }
        // A cell can change it while a user thinks about it: afterwards it is looked at again.
        outcome = co_await allow_workspace_kernel(services, options, choice, identity);
        agreed = identity;
    }
    choice = co_await jupyter::confirm_kernel(services.loop, std::move(choice));
    if (options.language && !jupyter::runs_language(choice.language, *options.language)) {
        throw Error(ErrorCode::kernel_not_found,
                    fmt::format("expected a kernel for {}, found {} for {}", escape_unprintable(*options.language),
                                choice.name, choice.language),
                    "see `cellgate kernels`, and name one as the session's kernel");
    }
    co_return SelectedKernel{std::move(choice), std::move(outcome)};
}

} // namespace cellgate::session
