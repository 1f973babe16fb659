#pragma once
// `find_running_sidecar` connects to the workspace's sidecar as a user, if one runs. `run_beside_sidecar` makes a
// subcommand that does so; `beside_sidecar` is the task of one, for `Parts`.

#include "async/loop.hpp"
#include "base/byte_stream.hpp"
#include "base/environment.hpp"
#include "daemon/instance_paths.hpp"
#include "run_on_loop.hpp"
#include "workspace_client.hpp"

#include <memory>
#include <utility>

namespace cellgate::cli {

// nullptr when none runs. Throws Error{internal_error} for one of another version, which a user of this one would end,
// and what daemon::no_answer() is.
Task<std::unique_ptr<ByteStream>> find_running_sidecar(async::Loop* loop, daemon::InstancePaths paths);
// As find_running_sidecar(); says so when none runs.
Task<std::unique_ptr<ByteStream>> join_running_sidecar(async::Loop* loop, daemon::InstancePaths paths);

template <class Arguments>
using AskSidecar = Task<void> (*)(WorkspaceClient*, Arguments*);

// Sets the exit code: 1 when none runs, else 0, which `ask` may change.
template <class Arguments>
Task<void> ask_running_sidecar(async::Loop* loop, Arguments* arguments, AskSidecar<Arguments> ask) {
    daemon::InstancePaths paths = daemon::find_instance_paths(arguments->workspace, process_environment());
    std::unique_ptr<ByteStream> stream = co_await join_running_sidecar(loop, std::move(paths));
    arguments->exit_code = stream ? 0 : 1;
    if (stream) {
        WorkspaceClient client(*loop, std::move(stream));
        co_await client.run(ask(&client, arguments));
    }
}

template <class Arguments>
LoopTask<Arguments> beside_sidecar(AskSidecar<Arguments> ask) {
    return [ask](async::Loop* loop, Arguments* arguments) { return ask_running_sidecar(loop, arguments, ask); };
}

// Adds the options --root and --json. The arguments have the members workspace, json and exit_code.
template <class Arguments>
void run_beside_sidecar(CLI::App& command, Invocation& invocation, std::shared_ptr<Arguments> arguments,
                        AskSidecar<Arguments> ask) {
    add_root(command, arguments->workspace);
    add_json(command, arguments->json);
    run_on_loop(command, invocation, std::move(arguments), beside_sidecar(ask));
}

} // namespace cellgate::cli
