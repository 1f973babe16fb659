// `cellgate serve --stdio`: a sidecar for the one client on stdin and stdout; it ends with it.

#include "async/stream.hpp"
#include "base/log.hpp"
#include "base/sync.hpp"
#include "commands.hpp"
#include "daemon/stdio.hpp"
#include "log_level_option.hpp"
#include "run_on_loop.hpp"
#include "sandbox_options.hpp"
#include "service/sidecar.hpp"
#include "terminal_client.hpp"
#include "workspace_option.hpp"

#include <csignal>
#include <memory>

namespace cellgate::cli {

namespace {

struct ServeArguments {
    bool stdio = false;
    std::string workspace = ".";
    std::string trace;
    std::string sandbox_config;
    LogLevel log_level = LogLevel::warning;
    int exit_code = 1;

    service::SidecarOptions options() const {
        service::SidecarOptions options = options_of(workspace);
        if (!trace.empty()) {
            options.trace_file = trace;
        }
        if (!sandbox_config.empty()) {
            options.sandbox_config = sandbox_config;
        }
        return options;
    }
};

Task<void> close_on_signal(async::Loop* loop, int signal, protocol::Connection* connection) {
    co_await async::wait_for_signal(*loop, signal);
    connection->close();
}

Task<bool> serve_client(async::Loop* loop, service::SidecarOptions options,
                        std::shared_ptr<protocol::Connection> connection) {
    service::Sidecar sidecar(*loop, std::move(options));
    co_return co_await finally(sidecar.serve(std::move(connection), protocol::Role::user), sidecar.close());
}

Task<void> end(std::shared_ptr<protocol::Connection> connection, TaskScope* signals) {
    connection->close();
    co_await cancel_and_join(*signals);
}

Task<void> serve(async::Loop* loop, ServeArguments* arguments) {
    set_log_level(arguments->log_level);
    service::SidecarOptions options = arguments->options();
    const std::shared_ptr<protocol::Connection> connection =
        std::make_shared<protocol::FramedConnection>(daemon::take_stdio(*loop), protocol::Framing::content_length);
    TaskScope signals;
    signals.spawn(close_on_signal(loop, SIGTERM, connection.get()));
    signals.spawn(close_on_signal(loop, SIGINT, connection.get()));
    const bool shut_down =
        co_await finally(serve_client(loop, std::move(options), connection), end(connection, &signals));
    arguments->exit_code = shut_down ? 0 : 1;
}

} // namespace

void add_serve(CLI::App& app, Invocation& invocation) {
    auto arguments = std::make_shared<ServeArguments>();
    CLI::App* command = app.add_subcommand("serve", "Serve one editor over stdin and stdout");
    command->add_flag("--stdio", arguments->stdio, "JSON-RPC 2.0 with Content-Length headers on stdin and stdout")
        ->required();
    add_root(*command, arguments->workspace);
    command->add_option("--trace", arguments->trace, "Append every message to FILE, as JSON lines")->type_name("FILE");
    add_sandbox_config(*command, arguments->sandbox_config);
    add_log_level(*command, arguments->log_level, "What is logged to stderr");
    run_on_loop(*command, invocation, arguments, serve);
}

} // namespace cellgate::cli
