// A session's kernel: choosing, starting, losing and replacing it.

#include "base/paths.hpp"
#include "base/escape_unprintable.hpp"
#include "base/fingerprint.hpp"
#include "base/log.hpp"
#include "base/names.hpp"
#include "bootstrap_text.hpp"
#include "egress/settings_rules.hpp"
#include "packages/packages.hpp"
#include "kernel_instance.hpp"
#include "notes.hpp"
#include "sandbox/explain.hpp"
#include "store/locked_temp_dir.hpp"
#include "tools/workspace_programs.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <functional>
#include <unistd.h>

namespace cellgate::session {

namespace {

constexpr Duration start_limit = std::chrono::seconds(60);
constexpr int max_attempts = 3;                           // at a workspace's kernel, for one start
constexpr Duration exit_grace = std::chrono::seconds(10); // for what code does at its exit
constexpr Duration shutdown_grace = std::chrono::milliseconds(500);

void write_new_file(const std::string& path, std::string_view text) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const bool good = fd >= 0 && ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    const int error = errno;
    if (fd >= 0) {
        ::close(fd);
    }
    if (!good) {
        throw system_error(ErrorCode::store_failed, fmt::format("cannot write {}", path), error);
    }
}

// Whether everything that the workspace decides runs in the sandbox. An interpreter without ipykernel is queried
// outside.
bool runs_in_sandbox(const jupyter::KernelChoice& choice, const SessionOptions& options) {
    const bool asked_outside = choice.interpreter && !choice.interpreter->has_ipykernel;
    return options.isolation != sandbox::Isolation::none && !asked_outside;
}

// The folders that the kernel will see, besides the workspace and the system.
std::vector<std::string> folders_outside(const jupyter::KernelChoice& choice, const std::string& workspace) {
    std::vector<std::string> folders = jupyter::folders_of(choice);
    for (const std::string& shown_anyway : {workspace, std::string("/usr")}) {
        std::erase_if(folders, [&](const std::string& folder) {
            return is_within(folder, shown_anyway);
        });
    }
    return folders;
}

// The identity that a user allows when the workspace decides which kernel starts.
std::string identity_of(const jupyter::KernelChoice& choice, const SessionOptions& options,
                        const std::string& workspace) {
    Fingerprint text;
    text.add("kernel");
    text.add_all(choice.argv);
    text.add(options.cwd);
    text.add(choice.resource_dir);
    text.add(std::to_string(choice.environment.size()));
    for (const auto& [name, value] : choice.environment) {
        // A user agreed to the value: another one is another program as soon as the name is LD_PRELOAD.
        text.add(name);
        text.add(value);
    }
    std::vector<std::string> names;
    for (const auto& [name, value] : options.environment) {
        names.push_back(name);
    }
    text.add_all(names);
    text.add(runs_in_sandbox(choice, options) ? "sandbox" : "no sandbox");
    text.add_all(folders_outside(choice, workspace));
    tools::add_workspace_programs(text, choice.argv, options.cwd, workspace);
    return text.hash();
}

} // namespace

void Session::record_sandbox_notices(const std::vector<std::string>& notices) {
    sandbox_notices_.clear();
    for (const std::string& notice : notices) {
        sandbox_notices_.push_back(escape_unprintable(notice));
        log_info("session {}: {}", options_.id, sandbox_notices_.back());
    }
}

Task<void> Session::start() {
    instance_ = co_await start_kernel();
    kernel_ready_.set();
    tasks_.spawn(watch_kernel(instance_));
    tasks_.spawn(run_queue());
    set_status(protocol::SessionStatus::idle);
}

Task<jupyter::KernelChoice> Session::choose_kernel() {
    jupyter::KernelRequest request;
    request.name = options_.kernel.name;
    request.interpreter = options_.kernel.interpreter;
    request.language = options_.language;
    request.workspace = services_.workspace;
    request.environment = services_.environment;
    jupyter::KernelChoice choice;
    std::optional<std::string> agreed;
    for (int looks = 0;; ++looks) {
        choice = co_await jupyter::find_kernel(services_.loop, request);
        if (!choice.from_workspace) {
            break;
        }
        std::function<std::string()> identify = [this, &choice] {
            return identity_of(choice, options_, services_.workspace);
        };
        const std::string identity = co_await services_.loop.run_blocking(std::move(identify));
        if (agreed == identity) {
            break;
        }
        if (looks == max_attempts) {
            throw Error(
                ErrorCode::denied,
                fmt::format("the kernel of this workspace ({}) changed each time while its start was decided on",
                            choice.name),
                "something keeps writing it; name another kernel for the session: see `cellgate kernels`");
        }
        // A cell can change it while a user thinks about it: afterwards it is looked at again.
        co_await allow_workspace_kernel(choice, identity);
        agreed = identity;
    }
    choice = co_await jupyter::confirm_kernel(services_.loop, std::move(choice));
    if (options_.language && choice.language != *options_.language) {
        throw Error(ErrorCode::kernel_not_found,
                    fmt::format("expected a kernel for {}, found {} for {}", escape_unprintable(*options_.language),
                                choice.name, choice.language),
                    "see `cellgate kernels`, and name one as the session's kernel");
    }
    co_return choice;
}

Task<void> Session::allow_workspace_kernel(jupyter::KernelChoice choice, std::string identity) {
    gate::Request request;
    request.action.kind = protocol::ActionKind::server;
    request.action.server = "kernel";
    request.action.command = jupyter::launch_argv(choice, "<connection file>", "<bootstrap>");
    request.action.cwd = options_.cwd;
    std::map<std::string, std::string> all = choice.environment;
    all.insert(options_.environment.begin(), options_.environment.end());
    std::vector<std::string> names;
    for (const auto& [name, value] : all) {
        names.push_back(name);
    }
    request.action.environment_names = std::move(names);
    if (!choice.environment.empty() && jupyter::is_inside(choice.resource_dir, services_.workspace)) {
        request.action.environment = choice.environment;
    }
    request.action.sandbox = runs_in_sandbox(choice, options_);
    if (*request.action.sandbox) {
        request.action.folders = folders_outside(choice, services_.workspace);
    }
    request.action.server_identity = std::move(identity);
    request.session_id = options_.id;
    request.agent = options_.agent;
    const gate::Decision decision = co_await services_.gate.decide(std::move(request));
    if (!decision.allowed) {
        throw Error(ErrorCode::denied,
                    fmt::format("the kernel of this workspace ({}) was not started: {}", choice.name, decision.reason),
                    options_.agent ? std::string() : "name another kernel for the session: see `cellgate kernels`");
    }
}

Task<std::unique_ptr<Session::KernelInstance>> Session::start_kernel() {
    const jupyter::KernelChoice choice = co_await choose_kernel();
    kernel_.name = choice.name;
    kernel_.language = choice.language;
    if (choice.interpreter) {
        kernel_.interpreter = choice.interpreter->executable;
    }
    python_ = packages::python_of(choice);
    auto instance = std::make_unique<KernelInstance>();
    instance->interrupt_by_signal = choice.interrupt_by_signal;
    std::exception_ptr error;
    try {
        std::function<store::LockedTempDir()> make = [this] {
            return store::make_locked_temp_dir(services_.directories.runtime, "k-");
        };
        instance->temp_dir = co_await services_.loop.run_blocking(std::move(make));
        jupyter::ConnectionInfo connection = jupyter::create_connection(instance->temp_dir.path);
        connection.kernel_keeps_output = choice.interpreter.has_value(); // bootstrap.py sees to that
        const std::string bootstrap = instance->temp_dir.path + "/bootstrap.py";
        write_new_file(bootstrap, bootstrap_text);
        write_new_file(instance->temp_dir.path + "/speedups.py", speedups_text);
        instance->channel = std::make_unique<tools::Channel>(services_.loop, instance->temp_dir.path + "/tools.sock",
                                                             services_.tools, *this);
        instance->serving.spawn(instance->channel->run());
        if (options_.isolation == sandbox::Isolation::bwrap) { // the others have no network of their own
            instance->proxy = make_proxy(instance->temp_dir.path + "/net.sock");
            instance->serving.spawn(instance->proxy->run());
        }

        async::Command command;
        command.argv = jupyter::launch_argv(choice, connection.file, bootstrap);
        command.cwd = options_.cwd;
        command.environment = choice.environment;
        for (const auto& [name, value] : options_.environment) {
            command.environment[name] = value;
        }
        command.environment["CELLGATE_CHANNEL"] = instance->temp_dir.path + "/tools.sock";
        if (options_.cwd != services_.workspace) {
            // The wrappers are in the workspace, but Python searches its start directory.
            std::string& path = command.environment["PYTHONPATH"];
            path = path.empty() ? services_.workspace : path + ":" + services_.workspace;
        }
        sandbox::Profile& profile = instance->profile;
        profile.workspace = services_.workspace;
        profile.session_dir = instance->temp_dir.path;
        profile.read_only = jupyter::folders_of(choice);
        profile.limits = options_.limits;
        if (instance->proxy) {
            profile.proxy = instance->temp_dir.path + "/net.sock";
        }
        profile.settings = sandbox::with_additions(options_.settings, options_.additions);
        profile.hidden = services_.directories.all();
        if (python_) {
            const packages::Packages packages(services_.directories, services_.workspace, *python_);
            profile.packages = packages.shown();
            command.environment["CELLGATE_PACKAGES"] = packages.shown();
        }
        std::function<sandbox::Launch()> wrap = [this, &command, &profile] {
            return launcher_->wrap(std::move(command), profile);
        };
        sandbox::Launch launch = co_await services_.loop.run_blocking(std::move(wrap));
        layers_ = launch.layers;
        instance->group = std::move(launch.group);
        instance->mounts = std::move(launch.mounts);
        memory_inspected_at_.reset();
        record_sandbox_notices(launch.notices);
        services_.gate.set_session_rules(options_.id, egress::rules_of(options_.settings.get()));
        const Instant deadline = services_.loop.clock().now() + start_limit;
        instance->kernel =
            co_await jupyter::start_kernel(services_.loop, std::move(launch.command), connection, *this, deadline);
        kernel_.version = instance->kernel->info().language_version;
        execution_count_ = 0;
        borrowing_agent_.reset();
        co_return std::move(instance);
    } catch (...) {
        error = std::current_exception();
    }
    instance->close_channels();
    co_await shielded(instance->serving.join());
    if (!instance->temp_dir.path.empty()) {
        std::function<void()> remove = [&instance] {
            instance->group.reset();
            store::remove_tree(instance->temp_dir.path);
        };
        co_await shielded(services_.loop.run_blocking(std::move(remove)));
    }
    std::rethrow_exception(error);
}

std::unique_ptr<egress::Proxy> Session::make_proxy(std::string path) {
    egress::ProxyOptions proxy;
    proxy.path = std::move(path);
    proxy.name = fmt::format("session {}", options_.id);
    proxy.asker = [this](const egress::ConnectionSource& caller) {
        const tools::CallContext context =
            current_call(running_ && instance_ ? instance_->attribution.line_of(caller, running_->id) : std::nullopt);
        gate::Request request;
        request.action.program = egress::shown_program(caller, "the kernel");
        request.origin = context.origin;
        request.session_id = context.session_id;
        request.execution_id = context.execution_id;
        request.agent = context.agent;
        return request;
    };
    proxy.on_refused = [this](const Endpoint& endpoint, const gate::Decision& decision) {
        if (running_ && decision.by != protocol::ResolvedBy::user && decision.by != protocol::ResolvedBy::cancelled) {
            add_note(running_->notes, note_of_refusal(endpoint, decision, options_.settings.get()));
        }
    };
    return std::make_unique<egress::Proxy>(services_.loop, services_.loop.clock(), services_.network, services_.gate,
                                           std::move(proxy));
}

void Session::mark_kernel_lost(const std::string& reason) {
    if (!instance_->lost) {
        instance_->lost = reason;
        kernel_ready_.reset();
        cancel_queued(std::nullopt, "the kernel that it waited for is gone: " + reason);
    }
    if (!closing_ && status_ != protocol::SessionStatus::restarting) {
        set_status(protocol::SessionStatus::restarting, reason);
    }
}

// The kernel exits by itself; anything sent to it before the exit would be lost. Returns the reason for the result.
Task<std::string> Session::end_by_exit(std::shared_ptr<KernelInstance> instance) {
    mark_kernel_lost("the code ended its kernel, as quit() and exit() do; the variables are gone");
    bool by_itself = false;
    try {
        by_itself = co_await instance->kernel->wait_exit(clock_.now() + exit_grace);
    } catch (const Cancelled&) {
        // The session is being closed.
    }
    co_await shielded(instance->kernel->stop(Duration::zero()));
    co_return by_itself
        ? "it ended its kernel, as quit() and exit() do; the variables are gone"
        : "it ended its kernel, as quit() and exit() do, and what that still did was ended with it; the "
          "variables are gone";
}

Task<void> Session::end_kernel(std::shared_ptr<KernelInstance> instance, Duration grace) {
    instance->close_channels();
    co_await instance->kernel->stop(grace);
    co_await instance->serving.join();
    std::function<void()> remove = [&instance] {
        instance->group.reset();
        store::remove_tree(instance->temp_dir.path);
    };
    co_await services_.loop.run_blocking(std::move(remove));
}

Task<void> Session::watch_kernel(std::shared_ptr<KernelInstance> instance) {
    const jupyter::KernelExit kernel_exit = co_await instance->kernel->exited();
    if (replacing_) {
        co_return;
    }
    replacing_ = true;
    if (!running_) { // otherwise run() knows the reason
        const std::optional<LimitExceeded> exceeded = limit_exceeded(*instance, kernel_exit);
        mark_kernel_lost(exceeded ? exceeded->reason
                                  : fmt::format("the kernel ended: {}", kernel_exit.status.describe()));
    }
    co_await replace_kernel(instance, Duration::zero());
}

Task<void> Session::replace_kernel(std::shared_ptr<KernelInstance> instance, Duration grace) {
    co_await shielded(end_kernel(instance, grace));
    std::optional<Error> failure;
    try {
        while (running_) {
            co_await running_->finished.wait(); // it ends with its kernel
        }
        instance_ = co_await start_kernel();
    } catch (const Error& error) {
        failure = error;
    } catch (const std::exception& error) {
        failure = Error(ErrorCode::kernel_start_failed, error.what());
    }
    replacing_ = false;
    kernel_failure_ = failure;
    if (!closing_ && failure) {
        cancel_queued(std::nullopt, "no new kernel could be started: " + failure->message);
        set_status(protocol::SessionStatus::dead, failure->message);
    } else if (!closing_) {
        tasks_.spawn(watch_kernel(instance_));
        kernel_ready_.set();
        set_status(protocol::SessionStatus::idle);
    }
    replaced_.set();
}

// Throws the errors that a start with them would throw.
Task<void> Session::check_settings(std::shared_ptr<const sandbox::Settings> settings,
                                   const sandbox::Additions& additions) {
    sandbox::Profile profile = instance_->profile;
    profile.settings = sandbox::with_additions(std::move(settings), additions);
    if (options_.isolation == sandbox::Isolation::none || !profile.settings) {
        co_return;
    }
    std::function<void()> plan = [this, &profile] { sandbox::explain_paths(profile, services_.environment, {}); };
    co_await shielded(services_.loop.run_blocking(std::move(plan)));
}

Task<void> Session::restart(std::shared_ptr<const sandbox::Settings> settings, sandbox::Additions additions) {
    require_restartable();
    co_await check_settings(settings, additions);
    require_restartable();
    replacing_ = true;
    replaced_.reset();
    options_.settings = std::move(settings);
    options_.additions = std::move(additions);
    mark_kernel_lost("the session was restarted");
    tasks_.spawn(replace_kernel(instance_, shutdown_grace));
    co_await replaced_.wait();
    require_open();
    if (kernel_failure_) {
        throw *kernel_failure_;
    }
}

void Session::require_restartable() const {
    require_open();
    if (replacing_) {
        throw Error(ErrorCode::busy, fmt::format("session {} is being restarted already", options_.id));
    }
}

Task<void> Session::send_chdir() {
    std::string literal;
    append_json_string(literal, options_.cwd); // also a Python literal, but for characters beyond the first plane
    jupyter::ExecuteRequest request;
    request.msg_id = random_id();
    request.code = fmt::format("__import__('os').chdir({})", literal);
    request.silent = true;
    request.store_history = false;
    const std::shared_ptr<KernelInstance> instance = instance_;
    try {
        co_await instance->kernel->client().execute(std::move(request));
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& error) {
        log_warning("session {}: cannot go back to {}: {}", options_.id, options_.cwd, error.message);
    }
}

Task<void> Session::close(std::string reason) {
    if (std::exchange(closing_, true)) {
        co_await closed_.wait();
        co_return;
    }
    if (instance_) {
        mark_kernel_lost(reason);
        cancel_queued(std::nullopt, reason); // also those queued after an earlier loss
        instance_->close_channels();
    }
    tasks_.cancel();
    co_await shielded(tasks_.join());
    if (instance_) {
        co_await shielded(end_kernel(instance_, Duration::zero()));
    }
    services_.gate.end_session(options_.id);
    set_status(protocol::SessionStatus::dead, std::move(reason));
    closed_.set();
}

} // namespace cellgate::session
