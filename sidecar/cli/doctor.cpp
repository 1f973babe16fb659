// `cellgate doctor`: can this machine do what cellgate needs, and if not, what to do.

#include "sandbox/doctor.hpp"

#include "base/visible_text.hpp"
#include "commands.hpp"
#include "jupyter/kernel_choice.hpp"
#include "store/directories.hpp"
#include "store/owned_directory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

namespace cellgate::cli {

namespace {

Task<void> examine_kernel(async::Loop* loop, jupyter::KernelRequest request, sandbox::Finding* finding,
                          std::vector<std::string>* folders) {
    try {
        const jupyter::KernelChoice choice = co_await jupyter::find_kernel(*loop, std::move(request));
        finding->good = true;
        finding->detail = choice.display_name;
        *folders = jupyter::folders_of(choice);
    } catch (const Error& error) {
        finding->detail = error.message;
        finding->hint = error.hint;
    }
}

sandbox::Finding examine_directories(const sandbox::Environment& environment) {
    sandbox::Finding finding{"directories", true, {}, {}};
    try {
        const store::Directories directories = store::find_directories(environment);
        finding.detail = fmt::format("{}, {}, {}", directories.state, directories.config, directories.runtime);
        for (const std::string& path : {directories.state, directories.config, directories.runtime}) {
            store::make_private_directory(path);
        }
    } catch (const Error& error) {
        finding = {"directories", false, error.message, error.hint};
    }
    return finding;
}

// What the start of a session there would say, short of starting it.
sandbox::Finding examine_workspace(const sandbox::Environment& environment, const std::string& root,
                                   const std::vector<std::string>& folders) {
    sandbox::Finding finding{"workspace", true, root, {}};
    store::OwnedDirectory own;
    try {
        const store::Directories directories = store::find_directories(environment);
        own = store::make_owned_directory(directories.runtime, "d-");
        sandbox::Profile profile;
        profile.workspace = root;
        profile.session_dir = own.path;
        profile.read_only = folders;
        profile.hidden = directories.all();
        async::Command command;
        command.argv = {"/bin/true"};
        sandbox::make_launcher(sandbox::Isolation::bwrap, environment)->wrap(std::move(command), profile);
    } catch (const Error& error) {
        finding = {"workspace", false, error.message, error.hint};
    }
    if (!own.path.empty()) {
        store::remove_tree(own.path);
    }
    return finding;
}

} // namespace

void add_doctor(CLI::App& app, Invocation& invocation) {
    auto root = std::make_shared<std::string>(".");
    CLI::App* command = app.add_subcommand("doctor", "Examine this machine: the sandbox, the kernel, the directories");
    command->add_option("--root", *root, "The workspace; default: the current directory")
        ->check(CLI::ExistingDirectory.description({}))
        ->type_name("DIR");
    command->callback([root, &invocation] {
        invocation.run = [root] {
            const sandbox::Environment environment = sandbox::process_environment();
            std::vector<sandbox::Finding> findings = sandbox::examine(environment);
            sandbox::Finding kernel{"kernel", false, {}, {}};
            std::vector<std::string> folders;
            jupyter::KernelRequest request;
            request.workspace = std::filesystem::canonical(*root);
            request.environment = environment;
            async::Loop loop;
            const bool sandbox_is_there = std::all_of(findings.begin(), findings.end(),
                                                      [](const sandbox::Finding& finding) { return finding.good; });
            loop.run(examine_kernel(&loop, request, &kernel, &folders));
            findings.push_back(std::move(kernel));
            findings.push_back(examine_directories(environment));
            if (sandbox_is_there && findings.back().good) {
                findings.push_back(examine_workspace(environment, request.workspace, folders));
            }
            bool good = true;
            for (const sandbox::Finding& finding : findings) {
                fmt::print("{} {}: {}\n", finding.good ? "ok     " : "PROBLEM", finding.subject,
                           visible_text(finding.detail));
                if (!finding.hint.empty()) {
                    fmt::print("        {}\n", visible_text(finding.hint, true));
                }
                good = good && finding.good;
            }
            return good ? 0 : 1;
        };
    });
}

} // namespace cellgate::cli
