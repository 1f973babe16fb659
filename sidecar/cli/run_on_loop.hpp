#pragma once
// `run_on_loop` makes a subcommand one that runs a task on an event loop. `Parts` is the parts of a subcommand that are
// such subcommands and share their arguments.

#include "async/loop.hpp"
#include "commands.hpp"
#include "json_output.hpp"
#include "workspace_option.hpp"

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace cellgate::cli {

template <class Arguments>
using LoopTask = std::function<Task<void>(async::Loop*, Arguments*)>;

// What Invocation::run takes. The exit code is the arguments' member of that name, else 0.
template <class Arguments>
std::function<int()> on_loop(std::shared_ptr<Arguments> arguments, std::type_identity_t<LoopTask<Arguments>> task) {
    return [arguments = std::move(arguments), task = std::move(task)] {
        async::Loop loop;
        loop.run(task(&loop, arguments.get()));
        if constexpr (requires { arguments->exit_code; }) {
            return arguments->exit_code;
        } else {
            return 0;
        }
    };
}

// Runs `task` when the subcommand is chosen, and none of its own.
template <class Arguments>
void run_on_loop(CLI::App& command, Invocation& invocation, std::shared_ptr<Arguments> arguments,
                 std::type_identity_t<LoopTask<Arguments>> task) {
    command.callback([run = on_loop(std::move(arguments), std::move(task)), &command, &invocation] {
        if (command.get_subcommands().empty()) {
            invocation.run = run;
        }
    });
}

// The command itself and each part have the options --root and --json; the arguments have the members workspace and
// json.
template <class Arguments>
class Parts {
  public:
    // `task`: of the command without a part.
    Parts(CLI::App& command, Invocation& invocation, LoopTask<Arguments> task)
        : command_(command), invocation_(invocation) {
        prepare(command, std::move(task));
        command.require_subcommand(0, 1);
    }
    Arguments& arguments() { return *arguments_; }
    CLI::App& add(const char* name, const char* meaning, LoopTask<Arguments> task) {
        CLI::App* part = command_.add_subcommand(name, meaning);
        prepare(*part, std::move(task));
        return *part;
    }
    // Of one that is named.
    CLI::App& add(const char* name, const char* meaning, LoopTask<Arguments> task, const char* kind, std::string& id) {
        CLI::App& part = add(name, meaning, std::move(task));
        part.add_option(kind, id, "As `list` shows it")->required()->type_name("");
        return part;
    }

  private:
    void prepare(CLI::App& command, LoopTask<Arguments> task) {
        add_root(command, arguments_->workspace);
        add_json(command, arguments_->json);
        run_on_loop(command, invocation_, arguments_, std::move(task));
    }

    CLI::App& command_;
    Invocation& invocation_;
    std::shared_ptr<Arguments> arguments_ = std::make_shared<Arguments>();
};

} // namespace cellgate::cli
