// `cellgate doctor`: whether this machine meets cellgate's requirements, and how to fix it if not.

#include "sandbox/doctor.hpp"

#include "all_commands.hpp"
#include "base/escape_unprintable.hpp"
#include "commands.hpp"
#include "config_findings.hpp"
#include "json_output.hpp"
#include "jupyter/kernel_choice.hpp"
#include "sandbox/launcher.hpp"
#include "store/directories.hpp"
#include "store/locked_temp_dir.hpp"
#include "workspace_option.hpp"

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

sandbox::Finding examine_directories(const Environment& environment) {
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

// The errors that the start of a session would give, without starting it.
sandbox::Finding examine_workspace(const Environment& environment, const std::string& workspace,
                                   const std::vector<std::string>& folders) {
    sandbox::Finding finding{"workspace", true, workspace, {}};
    store::LockedTempDir own;
    try {
        const store::Directories directories = store::find_directories(environment);
        own = store::make_locked_temp_dir(directories.runtime, "d-");
        sandbox::Profile profile;
        profile.workspace = workspace;
        profile.session_dir = own.path;
        profile.read_only = folders;
        profile.hidden = directories.all();
        async::Command command;
        command.argv = {"/bin/true"};
        sandbox::make_launcher(sandbox::default_isolation, environment)->wrap(std::move(command), profile);
    } catch (const Error& error) {
        finding = {"workspace", false, error.message, error.hint};
    }
    if (!own.path.empty()) {
        store::remove_tree(own.path);
    }
    return finding;
}

std::vector<sandbox::Finding> examine_all(const std::string& folder) {
    const Environment environment = process_environment();
    std::vector<sandbox::Finding> findings = sandbox::examine(environment);
    sandbox::Finding kernel{"kernel", false, {}, {}};
    std::vector<std::string> folders;
    jupyter::KernelRequest request;
    request.workspace = std::filesystem::canonical(folder);
    request.environment = environment;
    async::Loop loop;
    const bool sandbox_is_there =
        std::all_of(findings.begin(), findings.end(), [](const sandbox::Finding& finding) { return finding.good; });
    loop.run(examine_kernel(&loop, request, &kernel, &folders));
    findings.push_back(std::move(kernel));
    findings.push_back(examine_directories(environment));
    if (sandbox_is_there && findings.back().good) {
        findings.push_back(examine_workspace(environment, request.workspace, folders));
    }
    return findings;
}

// One finding for all files of the configuration if they are good, else one for each that is not.
void add_configuration(std::vector<sandbox::Finding>& findings, const CLI::App& app) {
    try {
        CommandTree tree;
        std::vector<sandbox::Finding> files =
            config_findings(config_file_of(app), config_file_content(app, tree.app), process_environment());
        std::erase_if(files, [](const sandbox::Finding& finding) { return finding.good; });
        if (files.empty()) {
            files.push_back({"configuration", true, "its files can be read, or are not there", {}});
        }
        findings.insert(findings.end(), files.begin(), files.end());
    } catch (const Error&) { // no home, which is a finding already
    }
}

void print_finding(const sandbox::Finding& finding) {
    fmt::print("{} {}: {}\n", finding.good ? "ok     " : "PROBLEM", finding.subject,
               escape_unprintable(finding.detail));
    if (!finding.hint.empty()) {
        fmt::print("        {}\n", escape_unprintable(finding.hint, true));
    }
}

} // namespace

void add_doctor(CLI::App& app, Invocation& invocation) {
    auto workspace = std::make_shared<std::string>(".");
    CLI::App* command = app.add_subcommand("doctor", "Examine this machine: the sandbox, the kernel, the directories");
    add_root(*command, *workspace);
    auto json = std::make_shared<bool>(false);
    add_json(*command, *json);
    command->callback([&app, workspace, json, &invocation] {
        invocation.run = [&app, workspace, json] {
            bool good = true;
            std::vector<sandbox::Finding> findings = examine_all(*workspace);
            add_configuration(findings, app);
            for (const sandbox::Finding& finding : findings) {
                if (*json) {
                    print_json({{"subject", finding.subject},
                                {"good", finding.good},
                                {"detail", finding.detail},
                                {"hint", finding.hint}});
                } else {
                    print_finding(finding);
                }
                good = good && finding.good;
            }
            return good ? 0 : 1;
        };
    });
}

} // namespace cellgate::cli
