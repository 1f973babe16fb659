#include "server_process.hpp"

#include "base/escape_unprintable.hpp"
#include "base/log.hpp"
#include "http_address.hpp"
#include "server_errors.hpp"
#include "web_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>

namespace cellgate::tools {

namespace {

using namespace std::chrono_literals;

constexpr Duration stop_grace = 2s;
constexpr std::size_t max_first_output = 4096;

// The pipes of a process, shared by the client that speaks with it and the task that watches it.
class ProcessStream final : public ByteStream {
  public:
    ProcessStream(std::shared_ptr<async::Process> process, std::shared_ptr<std::string> first_output)
        : process_(std::move(process)), first_output_(std::move(first_output)) {}
    Task<std::string> read() override {
        std::string bytes = co_await process_->stdio().read();
        if (first_output_->size() < max_first_output) {
            first_output_->append(bytes, 0, max_first_output - first_output_->size());
        }
        co_return bytes;
    }
    void write(std::string bytes) override { process_->stdio().write(std::move(bytes)); }
    std::size_t write_queue_size() const override { return process_->stdio().write_queue_size(); }
    Task<void> drained(std::size_t below) override { return process_->stdio().drained(below); }
    void close() override { process_->stdio().close(); }

  private:
    std::shared_ptr<async::Process> process_;
    std::shared_ptr<std::string> first_output_;
};

} // namespace

Task<std::shared_ptr<ServerProcess>> ServerProcess::start(async::Loop& loop, const RegistryOptions& options,
                                                          ServerSpec spec, ServerDescription described,
                                                          GivenValues given) {
    ServerCommand expanded = expand(spec, described, options.workspace, options.environment, given);
    const auto started = std::make_shared<ServerProcess>();
    started->name_ = spec.name;
    started->identity_ = described.identity;
    started->argv_ = expanded.argv;
    async::Command command;
    command.argv = std::move(expanded.argv);
    command.cwd = std::move(expanded.cwd);
    command.environment = std::move(expanded.environment);
    std::exception_ptr error;
    try {
        co_await started->spawn(loop, options, spec, described, std::move(command));
    } catch (...) {
        error = current_error();
    }
    if (error) {
        co_await shielded(started->end());
        std::rethrow_exception(error);
    }
    co_return started;
}

// What fails is reported as the server's failure to start.
Task<void> ServerProcess::spawn(async::Loop& loop, const RegistryOptions& options, const ServerSpec& spec,
                                const ServerDescription& described, async::Command command) {
    try {
        if (described.sandbox) {
            co_await prepare_sandbox(options, spec, *described.sandbox, &command);
        }
        if (describe(spec, options.workspace, options.environment).identity != described.identity) {
            throw changed_meanwhile(name_);
        }
        process_ = async::start_process(loop, std::move(command));
        if (sandbox_) {
            sandbox_->launch.descriptors.clear();
        }
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& problem) {
        const Error told = failed(name_, "did not start: " + problem.message, problem.hint);
        const ErrorCode code = problem.code == ErrorCode::internal_error ? told.code : problem.code;
        throw Error(code, told.message, told.hint);
    }
}

Task<void> ServerProcess::prepare_sandbox(const RegistryOptions& options, const ServerSpec& spec,
                                          const ServerIsolation& isolation, async::Command* command) {
    if (options.sandbox == nullptr) {
        throw Error(ErrorCode::sandbox_unavailable, "there is no sandbox for tool servers here");
    }
    SandboxedServer server;
    server.name = name_;
    server.identity = identity_;
    server.agent = spec.agent;
    server.command = std::move(*command);
    server.isolation = isolation.isolation;
    server.folders = isolation.folders;
    server.settings = isolation.settings;
    server.shows_workspace = isolation.shows_workspace;
    is_web_ = spec.config.builtin.has_value();
    if (is_web_) {
        server.hosts = search_endpoints(server.command.environment);
    }
    sandbox_ = co_await options.sandbox->prepare(std::move(server));
    *command = std::move(sandbox_->launch.command);
    layers_ = sandbox_->launch.layers;
    for (const std::string& notice : sandbox_->launch.notices) {
        notices_.push_back(escape_unprintable(notice));
        log_warning("the tool server {}: {}", in_quotes(name_), notices_.back());
    }
}

std::shared_ptr<protocol::Connection> ServerProcess::connection() {
    return std::make_shared<protocol::FramedConnection>(std::make_unique<ProcessStream>(process_, first_output_),
                                                        protocol::Framing::lines);
}

std::string ServerProcess::output() const {
    return escape_unprintable(process_->stderr_tail(), true);
}

std::string ServerProcess::http_address() const {
    if (first_output_->find("\"jsonrpc\"") != std::string::npos) {
        return {};
    }
    return escape_unprintable(http_address_in(*first_output_ + "\n" + process_->stderr_tail()));
}

std::shared_ptr<void> ServerProcess::allow_host_of(const RawJson& arguments) {
    return is_web_ ? sandbox_->allow(endpoints_of_call(arguments)) : nullptr;
}

Task<std::string> ServerProcess::hint() {
    if (!sandbox_) {
        co_return std::string();
    }
    std::vector<std::string> paths;
    std::error_code ignored;
    std::copy_if(argv_.begin() + 1, argv_.end(), std::back_inserter(paths), [&](const std::string& argument) {
        return argument.starts_with('/') && std::filesystem::exists(argument, ignored);
    });
    std::vector<std::string> unseen;
    try {
        unseen = co_await sandbox_->unseen(std::move(paths));
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

Task<void> ServerProcess::stop() {
    co_await process_->stop(stop_grace);
}

Task<std::string> ServerProcess::end() {
    async::ExitStatus status;
    if (process_) {
        status = co_await process_->exited();
    }
    if (sandbox_) {
        status = sandbox_->exit_of(status);
        co_await sandbox_->end();
    }
    co_return process_ ? status.describe() + stderr_of(*process_) : std::string();
}

} // namespace cellgate::tools
