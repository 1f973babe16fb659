#include "kernel_instance.hpp"

#include "base/escape_unprintable.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/names.hpp"
#include "base/private_files.hpp"
#include "base/sync.hpp"
#include "egress/allowed_hosts.hpp"
#include "egress/settings_rules.hpp"
#include "egress/trusted_certificates.hpp"
#include "gate/connection_rule.hpp"
#include "gate/injected_secrets.hpp"
#include "jupyter/process_kernel.hpp"
#include "kernel_selection.hpp"
#include "kernel_source.hpp"
#include "notes.hpp"
#include "session/session_limits.hpp"
#include "session/spare_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <functional>

namespace cellgate::session {

namespace {

constexpr Duration start_limit = std::chrono::seconds(60);
constexpr Duration max_silence = std::chrono::seconds(10); // of a kernel that starts

// The files in a kernel's directory.
constexpr std::string_view channel_socket = "tools.sock";
constexpr std::string_view proxy_socket = "net.sock";

// About hosts, of its settings file and its profile; and its own.
std::vector<gate::SessionRule> rules_of_session(const SessionOptions& options) {
    std::vector<gate::SessionRule> rules = options.rules;
    for (protocol::RuleSpec& rule : egress::rules_of(options.settings.get())) {
        rules.push_back({std::move(rule)});
    }
    for (const std::string& domain : options.domains) {
        rules.push_back({gate::connection_rule(protocol::Effect::allow, domain)});
    }
    return rules;
}

Error no_question_before_programs(const SessionOptions& options) {
    return Error(ErrorCode::config_invalid,
                 fmt::format("the profile {} asks before each program that code starts, which cellgate's kernels of "
                             "Python and bash can do",
                             options.profile.value_or("")),
                 "Choose another profile for this session.");
}

// Of the kernelspec and the session.
Environment given_environment(const jupyter::KernelChoice& choice, const SessionOptions& options) {
    Environment environment = choice.environment;
    if (options.image) {
        environment = options.image->environment;
    }
    for (const auto& [name, value] : options.environment) {
        environment[name] = value;
    }
    return environment;
}

// A kernel's ports are safe in a network of the sandbox's own only. On the machine's, each of its users could read what
// the kernel prints: its key protects what it is sent, not what it publishes.
void require_own_network(const jupyter::KernelChoice& choice, sandbox::Isolation isolation) {
    if (!sandbox::traits_of(isolation).own_network) {
        throw Error(ErrorCode::kernel_start_failed,
                    fmt::format("the kernel {} listens on TCP ports only, and without the sandbox \"{}\" other users "
                                "and programs of this machine could read what it prints",
                                choice.name, sandbox::traits_of(sandbox::default_isolation).name),
                    "Use the default sandbox for this session.");
    }
}

// Then files of it may run while the kernel starts, such as modules on PYTHONPATH.
bool names_workspace(const Environment& environment, const std::string& workspace) {
    return std::any_of(environment.begin(), environment.end(), [&workspace](const auto& variable) {
        return variable.second.find(workspace) != std::string::npos;
    });
}

// By Python's words, with quotes or without.
bool says_no_ipykernel(const std::string& message) {
    return message.find("No module named ipykernel") != std::string::npos ||
           message.find("No module named 'ipykernel") != std::string::npos;
}

// `placeholders`: the names of secrets, by what is put into the environment in their place.
void put_placeholders(Environment& environment, std::map<std::string, std::string>& placeholders,
                      const protocol::Injection& injection) {
    for (const gate::PlaceholderVariable& variable : gate::placeholders_of(injection)) {
        std::string placeholder = "cellgate-secret-" + random_id();
        environment[variable.name] = placeholder;
        if (!variable.secrets.empty()) {
            placeholders.emplace(std::move(placeholder), variable.secrets.front());
        }
    }
}

} // namespace

Task<std::unique_ptr<KernelInstance>> KernelInstance::start(KernelContext context) {
    const KernelSource& source = source_of(context.options.kernel);
    std::unique_ptr<KernelInstance> instance = co_await source.start(context);
    context.latest.kernel.version = instance->kernel->info().language_version;
    context.latest.execution_count = 0;
    co_return std::move(instance);
}

Task<std::unique_ptr<KernelInstance>> KernelInstance::start_process(KernelContext context) {
    SelectedKernel selected = co_await select_kernel(context.services, context.options, !context.is_spare());
    const jupyter::KernelChoice choice = selected.choice;
    std::unique_ptr<KernelInstance> instance;
    if (context.services.spares != nullptr && !context.is_spare() && !choice.from_workspace) {
        instance = co_await context.services.spares->take(context, choice);
    }
    if (!instance) {
        instance = std::make_unique<KernelInstance>(context);
        instance->choose(choice);
        co_await gate::reporting_failure(selected.outcome, on_failure(instance->launch(std::move(selected.choice)),
                                                                      instance->end(Duration::zero())));
        selected.outcome.succeeded();
    }
    co_return std::move(instance);
}

void KernelInstance::choose(const jupyter::KernelChoice& choice) {
    LatestKernel& latest = context.latest;
    latest.kernel.name = choice.name;
    latest.kernel.language = choice.language;
    if (choice.interpreter) {
        latest.kernel.interpreter = choice.interpreter->executable;
    }
    language = make_language_support(choice, context.options.image);
    latest.python = language->python();
    may_have_spare = !choice.from_workspace && language->may_be_spare();
}

Task<void> KernelInstance::launch(jupyter::KernelChoice choice) {
    SessionServices& services = context.services;
    std::function<store::LockedTempDir()> make = [&services] {
        return store::make_locked_temp_dir(services.directories.runtime, "k-");
    };
    temp_dir = co_await services.loop.run_blocking(std::move(make));
    std::optional<int> first_port;
    if (choice.tcp_only) {
        require_own_network(choice, context.options.isolation);
        first_port = sandbox::first_kernel_port;
    }
    connection = jupyter::create_connection(temp_dir.path, first_port);
    KernelLaunch start = plan(choice);
    connection.interrupt_by_signal = choice.interrupt_by_signal;
    connection.kernel_keeps_output = start.keeps_output;
    connection.print_function = start.print_function;
    for (const BootstrapFile& file : start.files) {
        write_new_file(file.path, file.text);
    }
    if (!context.is_spare()) {
        open_channels();
    }
    if (has_proxy()) {
        serving.spawn(make_trusted_authority(given_environment(choice, context.options)));
    } else {
        authority_made_.set();
    }
    sandbox::Launch launch = co_await wrap(choice, std::move(start), context.is_spare());
    co_await authority_made_.wait();
    if (authority_failure_) {
        std::rethrow_exception(authority_failure_);
    }
    group = std::move(launch.group);
    mounts = std::move(launch.mounts);
    record_sandbox(launch.layers, launch.notices);
    const Instant deadline = services.loop.clock().now() + start_limit;
    const jupyter::SignsOfLife signs{max_silence, [this](int pid) { return progress_of(pid); }};
    try {
        kernel = co_await jupyter::start_kernel(services.loop, std::move(launch.command), connection, *listener,
                                                deadline, &signs);
    } catch (const Error& error) {
        if (context.options.image && says_no_ipykernel(error.message)) {
            throw no_ipykernel_in_image(*context.options.image, choice.interpreter->executable);
        }
        throw;
    }
    co_await introduce();
}

KernelLaunch KernelInstance::plan(const jupyter::KernelChoice& choice) {
    const SessionOptions& options = context.options;
    SessionServices& services = context.services;
    if (!context.is_spare()) { // no code runs in a spare kernel
        services.gate.set_session_rules(options.id, rules_of_session(options));
    }
    if (options.ask_before_programs && !language->asks_before_programs()) {
        throw no_question_before_programs(options);
    }
    const LaunchPlace place{services.directories, services.workspace, options.cwd,
                            temp_dir.path,        connection.file,    !options.saved_tool};
    KernelLaunch start = language->launch(place, make_environment(choice));
    may_have_spare =
        may_have_spare && inspection->placeholders.empty() && !names_workspace(start.environment, services.workspace);
    profile = make_profile(choice);
    profile.packages = start.packages;
    profile.node_modules = start.node_modules;
    if (choice.tcp_only) {
        profile.kernel_sockets = connection.socket_prefix;
    }
    return start;
}

Task<sandbox::Launch> KernelInstance::wrap(const jupyter::KernelChoice& choice, KernelLaunch start, bool compares) {
    async::Command command;
    command.argv = std::move(start.argv);
    command.environment = std::move(start.environment);
    command.cwd = context.options.cwd;
    std::function<sandbox::Launch()> wrap = [this, &command, &choice, compares] {
        if (!compares) {
            return context.launcher.wrap(std::move(command), profile);
        }
        state = state_of_start(choice, command, profile);
        sandbox::Launch launch = context.launcher.wrap(std::move(command), profile);
        state.sandbox = sandbox::fingerprint_of(launch);
        return launch;
    };
    co_return co_await context.services.loop.run_blocking(std::move(wrap));
}

Task<std::optional<std::string>> KernelInstance::difference_to(const KernelInstance& spare,
                                                               jupyter::KernelChoice choice) {
    choose(choice);
    temp_dir.path = spare.temp_dir.path;
    connection = spare.connection;
    KernelLaunch start = plan(choice);
    sandbox::Launch launch = co_await wrap(choice, std::move(start), true);
    mounts = std::move(launch.mounts);
    record_sandbox(launch.layers, launch.notices);
    co_return difference_of(spare.state, state);
}

Task<void> KernelInstance::adopt(KernelInstance& spare) {
    temp_dir = std::move(spare.temp_dir);
    spare.temp_dir = {};
    listener = std::exchange(spare.listener, std::make_unique<SessionListener>());
    listener->session = context.listener;
    *inspection = *spare.inspection;
    group = std::move(spare.group);
    language = std::move(spare.language);
    kernel = std::move(spare.kernel);
    open_channels();
    co_return;
}

Task<void> KernelInstance::introduce() {
    const KernelAccess asked = access([this](jupyter::KernelQuery query) {
        return kernel->client().ask(std::move(query), context.services.loop.clock().now() + max_silence);
    });
    try {
        co_await language->on_started(asked);
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& error) {
        log_warning("session {}: the kernel's names are not known: {}", context.options.id, error.message);
    }
}

KernelAccess KernelInstance::access(KernelAccess::Ask ask) const {
    async::Loop& loop = context.services.loop;
    return KernelAccess(
        std::move(ask), [&loop](std::function<void()> work) { return loop.run_blocking(std::move(work)); },
        temp_dir.path);
}

Task<std::string> KernelInstance::progress_of(int pid) {
    constexpr double noticed = 0.1; // seconds of processor time; what only waits takes less in that time
    KernelProcesses processes{pid, {}};
    if (group) {
        processes.group_folders = group->folders();
    }
    std::function<std::int64_t()> look = [&processes] {
        return static_cast<std::int64_t>(ProcessTable::read().of_kernel(processes).processor_seconds / noticed);
    };
    const std::int64_t worked = co_await context.services.loop.run_blocking(std::move(look));
    // While it connects, a user may have to answer first.
    looks_while_connected_ += has_connected_ ? 1 : 0;
    co_return fmt::format("{} {}", worked, looks_while_connected_);
}

Task<void> KernelInstance::make_trusted_authority(Environment given) {
    std::function<void()> make = [this, &given] {
        egress::make_inspection(*inspection, "cellgate, for the code of one session", temp_dir.path, given);
    };
    try {
        co_await context.services.loop.run_blocking(std::move(make));
    } catch (const Error&) {
        authority_failure_ = std::current_exception();
    }
    authority_made_.set();
}

void KernelInstance::open_channels() {
    channel = std::make_unique<tools::Channel>(context.services.loop,
                                               tools::listen_on_socket(context.services.loop, path_of(channel_socket)),
                                               context.services.tools, *context.caller);
    serving.spawn(channel->run());
    if (has_proxy()) {
        if (context.services.request_secret) {
            inspection->secret_value = std::bind_front(context.services.request_secret, context.options.id);
        }
        proxy = make_proxy();
        serving.spawn(proxy->run());
    }
}

std::unique_ptr<egress::Proxy> KernelInstance::make_proxy() {
    egress::ProxyOptions made;
    made.inspection = inspection;
    made.path = path_of(proxy_socket);
    made.name = fmt::format("session {}", context.options.id);
    made.asker = [this](const egress::ConnectionSource& source) {
        has_connected_ = true;
        std::optional<std::int64_t> line;
        if (const std::shared_ptr<Execution>& running = context.executions->running()) {
            line = attribution.line_of(source, running->id);
        }
        const tools::CallContext call = context.caller->current_call(line, {});
        gate::Connection connection;
        connection.program = egress::shown_program(source, "the kernel");
        gate::Request request;
        request.action = std::move(connection);
        request.origin = call.origin;
        request.session_id = call.session_id;
        request.execution_id = call.execution_id;
        request.agent = call.agent;
        return request;
    };
    made.on_refused = [this](const Endpoint& endpoint, const gate::Decision& decision) {
        const std::shared_ptr<Execution>& running = context.executions->running();
        if (running && decision.by != protocol::ResolvedBy::user && decision.by != protocol::ResolvedBy::cancelled) {
            add_note(running->notes, note_of_refusal(endpoint, decision, context.options.settings.get()));
        }
    };
    made.on_distrusted = [this](const Endpoint& endpoint) {
        if (const std::shared_ptr<Execution>& running = context.executions->running()) {
            add_note(running->notes, note_of_distrust(endpoint));
        }
    };
    SessionServices& services = context.services;
    return std::make_unique<egress::Proxy>(services.loop, services.loop.clock(), services.network, services.gate,
                                           std::move(made));
}

sandbox::Profile KernelInstance::make_profile(const jupyter::KernelChoice& choice) const {
    sandbox::Profile made;
    made.workspace = context.services.workspace;
    made.session_dir = temp_dir.path;
    made.read_only = jupyter::folders_of(choice);
    made.limits = limits_of_sandbox(context.options.limits);
    if (has_proxy()) {
        made.proxy = path_of(proxy_socket);
        made.allowed_hosts = egress::allowed_hosts(context.services.gate, {context.options.id, std::nullopt});
    }
    made.settings = sandbox::with_additions(context.options.settings, context.options.additions);
    made.hidden = context.services.directories.all();
    made.image = context.options.image;
    return made;
}

Environment KernelInstance::make_environment(const jupyter::KernelChoice& choice) {
    Environment environment = given_environment(choice, context.options);
    environment["CELLGATE_CHANNEL"] = path_of(channel_socket);
    if (context.options.ask_before_programs) {
        environment["CELLGATE_ASK_BEFORE_PROGRAMS"] = "1";
    }
    if (has_proxy()) {
        const std::vector<protocol::Rule> rules = context.services.gate.request_rules(context.options.id);
        for (const auto& [name, value] : egress::trust_variables(temp_dir.path, !rules.empty())) {
            environment[name] = value;
        }
        for (const protocol::Rule& rule : rules) {
            if (rule.inject) {
                put_placeholders(environment, inspection->placeholders, *rule.inject);
            }
        }
    }
    return environment;
}

void KernelInstance::record_sandbox(const std::vector<std::string>& layers,
                                    const std::vector<std::string>& sandbox_notices) {
    context.latest.layers = layers;
    context.latest.notices.clear();
    for (const std::string& notice : sandbox_notices) {
        context.latest.notices.push_back(escape_unprintable(notice));
        log_info("session {}: {}", context.options.id, context.latest.notices.back());
    }
}

std::optional<KernelProcesses> KernelInstance::processes() const {
    const std::optional<int> supervisor = kernel->pid();
    if (!supervisor) {
        return std::nullopt;
    }
    KernelProcesses processes{*supervisor, {}};
    if (group) {
        processes.group_folders = group->folders();
    }
    return processes;
}

void KernelInstance::interrupt() {
    if (channel) {
        channel->cancel_calls();
    }
    kernel->interrupt();
}

void KernelInstance::close_channels() {
    if (channel) {
        channel->close();
    }
    if (proxy) {
        proxy->close();
    }
}

Task<void> KernelInstance::end(Duration grace) {
    close_channels();
    if (comm_tools) {
        co_await comm_tools->end();
    }
    if (kernel) {
        co_await kernel->stop(grace);
    }
    co_await serving.join();
    if (temp_dir.path.empty()) {
        co_return;
    }
    std::function<void()> remove = [this] {
        group.reset();
        store::remove_tree(temp_dir.path);
    };
    co_await context.services.loop.run_blocking(std::move(remove));
}

} // namespace cellgate::session
