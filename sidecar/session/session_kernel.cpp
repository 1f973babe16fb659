// A session's kernel: choosing, starting, losing and replacing it.

#include "base/identity_text.hpp"
#include "base/log.hpp"
#include "base/names.hpp"
#include "base/visible_text.hpp"
#include "bootstrap_text.hpp"
#include "egress/settings_rules.hpp"
#include "exec/packages.hpp"
#include "notes.hpp"
#include "sandbox/explain.hpp"
#include "session_start.hpp"
#include "store/owned_directory.hpp"
#include "tools/workspace_programs.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <functional>
#include <unistd.h>

namespace cellgate::session {

namespace {

constexpr Duration start_limit = std::chrono::seconds(60);
constexpr int most_looks = 3;                             // at a workspace's kernel, for one start
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

// Whether all that the workspace decides runs in the sandbox. What files do not tell of an interpreter, it is asked,
// outside.
bool runs_in_sandbox(const jupyter::KernelChoice& choice, const SessionOptions& options) {
    const bool asked_outside = choice.interpreter && !choice.interpreter->has_ipykernel;
    return options.isolation != sandbox::Isolation::none && !asked_outside;
}

// What the kernel will see, besides the workspace and the system.
std::vector<std::string> folders_outside(const jupyter::KernelChoice& choice, const std::string& root) {
    std::vector<std::string> folders = jupyter::folders_of(choice);
    for (const std::string& shown_anyway : {root, std::string("/usr")}) {
        std::erase_if(folders, [&](const std::string& folder) {
            return folder == shown_anyway || folder.starts_with(shown_anyway + "/");
        });
    }
    return folders;
}

// What a person agrees to when the workspace decides which kernel starts.
std::string identity_of(const jupyter::KernelChoice& choice, const SessionOptions& options, const std::string& root) {
    IdentityText text;
    text.add("kernel");
    text.add_all(choice.argv);
    text.add(options.cwd);
    text.add(choice.resource_dir);
    text.add(std::to_string(choice.environment.size()));
    for (const auto& [name, value] : choice.environment) {
        // A person agreed to the value: another one is another program as soon as the name is LD_PRELOAD.
        text.add(name);
        text.add(value);
    }
    std::vector<std::string> names;
    for (const auto& [name, value] : options.environment) {
        names.push_back(name);
    }
    text.add_all(names);
    text.add(runs_in_sandbox(choice, options) ? "sandbox" : "no sandbox");
    text.add_all(folders_outside(choice, root));
    tools::add_workspace_programs(text, choice.argv, options.cwd, root);
    return text.hash();
}

} // namespace

void Session::note_settings(const std::vector<std::string>& notices) {
    sandbox_notices_.clear();
    for (const std::string& notice : notices) {
        sandbox_notices_.push_back(visible_text(notice));
        log_info("session {}: {}", options_.id, sandbox_notices_.back());
    }
}

Task<void> Session::start() {
    start_ = co_await start_kernel();
    kernel_ready_.set();
    tasks_.spawn(watch_kernel(start_));
    tasks_.spawn(run_queue());
    set_status(protocol::SessionStatus::idle);
}

Task<jupyter::KernelChoice> Session::choose_kernel() {
    jupyter::KernelRequest request;
    request.name = options_.kernel.name;
    request.interpreter = options_.kernel.interpreter;
    request.language = options_.language;
    request.workspace = house_.root;
    request.environment = house_.environment;
    jupyter::KernelChoice choice;
    std::optional<std::string> agreed;
    for (int looks = 0;; ++looks) {
        choice = co_await jupyter::find_kernel(house_.loop, request);
        if (!choice.from_workspace) {
            break;
        }
        std::function<std::string()> identify = [this, &choice] { return identity_of(choice, options_, house_.root); };
        const std::string identity = co_await house_.loop.off_loop(std::move(identify));
        if (agreed == identity) {
            break;
        }
        if (looks == most_looks) {
            throw Error(
                ErrorCode::denied,
                fmt::format("the kernel of this workspace ({}) changed each time while its start was decided on",
                            choice.name),
                "something keeps writing it; name another kernel for the session: see `cellgate kernels`");
        }
        // A cell can change it while a person thinks about it: afterwards it is looked at again.
        co_await allow_workspace_kernel(choice, identity);
        agreed = identity;
    }
    choice = co_await jupyter::confirm_kernel(house_.loop, std::move(choice));
    if (options_.language && choice.language != *options_.language) {
        throw Error(ErrorCode::kernel_not_found,
                    fmt::format("expected a kernel for {}, found {} for {}", visible_text(*options_.language),
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
    if (!choice.environment.empty() && jupyter::lies_in(choice.resource_dir, house_.root)) {
        request.action.environment = choice.environment;
    }
    request.action.sandbox = runs_in_sandbox(choice, options_);
    if (*request.action.sandbox) {
        request.action.folders = folders_outside(choice, house_.root);
    }
    request.action.server_identity = std::move(identity);
    request.session_id = options_.id;
    request.agent = options_.agent;
    const gate::Decision decision = co_await house_.gate.decide(std::move(request));
    if (!decision.allowed) {
        throw Error(ErrorCode::denied,
                    fmt::format("the kernel of this workspace ({}) was not started: {}", choice.name, decision.reason),
                    options_.agent ? std::string() : "name another kernel for the session: see `cellgate kernels`");
    }
}

Task<std::unique_ptr<Session::Start>> Session::start_kernel() {
    const jupyter::KernelChoice choice = co_await choose_kernel();
    kernel_.name = choice.name;
    kernel_.language = choice.language;
    if (choice.interpreter) {
        kernel_.interpreter = choice.interpreter->executable;
    }
    python_ = exec::python_of(choice);
    auto start = std::make_unique<Start>();
    start->interrupt_by_signal = choice.interrupt_by_signal;
    std::exception_ptr error;
    try {
        std::function<store::OwnedDirectory()> make = [this] {
            return store::make_owned_directory(house_.directories.runtime, "k-");
        };
        start->owned = co_await house_.loop.off_loop(std::move(make));
        jupyter::ConnectionInfo connection = jupyter::create_connection(start->owned.path);
        connection.kernel_keeps_output = choice.interpreter.has_value(); // bootstrap.py sees to that
        const std::string bootstrap = start->owned.path + "/bootstrap.py";
        write_new_file(bootstrap, bootstrap_text);
        start->channel =
            std::make_unique<tools::Channel>(house_.loop, start->owned.path + "/tools.sock", house_.tools, *this);
        start->serving.spawn(start->channel->run());
        if (options_.isolation == sandbox::Isolation::bwrap) { // the others have no network of their own
            start->proxy = make_proxy(start->owned.path + "/net.sock");
            start->serving.spawn(start->proxy->run());
        }

        async::Command command;
        command.argv = jupyter::launch_argv(choice, connection.file, bootstrap);
        command.cwd = options_.cwd;
        command.environment = choice.environment;
        for (const auto& [name, value] : options_.environment) {
            command.environment[name] = value;
        }
        command.environment["CELLGATE_CHANNEL"] = start->owned.path + "/tools.sock";
        if (options_.cwd != house_.root) {
            // The wrappers lie in the root, and Python looks in the directory that it starts in.
            std::string& path = command.environment["PYTHONPATH"];
            path = path.empty() ? house_.root : path + ":" + house_.root;
        }
        sandbox::Profile& profile = start->profile;
        profile.workspace = house_.root;
        profile.session_dir = start->owned.path;
        profile.read_only = jupyter::folders_of(choice);
        profile.limits = options_.limits;
        if (start->proxy) {
            profile.proxy = start->owned.path + "/net.sock";
        }
        profile.settings = sandbox::with_additions(options_.settings, options_.additions);
        profile.hidden = house_.directories.all();
        if (python_) {
            const exec::Packages packages(house_.directories, house_.root, *python_);
            profile.packages = packages.shown();
            command.environment["CELLGATE_PACKAGES"] = packages.shown();
        }
        std::function<sandbox::Launch()> wrap = [this, &command, &profile] {
            return launcher_->wrap(std::move(command), profile);
        };
        sandbox::Launch launch = co_await house_.loop.off_loop(std::move(wrap));
        layers_ = launch.layers;
        start->group = std::move(launch.group);
        start->mounts = std::move(launch.mounts);
        memory_looked_at_.reset();
        note_settings(launch.notices);
        house_.gate.set_session_rules(options_.id, egress::rules_of(options_.settings.get()));
        const Instant deadline = house_.loop.clock().now() + start_limit;
        start->kernel =
            co_await jupyter::start_kernel(house_.loop, std::move(launch.command), connection, *this, deadline);
        kernel_.version = start->kernel->info().language_version;
        execution_count_ = 0;
        guest_.reset();
        co_return std::move(start);
    } catch (...) {
        error = std::current_exception();
    }
    start->close_doors();
    co_await shielded(start->serving.join());
    if (!start->owned.path.empty()) {
        std::function<void()> remove = [&start] {
            start->group.reset();
            store::remove_tree(start->owned.path);
        };
        co_await shielded(house_.loop.off_loop(std::move(remove)));
    }
    std::rethrow_exception(error);
}

std::unique_ptr<egress::Proxy> Session::make_proxy(std::string path) {
    egress::ProxyOptions proxy;
    proxy.path = std::move(path);
    proxy.name = fmt::format("session {}", options_.id);
    proxy.asker = [this](const egress::Caller& caller) {
        const tools::CallContext context =
            current_call(running_ && start_ ? start_->origins.line_of(caller, running_->id) : std::nullopt);
        gate::Request request;
        request.action.program = egress::shown_program(caller, "the kernel");
        request.origin = context.origin;
        request.session_id = context.session_id;
        request.execution_id = context.execution_id;
        request.agent = context.agent;
        return request;
    };
    proxy.on_refused = [this](const Endpoint& endpoint, const gate::Decision& decision) {
        if (running_ && decision.by != protocol::ResolvedBy::person && decision.by != protocol::ResolvedBy::cancelled) {
            add_note(running_->notes, note_of_refusal(endpoint, decision, options_.settings.get()));
        }
    };
    return std::make_unique<egress::Proxy>(house_.loop, house_.loop.clock(), house_.network, house_.gate,
                                           std::move(proxy));
}

void Session::lose_kernel(const std::string& reason) {
    if (!start_->lost) {
        start_->lost = reason;
        kernel_ready_.reset();
        cancel_queued(std::nullopt, "the kernel that it waited for is gone: " + reason);
    }
    if (!closing_ && status_ != protocol::SessionStatus::restarting) {
        set_status(protocol::SessionStatus::restarting, reason);
    }
}

// The kernel goes by itself; what was sent to it until then would be lost. Gives what to tell of it.
Task<std::string> Session::end_by_exit(std::shared_ptr<Start> start) {
    lose_kernel("the code ended its kernel, as quit() and exit() do; the variables are gone");
    bool by_itself = false;
    try {
        by_itself = co_await start->kernel->dies_until(clock_.now() + exit_grace);
    } catch (const Cancelled&) {
        // The session is being closed.
    }
    co_await shielded(start->kernel->stop(Duration::zero()));
    co_return by_itself
        ? "it ended its kernel, as quit() and exit() do; the variables are gone"
        : "it ended its kernel, as quit() and exit() do, and what that still did was ended with it; the "
          "variables are gone";
}

Task<void> Session::end_kernel(std::shared_ptr<Start> start, Duration grace) {
    start->close_doors();
    co_await start->kernel->stop(grace);
    co_await start->serving.join();
    std::function<void()> remove = [&start] {
        start->group.reset();
        store::remove_tree(start->owned.path);
    };
    co_await house_.loop.off_loop(std::move(remove));
}

Task<void> Session::watch_kernel(std::shared_ptr<Start> start) {
    const jupyter::Death death = co_await start->kernel->died();
    if (replacing_) {
        co_return;
    }
    replacing_ = true;
    if (!running_) { // who waits for the kernel's answer knows more
        const std::optional<LimitMet> met = limit_met(*start, death);
        lose_kernel(met ? met->reason : fmt::format("the kernel ended: {}", death.status.describe()));
    }
    co_await replace_kernel(start, Duration::zero());
}

Task<void> Session::replace_kernel(std::shared_ptr<Start> start, Duration grace) {
    co_await shielded(end_kernel(start, grace));
    std::optional<Error> failure;
    try {
        while (running_) {
            co_await running_->finished.wait(); // it ends with its kernel
        }
        start_ = co_await start_kernel();
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
        tasks_.spawn(watch_kernel(start_));
        kernel_ready_.set();
        set_status(protocol::SessionStatus::idle);
    }
    replaced_.set();
}

// Throws what a start with them would throw.
Task<void> Session::check_settings(std::shared_ptr<const sandbox::Settings> settings,
                                   const sandbox::Additions& additions) {
    sandbox::Profile profile = start_->profile;
    profile.settings = sandbox::with_additions(std::move(settings), additions);
    if (options_.isolation == sandbox::Isolation::none || !profile.settings) {
        co_return;
    }
    std::function<void()> plan = [this, &profile] { sandbox::explain_paths(profile, house_.environment, {}); };
    co_await shielded(house_.loop.off_loop(std::move(plan)));
}

Task<void> Session::restart(std::shared_ptr<const sandbox::Settings> settings, sandbox::Additions additions) {
    require_restartable();
    co_await check_settings(settings, additions);
    require_restartable();
    replacing_ = true;
    replaced_.reset();
    options_.settings = std::move(settings);
    options_.additions = std::move(additions);
    lose_kernel("the session was restarted");
    tasks_.spawn(replace_kernel(start_, shutdown_grace));
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

Task<void> Session::go_back_to_cwd() {
    std::string literal;
    append_json_string(literal, options_.cwd); // also a Python literal, but for characters beyond the first plane
    jupyter::ExecuteRequest request;
    request.msg_id = random_id();
    request.code = fmt::format("__import__('os').chdir({})", literal);
    request.silent = true;
    request.store_history = false;
    const std::shared_ptr<Start> start = start_;
    try {
        co_await start->kernel->client().execute(std::move(request));
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
    if (start_) {
        lose_kernel(reason);
        cancel_queued(std::nullopt, reason); // what came after an earlier loss waits too
        start_->close_doors();
    }
    tasks_.cancel();
    co_await shielded(tasks_.join());
    if (start_) {
        co_await shielded(end_kernel(start_, Duration::zero()));
    }
    house_.gate.end_session(options_.id);
    set_status(protocol::SessionStatus::dead, std::move(reason));
    closed_.set();
}

} // namespace cellgate::session
