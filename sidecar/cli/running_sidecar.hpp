#pragma once
// `join_running_sidecar` connects to the workspace's sidecar as a user, if one runs. `run_beside_sidecar` makes a
// subcommand that does so.

#include "async/loop.hpp"
#include "base/byte_stream.hpp"
#include "base/environment.hpp"
#include "commands.hpp"
#include "daemon/instance_paths.hpp"

#include <memory>
#include <utility>

namespace cellgate::cli {

// nullptr, and says so, when none runs. Throws Error{internal_error} for one of another version, which a user of this
// one would end, and what daemon::no_answer() is.
Task<std::unique_ptr<ByteStream>> join_running_sidecar(async::Loop* loop, daemon::InstancePaths paths);

// Adds the options --root and --json, and runs `ask` when the subcommand is chosen. The arguments have the members
// workspace, json and exit_code.
template <class Arguments>
void run_beside_sidecar(CLI::App& command, Invocation& invocation, std::shared_ptr<Arguments> arguments,
                        Task<void> (*ask)(async::Loop*, daemon::InstancePaths, Arguments*)) {
    command.add_option("--root", arguments->workspace, "The workspace; default: the current directory")
        ->check(CLI::ExistingDirectory.description({}))
        ->type_name("DIR");
    command.add_flag("--json", arguments->json, "As JSON");
    command.callback([arguments, ask, &invocation] {
        invocation.run = [arguments, ask] {
            daemon::InstancePaths paths = daemon::find_instance_paths(arguments->workspace, process_environment());
            async::Loop loop;
            loop.run(ask(&loop, std::move(paths), arguments.get()));
            return arguments->exit_code;
        };
    });
}

} // namespace cellgate::cli
