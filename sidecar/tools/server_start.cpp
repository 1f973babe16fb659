// The registry's servers as processes: the agreement to a start, the start, its end.
#include "async/process.hpp"
#include "base/escape_unprintable.hpp"
#include "base/log.hpp"
#include "gate/gate.hpp"
#include "server_errors.hpp"
#include "server_instance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

namespace cellgate::tools {

namespace {

using namespace std::chrono_literals;
using protocol::ToolServerSource;

constexpr Duration stop_grace = 2s;
// Code that keeps changing a server's program would have a user asked without end.
constexpr int max_start_decisions = 3;

// The pipes of a process, shared by the client that speaks with it and the task that watches it.
class ProcessStream final : public ByteStream {
  public:
    explicit ProcessStream(std::shared_ptr<async::Process> process) : process_(std::move(process)) {}
    Task<std::string> read() override { return process_->stdio().read(); }
    void write(std::string bytes) override { process_->stdio().write(std::move(bytes)); }
    std::size_t write_queue_size() const override { return process_->stdio().write_queue_size(); }
    Task<void> drained(std::size_t below) override { return process_->stdio().drained(below); }
    void close() override { process_->stdio().close(); }

  private:
    std::shared_ptr<async::Process> process_;
};

gate::ServerStart action_of(const ServerSpec& spec, const ServerDescription& described) {
    gate::ServerStart start;
    start.server = spec.name;
    start.command = described.command;
    start.cwd = described.cwd;
    start.environment_names = described.environment_names;
    start.environment = described.environment;
    start.server_identity = described.identity;
    if (described.sandbox) {
        start.sandbox = true;
        start.folders = described.sandbox->folders;
        if (const auto& settings = described.sandbox->settings) {
            start.settings = gate::SandboxSettings{settings->file, RawJson::parse(settings->text)};
        }
    }
    return start;
}

} // namespace

Task<std::shared_ptr<Registry::ServerInstance>> Registry::running(CallContext context, std::string name) {
    require_allowed(context, name);
    while (true) {
        const std::shared_ptr<Server> server = find(name);
        if (server->running) {
            co_return server->running;
        }
        if (closed_) {
            throw failed(name, "cannot be started: cellgate is ending");
        }
        std::shared_ptr<ServerLaunch> start = server->starting;
        if (!start) {
            start = std::make_shared<ServerLaunch>();
            start->spec = server->spec;
            start->described = describe(server->spec, options_.workspace, options_.environment);
            server->starting = start;
            std::exception_ptr error;
            bool refused = false;
            try {
                co_await allow_start(context, start);
            } catch (const Cancelled&) {
                refused = server->co_owners.empty(); // another agent that named it may ask for itself
                error = std::current_exception();
            } catch (const Error& problem) {
                refused = problem.code == ErrorCode::denied;
                start->error = std::current_exception();
                error = start->error;
            } catch (...) {
                start->error = current_error();
                error = start->error;
            }
            if (refused && server->spec.source == ToolServerSource::agent && !server->removed) {
                erase(name, "its start was refused"); // which other servers can have then
            }
            if (error || server->removed) {
                server->starting = nullptr;
                start->done.set();
                if (error) {
                    std::rethrow_exception(error);
                }
                continue;
            }
            server->described = start->described;
            server->allowed = true;
            start->cancel = tasks_.spawn(this->start(server, start));
        }
        co_await start->done.wait();
        if (start->error) {
            std::rethrow_exception(start->error);
        }
        if (start->running) {
            co_return start->running; // even if it has ended meanwhile: the call then tells how
        }
    }
}

Task<void> Registry::allow_start(CallContext context, std::shared_ptr<ServerLaunch> start) {
    if (start->spec.config.url) {
        throw no_http(start->spec.name);
    }
    require_known_variables(start->spec); // no user is asked about what cannot be started
    for (int decisions = 0; decisions < max_start_decisions; ++decisions) {
        gate::Request request;
        request.action = action_of(start->spec, start->described);
        request.session_id = context.session_id;
        request.execution_id = context.execution_id;
        request.from_code = context.from_code;
        // Who starts it may be a user who does not know that an agent wrote this.
        request.agent = start->spec.agent ? start->spec.agent : context.agent;
        request.origin = context.origin;
        const gate::Decision decision = co_await gate_.decide(std::move(request));
        if (!decision.allowed) {
            throw Error(ErrorCode::denied, decision.reason);
        }
        // A cell can change a program of the workspace while a user thinks about it.
        ServerDescription now = describe(start->spec, options_.workspace, options_.environment);
        if (now.identity == start->described.identity) {
            co_return;
        }
        start->described = std::move(now);
    }
    throw changed_meanwhile(start->spec.name);
}

Task<void> Registry::start(std::shared_ptr<Server> server, std::shared_ptr<ServerLaunch> start) {
    server->error.clear();
    try {
        start->running = co_await launch(start);
    } catch (const Cancelled&) {
        start->error = std::make_exception_ptr(failed(start->spec.name, "was stopped before it had started"));
    } catch (...) {
        start->error = current_error();
        server->error = message_of(start->error);
    }
    if (start->process) {
        server->last_process = start->process;
    }
    if (start->running) {
        server->running = start->running;
        tasks_.spawn(watch(server, start->running));
    }
    if (server->starting == start) {
        server->starting = nullptr;
    }
    start->done.set();
}

// Starts the server's process. What fails is reported as the server's failure to start.
Task<void> Registry::spawn(std::shared_ptr<ServerLaunch> start, std::shared_ptr<ServerInstance> running,
                           async::Command command) {
    const std::string& name = start->spec.name;
    try {
        if (start->described.sandbox) {
            co_await prepare_sandbox(start, running, &command);
        }
        if (describe(start->spec, options_.workspace, options_.environment).identity != start->described.identity) {
            throw changed_meanwhile(name);
        }
        running->process = async::start_process(loop_, std::move(command));
        start->process = running->process;
        if (running->sandbox) {
            running->sandbox->launch.descriptors.clear();
        }
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& problem) {
        const Error told = failed(name, "did not start: " + problem.message, problem.hint);
        const ErrorCode code = problem.code == ErrorCode::internal_error ? told.code : problem.code;
        throw Error(code, told.message, told.hint);
    }
}

// Speaks MCP with the started process, and reads its tools.
Task<void> Registry::connect(std::shared_ptr<ServerInstance> running, Instant deadline) {
    auto connection = std::make_shared<protocol::FramedConnection>(std::make_unique<ProcessStream>(running->process),
                                                                   protocol::Framing::lines);
    running->client = co_await mcp::Client::connect(std::move(connection), options_.ourselves, clock_, deadline);
    const mcp::ToolList list = co_await running->client->list_tools(deadline);
    running->take(list);
}

Task<std::shared_ptr<Registry::ServerInstance>> Registry::launch(std::shared_ptr<ServerLaunch> start) {
    ServerCommand expanded = expand(start->spec, start->described, options_.workspace, options_.environment);
    auto running = std::make_shared<ServerInstance>();
    running->name = start->spec.name;
    running->identity = start->described.identity;
    async::Command command;
    command.argv = std::move(expanded.argv);
    command.cwd = std::move(expanded.cwd);
    command.environment = std::move(expanded.environment);
    const std::vector<std::string> argv = command.argv;
    std::exception_ptr error;
    try {
        co_await spawn(start, running, std::move(command));
    } catch (...) {
        error = current_error();
    }
    if (error) {
        co_await shielded(end(running));
        std::rethrow_exception(error);
    }
    const Instant deadline = clock_.now() + max_start_time;
    try {
        co_await connect(running, deadline);
    } catch (...) {
        error = current_error();
    }
    if (error) {
        co_await shielded(fail_start(running, argv, error));
    }
    co_return running;
}

// Ends a server that started and does not speak MCP, and throws why: its exit status and stderr often say it.
Task<void> Registry::fail_start(std::shared_ptr<ServerInstance> running, std::vector<std::string> argv,
                                std::exception_ptr error) {
    co_await running->process->stop(stop_grace);
    const std::string hint = co_await sandbox_hint(running, std::move(argv));
    const async::ExitStatus status = co_await end(running);
    if (running->client) {
        co_await running->client->close();
    }
    try {
        std::rethrow_exception(error);
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& problem) {
        throw failed(
            running->name,
            fmt::format("did not start: {} ({}){}", problem.message, status.describe(), stderr_of(*running->process)),
            hint.empty() ? problem.hint : hint);
    }
}

Task<void> Registry::prepare_sandbox(std::shared_ptr<ServerLaunch> start, std::shared_ptr<ServerInstance> running,
                                     async::Command* command) {
    if (options_.sandbox == nullptr) {
        throw Error(ErrorCode::sandbox_unavailable, "there is no sandbox for tool servers here");
    }
    SandboxedServer server;
    server.name = start->spec.name;
    server.identity = start->described.identity;
    server.agent = start->spec.agent;
    server.command = std::move(*command);
    server.folders = start->described.sandbox->folders;
    server.settings = start->described.sandbox->settings;
    running->sandbox = co_await options_.sandbox->prepare(std::move(server));
    *command = std::move(running->sandbox->launch.command);
    running->layers = running->sandbox->launch.layers;
    for (const std::string& notice : running->sandbox->launch.notices) {
        running->sandbox_notices.push_back(escape_unprintable(notice));
        log_warning("the tool server {}: {}", in_quotes(running->name), running->sandbox_notices.back());
    }
}

Task<async::ExitStatus> Registry::end(std::shared_ptr<ServerInstance> running) {
    async::ExitStatus status;
    if (running->process) {
        status = co_await running->process->exited();
    }
    if (running->sandbox) {
        status = running->sandbox->exit_of(status);
        co_await running->sandbox->end();
    }
    co_return status;
}

Task<std::string> Registry::sandbox_hint(std::shared_ptr<ServerInstance> running, std::vector<std::string> argv) {
    if (!running->sandbox) {
        co_return std::string();
    }
    std::vector<std::string> paths;
    std::error_code ignored;
    std::copy_if(argv.begin() + 1, argv.end(), std::back_inserter(paths), [&](const std::string& argument) {
        return argument.starts_with('/') && std::filesystem::exists(argument, ignored);
    });
    std::vector<std::string> unseen;
    try {
        unseen = co_await running->sandbox->unseen(std::move(paths));
    } catch (const Error&) {
        // Then the server's own words have to do.
    }
    if (unseen.empty()) {
        co_return std::string("It runs in the sandbox: `cellgate sandbox explain` says what is seen there.");
    }
    co_return fmt::format("It runs in the sandbox, where {} cannot be seen: allow it in a settings file "
                          "(filesystem.allowRead), or put it into the workspace.",
                          escape_unprintable(unseen.front()));
}

Task<void> Registry::watch(std::shared_ptr<Server> server, std::shared_ptr<ServerInstance> running) {
    co_await running->client->closed();
    co_await running->process->stop(stop_grace);
    const async::ExitStatus status = co_await end(running);
    co_await running->client->close();
    if (server->running == running) {
        server->running = nullptr;
    }
    server->tools = running->tool_infos();
    if (!running->stopped_because.empty()) {
        running->cause = running->stopped_because;
    } else {
        const std::string& broken = running->client->broken_because();
        running->cause = fmt::format("{}{}{}{}", broken, broken.empty() ? "" : "; ", status.describe(),
                                     stderr_of(*running->process));
        server->error = fmt::format("the tool server {} ended: {}", in_quotes(running->name), running->cause);
    }
    running->ended.set();
}

Task<void> Registry::stop(std::shared_ptr<Server> server, std::string reason) {
    if (const std::shared_ptr<ServerLaunch> start = server->starting; start && start->cancel) {
        start->cancel->cancel();
        co_await start->done.wait();
    }
    server->error.clear();
    if (const std::shared_ptr<ServerInstance> running = server->running) {
        server->running = nullptr; // the next call starts another one
        running->stopped_because = std::move(reason);
        co_await running->process->stop(stop_grace);
        co_await running->ended.wait();
    }
}

Task<void> Registry::close() {
    closed_ = true;
    for (const auto& [name, server] : servers_) {
        tasks_.spawn(stop(server, "cellgate is ending"));
    }
    co_await tasks_.join();
}

} // namespace cellgate::tools
