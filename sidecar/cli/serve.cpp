// `cellgate serve --stdio`: a sidecar for the one client on stdin and stdout; it ends with it.

#include "async/stream.hpp"
#include "base/environment.hpp"
#include "base/log.hpp"
#include "base/sync.hpp"
#include "commands.hpp"
#include "daemon/stdio.hpp"
#include "log_level_option.hpp"
#include "sandbox_options.hpp"
#include "service/sidecar.hpp"
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

Task<void> serve(async::Loop* loop, service::SidecarOptions options, int* exit_code) {
    const std::shared_ptr<protocol::Connection> connection =
        std::make_shared<protocol::FramedConnection>(daemon::take_stdio(*loop), protocol::Framing::content_length);
    TaskScope signals;
    signals.spawn(close_on_signal(loop, SIGTERM, connection.get()));
    signals.spawn(close_on_signal(loop, SIGINT, connection.get()));
    const bool shut_down =
        co_await finally(serve_client(loop, std::move(options), connection), end(connection, &signals));
    *exit_code = shut_down ? 0 : 1;
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
    command->callback([arguments, &invocation] {
        invocation.run = [arguments] {
            set_log_level(arguments->log_level);
            service::SidecarOptions options;
            options.workspace = arguments->workspace;
            options.environment = process_environment();
            if (!arguments->trace.empty()) {
                options.trace_file = arguments->trace;
            }
            if (!arguments->sandbox_config.empty()) {
                options.sandbox_config = arguments->sandbox_config;
            }
            async::Loop loop;
            int exit_code = 1;
            loop.run(serve(&loop, std::move(options), &exit_code));
            return exit_code;
        };
    });
}

} // namespace cellgate::cli
