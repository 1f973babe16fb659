// `cellgate status` and `cellgate stop`: the workspace's sidecar, as a user at a shell sees it. Both come as an
// agent: the sidecar does not wait for them to reconnect, and does not end because they are newer.

#include "base/enum_name.hpp"
#include "base/environment.hpp"
#include "base/escape_unprintable.hpp"
#include "base/json_codec.hpp"
#include "commands.hpp"
#include "daemon/connect.hpp"
#include "json_output.hpp"
#include "protocol/messages/sessions.hpp"
#include "run_on_loop.hpp"
#include "workspace_client.hpp"
#include "workspace_option.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <functional>
#include <memory>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cellgate::cli {

namespace {

constexpr Duration answer_timeout = std::chrono::seconds(5);
// Kernels and tool servers have seconds of grace.
constexpr Duration end_timeout = std::chrono::seconds(60);
// For a silent one that may only be busy; its kernels and servers end by themselves when it is killed.
constexpr Duration silent_end_timeout = std::chrono::seconds(5);

struct StatusArguments {
    std::string workspace = ".";
    bool json = false;
    int exit_code = 1;
};

int print_none_running(const daemon::InstancePaths& paths, const StatusArguments& arguments, int exit_code) {
    if (arguments.json) {
        print_json({{"running", false}, {"workspace", paths.workspace}});
    } else {
        fmt::print("no sidecar runs for {}\n", escape_unprintable(paths.workspace));
    }
    return exit_code;
}

Task<void> print_status(async::Loop* loop, daemon::InstancePaths paths, StatusArguments* arguments) {
    std::optional<daemon::SidecarConnection> found =
        co_await daemon::join_workspace(*loop, paths, protocol::Role::agent, answer_timeout);
    if (found && found->silent) {
        throw daemon::no_answer(paths, found->sidecar.pid);
    }
    if (!found || !found->stream) {
        arguments->exit_code = print_none_running(paths, *arguments, 1);
        co_return;
    }
    WorkspaceClient client(*loop, std::move(found->stream));
    const protocol::SessionListResult list = co_await client.ask<protocol::SessionList>();
    arguments->exit_code = 0;
    if (arguments->json) {
        print_json({{"running", true},
                    {"workspace", paths.workspace},
                    {"version", found->sidecar.version},
                    {"pid", found->sidecar.pid},
                    {"log", paths.log},
                    {"sessions", Json::parse(to_json(list.sessions))}});
        co_return;
    }
    fmt::print("cellgate {} runs for {} as process {}\n", escape_unprintable(found->sidecar.version),
               escape_unprintable(paths.workspace), found->sidecar.pid);
    fmt::print("log: {}\n", escape_unprintable(paths.log));
    for (const protocol::SessionInfo& session : list.sessions) {
        const std::string image = session.image ? " of the image " + session.image->name : std::string();
        fmt::print("session {}: {}, {}{}, {} cells run, {} waiting\n", escape_unprintable(session.session_id),
                   enum_name(session.status), escape_unprintable(session.kernel.name), image, session.execution_count,
                   session.queue_length);
    }
}

// Signals a process, and returns whether it ended. Its parent may take its time to reap it, or never do so.
bool ends_on(int signal, int process, Duration within) {
    // As system calls: the header of glibc 2.36 is none for C++.
    if (::syscall(SYS_pidfd_send_signal, process, signal, nullptr, 0) != 0) {
        return errno == ESRCH;
    }
    pollfd ended{process, POLLIN, 0};
    const auto timeout = std::chrono::duration_cast<std::chrono::milliseconds>(within).count();
    return ::poll(&ended, 1, static_cast<int>(timeout)) == 1;
}

enum class End { asked, killed, not_yet };

// Asks it to end; one that is silent is killed when it does not.
End end_process(std::int64_t pid, bool silent) {
    const int process = static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0));
    if (process < 0) {
        return errno == ESRCH ? End::asked : End::not_yet;
    }
    End end = End::not_yet;
    if (ends_on(SIGTERM, process, silent ? silent_end_timeout : end_timeout)) {
        end = End::asked;
    } else if (silent && ends_on(SIGKILL, process, end_timeout)) {
        end = End::killed;
    }
    ::close(process);
    return end;
}

Task<void> stop(async::Loop* loop, daemon::InstancePaths paths, StatusArguments* arguments) {
    const std::optional<daemon::SidecarConnection> found =
        co_await daemon::join_workspace(*loop, paths, protocol::Role::agent, answer_timeout);
    if (!found) {
        arguments->exit_code = print_none_running(paths, *arguments, 0);
        co_return;
    }
    const std::int64_t pid = found->sidecar.pid;
    const bool silent = found->silent;
    std::function<End()> work = [pid, silent] { return end_process(pid, silent); };
    const End end = co_await loop->run_blocking(std::move(work));
    if (end == End::not_yet) {
        throw Error(ErrorCode::busy, fmt::format("process {} received the signal to end, and still runs", pid),
                    fmt::format("its log may say why: {}", paths.log));
    }
    arguments->exit_code = 0;
    if (arguments->json) {
        print_json(
            {{"running", false}, {"workspace", paths.workspace}, {"ended", pid}, {"killed", end == End::killed}});
    } else if (silent) {
        fmt::print("{} the sidecar of {} (process {}), which did not answer\n", end == End::killed ? "killed" : "ended",
                   escape_unprintable(paths.workspace), pid);
    } else {
        fmt::print("ended cellgate {} for {} (process {})\n", escape_unprintable(found->sidecar.version),
                   escape_unprintable(paths.workspace), pid);
    }
}

using Action = Task<void> (*)(async::Loop* loop, daemon::InstancePaths paths, StatusArguments* arguments);

void add_command(CLI::App& app, Invocation& invocation, const char* name, const char* meaning, Action action) {
    auto arguments = std::make_shared<StatusArguments>();
    CLI::App* command = app.add_subcommand(name, meaning);
    add_root(*command, arguments->workspace);
    add_json(*command, arguments->json);
    run_on_loop(*command, invocation, arguments, [action](async::Loop* loop, StatusArguments* parsed) {
        return action(loop, daemon::find_instance_paths(parsed->workspace, process_environment()), parsed);
    });
}

} // namespace

void add_status(CLI::App& app, Invocation& invocation) {
    add_command(app, invocation, "status", "Say whether a sidecar runs for the workspace, and what it does",
                print_status);
}

void add_stop(CLI::App& app, Invocation& invocation) {
    add_command(app, invocation, "stop", "End the workspace's sidecar and all that it runs", stop);
}

} // namespace cellgate::cli
