// `cellgate doctor`: can this machine do what cellgate needs, and if not, what to do.

#include "sandbox/doctor.hpp"

#include "base/visible_text.hpp"
#include "commands.hpp"
#include "jupyter/kernel_choice.hpp"
#include "store/directories.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

namespace cellgate::cli {

namespace {

Task<void> examine_kernel(async::Loop* loop, jupyter::KernelRequest request, sandbox::Finding* finding) {
    try {
        const jupyter::KernelChoice choice = co_await jupyter::find_kernel(*loop, std::move(request));
        finding->good = true;
        finding->detail = choice.display_name;
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

} // namespace

void add_doctor(CLI::App& app, Run& run) {
    auto root = std::make_shared<std::string>(".");
    CLI::App* command = app.add_subcommand("doctor", "Examine this machine: the sandbox, the kernel, the directories");
    command->add_option("--root", *root, "The workspace; default: the current directory")
        ->check(CLI::ExistingDirectory.description({}))
        ->type_name("DIR");
    command->callback([root, &run] {
        run = [root] {
            const sandbox::Environment environment = sandbox::process_environment();
            std::vector<sandbox::Finding> findings = sandbox::examine(environment);
            sandbox::Finding kernel{"kernel", false, {}, {}};
            jupyter::KernelRequest request;
            request.workspace = std::filesystem::canonical(*root);
            request.environment = environment;
            async::Loop loop;
            loop.run(examine_kernel(&loop, std::move(request), &kernel));
            findings.push_back(std::move(kernel));
            findings.push_back(examine_directories(environment));
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
