// `cellgate limits`: the limits of a session, and changing them.

#include "base/enum_name.hpp"
#include "protocol/messages/sessions.hpp"
#include "running_sidecar.hpp"
#include "session_text.hpp"
#include "value_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

namespace cellgate::cli {

namespace {

// With less, no kernel starts.
constexpr std::int64_t least_memory = 64; // MiB
constexpr std::int64_t least_files = 64;

struct LimitsArguments {
    std::string workspace = ".";
    std::string session = "default";
    protocol::Limits limits;
    bool changes = false;
    bool json = false;
    int exit_code = 1;
};

Task<void> show_limits(WorkspaceClient* client, LimitsArguments* arguments) {
    std::string id = arguments->session;
    const protocol::SessionInfo session = co_await find_session(client, std::move(id));
    if (arguments->json) {
        fmt::print("{}\n", to_json(session.limits.value_or(protocol::Limits{})));
    } else {
        fmt::print("{}{}", limits_text(session.limits), defaults_text(session));
    }
}

Task<void> change_limits(WorkspaceClient* client, LimitsArguments* arguments) {
    protocol::LimitsSetParams params{arguments->session, arguments->limits};
    const protocol::LimitsSetResult result = co_await client->call<protocol::LimitsSet>(std::move(params));
    if (arguments->json) {
        fmt::print("{}\n", to_json(result));
        co_return;
    }
    fmt::print("{}", limits_text(result.limits));
    if (!result.after_restart.empty()) {
        std::vector<std::string_view> names;
        for (const protocol::LimitName name : result.after_restart) {
            names.push_back(enum_name(name));
        }
        fmt::print("once its kernel has started again: {}\n", fmt::join(names, ", "));
    }
}

Task<void> limits(WorkspaceClient* client, LimitsArguments* arguments) {
    if (arguments->changes) {
        co_await change_limits(client, arguments);
    } else {
        co_await show_limits(client, arguments);
    }
}

// `least`: of a SIZE, in MiB.
template <class Number>
void add_limit(CLI::App& command, LimitsArguments& arguments, const char* name, std::optional<Number>& limit,
               const char* type, const char* help, std::int64_t least = 1) {
    CLI::Option* option = command.add_option_function<Number>(
        name,
        [&arguments, &limit](const Number& value) {
            limit = value;
            arguments.changes = true;
        },
        help);
    option->type_name(type);
    if (std::string_view(type) == "SIZE") {
        option->transform(size_in_bytes(static_cast<std::uint64_t>(least)));
    } else if constexpr (std::is_floating_point_v<Number>) {
        option->check(positive_number());
    } else {
        option->check(whole_number(least));
    }
}

} // namespace

void add_limits(CLI::App& app, Invocation& invocation) {
    auto arguments = std::make_shared<LimitsArguments>();
    protocol::Limits& limits_of = arguments->limits;
    CLI::App* command = app.add_subcommand("limits", "The limits of a session that runs; with options, changes them");
    command->add_option("session", arguments->session, "Its id; default: the session that users share")
        ->type_name("SESSION");
    add_limit(*command, *arguments, "--memory", limits_of.memory_bytes, "SIZE", "Of each process, and of all: 4G",
              least_memory);
    add_limit(*command, *arguments, "--processes", limits_of.process_count, "N", "Processes and threads");
    add_limit(*command, *arguments, "--cores", limits_of.cpu_cores, "N", "Processors that may be busy: 1.5");
    add_limit(*command, *arguments, "--cpu-seconds", limits_of.cpu_seconds, "N", "Processor time of each process");
    add_limit(*command, *arguments, "--open-files", limits_of.open_files, "N", "Of each process", least_files);
    add_limit(*command, *arguments, "--file-size", limits_of.file_size_bytes, "SIZE", "Of each file that is written",
              0);
    add_limit(*command, *arguments, "--disk", limits_of.disk_bytes, "SIZE", "Of /tmp, /dev/shm and the home, each");
    add_limit(*command, *arguments, "--timeout", limits_of.wall_seconds, "SECONDS", "Of each execution");
    run_beside_sidecar(*command, invocation, std::move(arguments), limits);
}

} // namespace cellgate::cli
