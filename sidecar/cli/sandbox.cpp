// `cellgate sandbox explain PATH|HOST`: a cell's access to a path or a host, and the line that decides it.
// The other subcommand of `cellgate sandbox` is in sandbox_test.hpp.

#include "base/escape_unprintable.hpp"
#include "base/scope_exit.hpp"
#include "commands.hpp"
#include "explain_host.hpp"
#include "images/images.hpp"
#include "json_output.hpp"
#include "jupyter/kernel_choice.hpp"
#include "packages/packages.hpp"
#include "packages/python.hpp"
#include "sandbox/explain.hpp"
#include "sandbox/home.hpp"
#include "sandbox/launcher.hpp"
#include "sandbox_options.hpp"
#include "sandbox_test.hpp"
#include "service/sidecar.hpp"
#include "store/directories.hpp"
#include "store/locked_temp_dir.hpp"
#include "until_interrupted.hpp"
#include "workspace_option.hpp"

#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>

namespace cellgate::cli {

namespace {

struct ExplainArguments {
    std::string subject;
    std::string workspace = ".";
    std::string launcher; // empty: the default
    std::string image;    // empty: the machine's system
    SandboxOptions sandbox;
    bool json = false;
};

constexpr const char* examples = R"(Examples:
  cellgate sandbox explain .env
  cellgate sandbox explain ~/.ssh/id_ed25519
  cellgate sandbox explain /data --sandbox-config sandbox.json
  cellgate sandbox explain example.org:443 --sandbox-config sandbox.json

A word without a slash is a path if it is one in the workspace, and else a host if it looks like one; ./NAME is always a
path. The exit code is 0 for what can be read or reached, 1 for what cannot.)";

// Nothing for a path.
std::optional<sandbox::HostQuery> as_host(const std::string& subject, const std::string& workspace) {
    std::error_code ignored;
    const bool like_one = subject.find_first_of(".:") != std::string::npos || subject == "localhost";
    const bool like_a_path =
        subject.find('/') != std::string::npos || subject.starts_with('.') || subject.starts_with('~') ||
        std::filesystem::exists(std::filesystem::symlink_status(workspace + "/" + subject, ignored));
    return like_a_path || !like_one ? std::nullopt : sandbox::parse_host_query(subject);
}

int say_path(const sandbox::PathExplanation& explained, bool as_json) {
    constexpr const char* words[] = {"can be read and written", "can be read, not written",
                                     "is the sandbox's own, not that of the machine", "cannot be read", "is not there"};
    constexpr const char* names[] = {"readWrite", "readOnly", "own", "unreadable", "absent"};
    constexpr std::size_t count = static_cast<std::size_t>(sandbox::Visibility::absent) + 1; // it is the last one
    static_assert(std::size(words) == count && std::size(names) == count);
    const auto number = static_cast<int>(explained.visibility);
    if (as_json) {
        print_json({{"path", explained.path}, {"visibility", names[number]}, {"reason", explained.reason}});
    } else {
        fmt::print("{}: {}\n  by: {}\n", escape_unprintable(explained.path), words[number],
                   escape_unprintable(explained.reason));
    }
    return explained.visibility == sandbox::Visibility::unreadable ||
                   explained.visibility == sandbox::Visibility::absent
               ? 1
               : 0;
}

Task<void> find_kernel(async::Loop* loop, jupyter::KernelRequest request,
                       std::optional<jupyter::KernelChoice>* choice) {
    try {
        *choice = co_await jupyter::find_kernel(*loop, std::move(request));
    } catch (const Error& error) {
        fmt::print(stderr, "cellgate: without a kernel's interpreter, as none was found: {}\n",
                   escape_unprintable(error.message));
    }
}

Task<void> open_image(images::Images* images, std::string name, std::shared_ptr<const sandbox::Image>* image) {
    images::Report report = [](const std::string& text) { fmt::print(stderr, "cellgate: {}\n", text); };
    *image = co_await images->open(std::move(name), std::move(report));
}

int explain(const ExplainArguments& arguments) {
    const Environment environment = process_environment();
    const std::string workspace = service::canonical_workspace(arguments.workspace);
    const std::shared_ptr<const sandbox::Settings> settings = arguments.sandbox.settings();
    if (const std::optional<sandbox::HostQuery> host = as_host(arguments.subject, workspace)) {
        return explain_host(workspace, *host, settings.get(), arguments.json);
    }
    std::error_code ignored;
    if (is_ambiguous_address(arguments.subject) &&
        !std::filesystem::exists(std::filesystem::symlink_status(workspace + "/" + arguments.subject, ignored))) {
        print_host(arguments.subject, protocol::Effect::deny, "it is no host in the one spelling that the proxy takes",
                   arguments.json);
        return 1;
    }

    async::Loop loop;
    const store::Directories directories = store::find_directories(environment);
    for (const std::string& path : {directories.state, directories.config, directories.runtime}) {
        store::make_private_directory(path);
    }
    sandbox::Profile profile;
    std::optional<jupyter::KernelChoice> choice;
    images::Images images(loop, directories, environment);
    if (!arguments.image.empty()) {
        loop.run(until_interrupted(&loop, open_image(&images, arguments.image, &profile.image)));
        if (!profile.image) {
            return 128 + SIGINT;
        }
    } else {
        jupyter::KernelRequest request;
        request.workspace = workspace;
        request.environment = environment;
        loop.run(find_kernel(&loop, std::move(request), &choice));
    }
    profile.workspace = workspace;
    const store::LockedTempDir own = store::make_locked_temp_dir(directories.runtime, "e-");
    profile.session_dir = own.path;
    profile.hidden = directories.all();
    profile.settings = sandbox::with_additions(settings, arguments.sandbox.additions());
    const ScopeExit remove([&own] { store::remove_tree(own.path); });
    if (choice) {
        profile.read_only = jupyter::folders_of(*choice);
        if (const std::optional<packages::Python> python = packages::python_of(*choice)) {
            profile.packages = packages::Packages(directories, workspace, *python).shown();
        }
    }
    const sandbox::Explained explained =
        sandbox::explain_paths(profile, environment, {sandbox::without_tilde(arguments.subject, environment)},
                               isolation_of(arguments.launcher));
    for (const std::string& notice : explained.notices) {
        fmt::print(stderr, "cellgate: sandbox: {}\n", escape_unprintable(notice));
    }
    return say_path(explained.paths.front(), arguments.json);
}

} // namespace

void add_sandbox(CLI::App& app, Invocation& invocation) {
    auto arguments = std::make_shared<ExplainArguments>();
    CLI::App* group = app.add_subcommand("sandbox", "Explain what the sandbox shows, or try it");
    group->require_subcommand(1);
    add_sandbox_test(*group, invocation);
    CLI::App* command = group->add_subcommand(
        "explain", "Say what a cell would see of a path, or could reach of a host, and by which line");
    command->add_option("PATH|HOST", arguments->subject, "A path, from the workspace if relative, or a host")
        ->required()
        ->type_name("");
    add_sandbox_launcher(*command, arguments->launcher);
    add_sandbox_image(*command, arguments->image);
    arguments->sandbox.add_to(*command);
    add_root(*command, arguments->workspace);
    add_json(*command, arguments->json);
    command->footer(examples);
    command->callback([arguments, &invocation] { invocation.run = [arguments] { return explain(*arguments); }; });
}

} // namespace cellgate::cli
