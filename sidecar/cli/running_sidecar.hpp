#pragma once
// `find_running_sidecar` connects to the workspace's sidecar as a user, if one runs. `run_beside_sidecar` makes a
// subcommand that does so, `PartsBesideSidecar` one with parts.

#include "async/loop.hpp"
#include "base/byte_stream.hpp"
#include "base/environment.hpp"
#include "commands.hpp"
#include "daemon/instance_paths.hpp"
#include "json_output.hpp"
#include "workspace_client.hpp"
#include "workspace_option.hpp"

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

// Adds the options --root and --json, and runs `ask` when the subcommand is chosen, and none of its own. The arguments
// have the members workspace, json and exit_code.
template <class Arguments>
void run_beside_sidecar(CLI::App& command, Invocation& invocation, std::shared_ptr<Arguments> arguments,
                        AskSidecar<Arguments> ask) {
    add_root(command, arguments->workspace);
    add_json(command, arguments->json);
    command.callback([arguments, ask, &command, &invocation] {
        if (!command.get_subcommands().empty()) {
            return;
        }
        invocation.run = [arguments, ask] {
            async::Loop loop;
            loop.run(ask_running_sidecar(&loop, arguments.get(), ask));
            return arguments->exit_code;
        };
    });
}

// `PartsBesideSidecar` is the parts of a subcommand; without one of them it is `list`.
template <class Arguments>
class PartsBesideSidecar {
  public:
    PartsBesideSidecar(CLI::App& command, Invocation& invocation, const char* list_meaning, AskSidecar<Arguments> list)
        : command_(command), invocation_(invocation) {
        run_beside_sidecar(command, invocation, arguments_, list);
        command.require_subcommand(0, 1);
        add("list", list_meaning, list);
    }
    Arguments& arguments() { return *arguments_; }
    std::shared_ptr<Arguments> shared_arguments() { return arguments_; }
    CLI::App& add(const char* name, const char* meaning, AskSidecar<Arguments> ask) {
        CLI::App* part = command_.add_subcommand(name, meaning);
        run_beside_sidecar(*part, invocation_, arguments_, ask);
        return *part;
    }
    // Of one that is named.
    CLI::App& add(const char* name, const char* meaning, AskSidecar<Arguments> ask, const char* kind, std::string& id) {
        CLI::App& part = add(name, meaning, ask);
        part.add_option(kind, id, "As `list` shows it")->required()->type_name("");
        return part;
    }

  private:
    CLI::App& command_;
    Invocation& invocation_;
    std::shared_ptr<Arguments> arguments_ = std::make_shared<Arguments>();
};

} // namespace cellgate::cli
