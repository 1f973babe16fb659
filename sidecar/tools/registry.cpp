#include "tools/registry.hpp"

#include "async/process.hpp"
#include "base/escape_unprintable.hpp"
#include "base/hash.hpp"
#include "base/log.hpp"
#include "base/names.hpp"
#include "gate/gate.hpp"
#include "suggest.hpp"
#include "wrappers/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>

namespace cellgate::tools {

namespace {

using namespace std::chrono_literals;
using protocol::ToolServerSource;
using protocol::ToolServerState;

constexpr Duration start_time = 30s;
constexpr Duration stop_grace = 2s;
constexpr std::size_t told_stderr = 2000;
constexpr std::size_t max_title_bytes = 200;
constexpr std::size_t max_description_bytes = std::size_t{16} << 10;
// Code that writes a server's program anew each time would have a user asked without end.
constexpr int max_start_decisions = 3;

// The pipes of a process, for whoever speaks with it while somebody else watches it.
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

// Made visible, and cut with a mark.
std::string shortened(std::string_view text, std::size_t longest, bool keep_lines = false) {
    const std::string start = escape_unprintable(text.substr(0, longest), keep_lines);
    return text.size() > longest ? fmt::format("{}… ({} bytes in all)", start, text.size()) : start;
}

std::string in_quotes(const std::string& name) {
    return fmt::format("\"{}\"", escape_unprintable(name.substr(0, 128)));
}

std::string stderr_of(const async::Process& process) {
    std::string text = process.stderr_tail();
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) {
        text.pop_back();
    }
    if (text.empty()) {
        return "; it wrote nothing to stderr";
    }
    const bool cut = text.size() > told_stderr;
    return fmt::format("; its stderr ends with:\n{}{}", cut ? "…" : "",
                       escape_unprintable(text.substr(cut ? text.size() - told_stderr : 0), true));
}

Error failed(const std::string& server, const std::string& what, std::string hint = {}) {
    return Error(ErrorCode::tool_server_failed, fmt::format("the tool server {} {}", in_quotes(server), what),
                 std::move(hint));
}

Error no_http(const std::string& server) {
    return failed(server, "cannot be used: servers over HTTP come later",
                  "Use one that starts with a command and speaks on stdio.");
}

Error changed_meanwhile(const std::string& server) {
    return Error(
        ErrorCode::denied,
        fmt::format("the program of the tool server {} changed while its start was decided about", in_quotes(server)),
        "Call again once its files stay as they are.");
}

Error not_found(const std::string& server, const std::vector<std::string>& names) {
    return Error(ErrorCode::tool_server_not_found, fmt::format("there is no tool server {}", in_quotes(server)),
                 did_you_mean(server, names) +
                     " Others are named in .mcp.json of the workspace, by the editor, or on the "
                     "command line: --server NAME -- COMMAND, or --mcp-config FILE.");
}

void require_allowed(const CallContext& context, const std::string& server) {
    if (context.servers &&
        std::find(context.servers->begin(), context.servers->end(), server) == context.servers->end()) {
        throw Error(ErrorCode::tool_server_not_found,
                    fmt::format("this session may not use the tool server {}", in_quotes(server)),
                    "A user names the tool servers of a session when it is created.");
    }
}

// The exception that is being handled, as everybody who waits for it can catch it.
std::exception_ptr current_error() {
    try {
        throw;
    } catch (const Error&) {
        return std::current_exception();
    } catch (const std::exception& error) {
        return std::make_exception_ptr(Error(ErrorCode::internal_error, escape_unprintable(error.what())));
    } catch (...) {
        return std::make_exception_ptr(Error(ErrorCode::internal_error, "something unknown was thrown"));
    }
}

std::string message_of(std::exception_ptr error) {
    try {
        std::rethrow_exception(error);
    } catch (const Error& each) {
        return each.message;
    }
}

protocol::ToolInfo info_of_tool(const protocol::ToolSpec& spec) {
    protocol::ToolInfo info;
    info.name = spec.name;
    info.input_schema = spec.input_schema;
    info.output_schema = spec.output_schema;
    const std::optional<std::string> title = spec.title || !spec.annotations ? spec.title : spec.annotations->title;
    if (title) {
        info.hints.title = shortened(*title, max_title_bytes);
    }
    if (spec.description) {
        info.hints.description = shortened(*spec.description, max_description_bytes, true);
    }
    if (spec.annotations) {
        info.hints.read_only_hint = spec.annotations->read_only_hint;
        info.hints.destructive_hint = spec.annotations->destructive_hint;
        info.hints.idempotent_hint = spec.annotations->idempotent_hint;
        info.hints.open_world_hint = spec.annotations->open_world_hint;
    }
    return info;
}

std::string package_of(const std::string& server) {
    return wrappers::generate(server, {}).package;
}

std::string identity_of(const protocol::ToolSpec& spec) {
    return sha256(to_json(spec));
}

const std::string& host_identity() {
    static const std::string identity = sha256("the tool server that is part of cellgate");
    return identity;
}

} // namespace

// A server's process and what it offers.
struct Registry::Running {
    std::string name;
    std::string identity;
    std::shared_ptr<SandboxedStart> sandbox;
    std::vector<std::string> layers;
    std::vector<std::string> sandbox_notices;
    std::shared_ptr<async::Process> process;
    std::shared_ptr<mcp::Client> client;
    std::vector<std::shared_ptr<const Tool>> tools;
    bool stale = false; // the server said that its tools are others now
    std::shared_ptr<Event> refreshing;
    std::string stopped_because; // by us
    std::string cause;           // of its end
    Event ended;

    void take(const mcp::ToolList& list) {
        tools.clear();
        for (const protocol::ToolSpec& spec : list.tools) {
            tools.push_back(std::make_shared<Tool>(Tool{spec, identity_of(spec), identity}));
        }
        for (const protocol::SkippedTool& skipped : list.skipped) {
            log_warning("the tool server {}: {} is left out: {}", in_quotes(name), skipped.tool, skipped.reason);
        }
    }
    std::vector<protocol::ToolInfo> tool_infos() const {
        std::vector<protocol::ToolInfo> infos;
        for (const std::shared_ptr<const Tool>& tool : tools) {
            infos.push_back(info_of_tool(tool->spec));
        }
        return infos;
    }
    std::shared_ptr<const Tool> find(const std::string& tool) const {
        const auto entry =
            std::find_if(tools.begin(), tools.end(), [&](const auto& each) { return each->spec.name == tool; });
        return entry == tools.end() ? nullptr : *entry;
    }
};

// One start, shared by all who wait for it. What is started is what was shown, whatever is configured meanwhile.
struct Registry::Start {
    ServerSpec spec;
    ServerDescription described;
    std::shared_ptr<CancelState> cancel; // of the start itself, once it was allowed
    bool abandoned = false;              // whoever asked for it gave up before it was allowed
    std::shared_ptr<async::Process> process;
    std::shared_ptr<Running> running;
    std::exception_ptr error;
    Event done;
};

struct Registry::Server {
    ServerSpec spec;
    std::vector<gate::Agent> co_owners; // other agents that named exactly this one, in turn
    ServerDescription described;
    bool allowed = false; // once, as it is described
    bool removed = false;
    std::string error;
    std::optional<std::vector<protocol::ToolInfo>> tools; // of the last time that it ran
    std::shared_ptr<async::Process> last_process;         // of the last start that is over; it may run
    std::shared_ptr<Running> running;
    std::shared_ptr<Start> starting;
};

Registry::Registry(async::Loop& loop, Clock& clock, gate::Gate& gate, RegistryOptions options)
    : loop_(loop), clock_(clock), gate_(gate), options_(std::move(options)),
      host_(loop, options_.workspace, options_.environment) {
    for (const protocol::ToolSpec& spec : HostTools::specs()) {
        host_tools_[spec.name] = std::make_shared<Tool>(Tool{spec, identity_of(spec), host_identity()});
    }
}

Registry::~Registry() = default;

// ---- Which servers there are ----------------------------------------------------------------------------------------

void Registry::add(const std::vector<ServerSpec>& specs) {
    std::vector<ServerDescription> described;
    std::map<std::string, std::string> packages; // of these
    for (const ServerSpec& spec : specs) {
        require_usable(spec);
        described.push_back(describe(spec, options_.workspace, options_.environment));
        const auto [entry, is_new] = packages.emplace(package_of(spec.name), spec.name);
        const std::optional<std::string> other = is_new ? same_package(spec.name, true) : std::optional(entry->second);
        if (other && other != spec.name) {
            throw Error(ErrorCode::config_invalid,
                        fmt::format("the wrappers of {} would be the package mcptools.{}, as those of {} are",
                                    in_quotes(spec.name), package_of(spec.name), in_quotes(*other)),
                        "give one of them another name");
        }
    }
    for (std::size_t i = 0; i < specs.size(); ++i) {
        while (const std::optional<std::string> other = same_package(specs[i].name, false)) {
            drop(*other, "a user gave another server whose wrappers are the same package");
        }
        put(specs[i], std::move(described[i]));
    }
}

void Registry::add_from_agent(ServerSpec spec) {
    try {
        require_identifier(spec.name, "server name");
    } catch (const Error& error) {
        throw Error(ErrorCode::config_invalid, error.message); // the contract allows a user more
    }
    require_usable(spec);
    if (names_settings(spec)) {
        throw Error(ErrorCode::forbidden, "by which settings a tool server runs in the sandbox is for a user to say",
                    "ask for \"sandbox\": true, or for none");
    }
    if (spec.config.url) {
        throw no_http(spec.name);
    }
    ServerDescription described = describe(spec, options_.workspace, options_.environment);
    if (const std::optional<std::string> other = same_package(spec.name, false)) {
        throw Error(ErrorCode::config_invalid,
                    fmt::format("its wrappers would be the same package as those of {}", in_quotes(*other)),
                    "give it another name");
    }
    const auto entry = servers_.find(spec.name);
    if (entry != servers_.end() && entry->second->spec.source != ToolServerSource::agent) {
        if (to_json(entry->second->spec.config) == to_json(spec.config)) {
            return; // what the user means by the name
        }
        throw Error(
            ErrorCode::forbidden,
            fmt::format("there is a tool server {} already, and only a user can change it", in_quotes(spec.name)),
            "use that one, or give yours another name");
    }
    if (entry != servers_.end()) {
        Server& server = *entry->second;
        const bool is_first = server.spec.agent->client == spec.agent->client;
        const bool same =
            to_json(server.spec.config) == to_json(spec.config) && server.described.identity == described.identity;
        // The calls of another agent's code would be another program's.
        if (!same && !(is_first && server.co_owners.empty())) {
            throw Error(
                ErrorCode::forbidden,
                fmt::format("there is a tool server {} already, which another agent named", in_quotes(spec.name)),
                "give yours another name");
        }
        const bool is_known =
            is_first || std::any_of(server.co_owners.begin(), server.co_owners.end(),
                                    [&](const auto& each) { return each.client == spec.agent->client; });
        if (same && !is_known) {
            server.co_owners.push_back(*spec.agent);
        }
        if (same) {
            return;
        }
    }
    put(std::move(spec), std::move(described));
}

void Registry::on_agent_disconnected(std::uint64_t client) {
    for (auto entry = servers_.begin(); entry != servers_.end();) {
        const std::string name = entry->first;
        Server& server = *entry->second;
        ++entry;
        std::erase_if(server.co_owners, [&](const gate::Agent& each) { return each.client == client; });
        if (!server.spec.agent || server.spec.agent->client != client) {
            continue;
        }
        if (server.co_owners.empty()) {
            drop(name, "its agent has gone");
        } else {
            server.spec.agent = server.co_owners.front();
            server.co_owners.erase(server.co_owners.begin());
        }
    }
}

std::optional<std::string> Registry::same_package(const std::string& name, bool only_given) const {
    const std::string package = package_of(name);
    if (package == package_of(std::string(host_server_name))) {
        return std::string(host_server_name);
    }
    for (const auto& [other, server] : servers_) {
        const bool counts = !only_given || !requires_approval(server->spec.source);
        if (other != name && counts && package_of(other) == package) {
            return other;
        }
    }
    return std::nullopt;
}

void Registry::drop(const std::string& name, std::string reason) {
    const auto entry = servers_.find(name);
    entry->second->removed = true;
    tasks_.spawn(stop(entry->second, std::move(reason)));
    servers_.erase(entry);
}

void Registry::put(ServerSpec spec, ServerDescription described) {
    std::shared_ptr<Server>& entry = servers_[spec.name];
    if (entry) {
        const bool same = entry->described.identity == described.identity && entry->spec.source == spec.source &&
                          to_json(entry->spec.config) == to_json(spec.config);
        if (same) {
            entry->spec = std::move(spec);
            return;
        }
        entry->removed = true;
        tasks_.spawn(stop(entry, "it was configured anew"));
    }
    entry = std::make_shared<Server>();
    entry->spec = std::move(spec);
    entry->described = std::move(described);
}

void Registry::put_from_file(const ServerSpec& spec) {
    ServerDescription described = describe(spec, options_.workspace, options_.environment);
    while (const std::optional<std::string> other = same_package(spec.name, false)) {
        const auto entry = servers_.find(*other);
        if (entry == servers_.end() || entry->second->spec.source != ToolServerSource::agent) {
            throw Error(ErrorCode::config_invalid,
                        fmt::format("its wrappers would be the same package as those of {}", in_quotes(*other)));
        }
        drop(*other, "a workspace's file names another server whose wrappers are the same package");
    }
    put(spec, std::move(described));
}

std::vector<std::string> Registry::read_workspace_files() {
    ConfigFile found = read_workspace_config(options_.workspace);
    for (auto entry = servers_.begin(); entry != servers_.end();) {
        const std::string name = entry->first;
        const bool of_file = entry->second->spec.source == ToolServerSource::workspace_file;
        ++entry;
        const bool named = std::any_of(found.servers.begin(), found.servers.end(),
                                       [&](const ServerSpec& spec) { return spec.name == name; });
        if (of_file && !named) {
            drop(name, "the workspace's files do not name it any more");
        }
    }
    for (const ServerSpec& spec : found.servers) {
        const auto entry = servers_.find(spec.name);
        if (entry == servers_.end() || requires_approval(entry->second->spec.source)) {
            try {
                put_from_file(spec);
            } catch (const Error& error) { // a program in the workspace that cannot be read
                found.problems.push_back(fmt::format("{}: {}", spec.name, error.message));
            }
        }
    }
    return std::move(found.problems);
}

std::shared_ptr<Registry::Server> Registry::find(const std::string& name) const {
    const auto entry = servers_.find(name);
    if (entry == servers_.end()) {
        std::vector<std::string> names{std::string(host_server_name)};
        for (const auto& [other, server] : servers_) {
            names.push_back(other);
        }
        throw not_found(name, names);
    }
    return entry->second;
}

Task<void> Registry::remove(std::string server) {
    if (server == host_server_name) {
        throw Error(ErrorCode::forbidden, "the tool server \"host\" is part of cellgate and cannot be removed",
                    "Name the tool servers of a session when you create it, to leave it out.");
    }
    const std::shared_ptr<Server> found = find(server);
    servers_.erase(server);
    found->removed = true;
    co_await stop(found, "it was removed");
}

Task<void> Registry::restart(CallContext context, std::string server) {
    if (server == host_server_name) {
        co_return;
    }
    const std::shared_ptr<Server> found = find(server);
    co_await stop(found, "it is started anew");
    co_await running(std::move(context), std::move(server));
}

protocol::ToolServerInfo Registry::info(const std::string& server) const {
    if (server == host_server_name) {
        protocol::ToolServerInfo info;
        info.name = host_server_name;
        info.state = ToolServerState::running;
        info.source = ToolServerSource::built_in;
        info.identity = host_identity();
        info.tools.emplace();
        for (const protocol::ToolSpec& spec : HostTools::specs()) {
            info.tools->push_back(info_of_tool(spec));
        }
        return info;
    }
    return info_of(*find(server));
}

std::vector<protocol::ToolServerInfo> Registry::list() const {
    std::vector<protocol::ToolServerInfo> all{info(std::string(host_server_name))};
    for (const auto& [name, server] : servers_) {
        all.push_back(info_of(*server));
    }
    return all;
}

std::string Registry::log(const std::string& server) const {
    if (server == host_server_name) {
        return {};
    }
    const std::shared_ptr<Server> found = find(server);
    const std::shared_ptr<async::Process>& process =
        found->starting && found->starting->process ? found->starting->process : found->last_process;
    return process ? escape_unprintable(process->stderr_tail(), true) : std::string();
}

protocol::ToolServerInfo Registry::info_of(const Server& server) const {
    protocol::ToolServerInfo info;
    info.name = server.spec.name;
    info.source = server.spec.source;
    info.file = server.spec.file;
    info.identity = server.described.identity;
    if (server.spec.config.command) {
        info.command = server.described.command;
        info.sandbox = server.described.sandbox ? protocol::SandboxKind::bwrap : protocol::SandboxKind::none;
    }
    if (server.described.sandbox && server.described.sandbox->settings) {
        info.sandbox_config = server.described.sandbox->settings->file;
    }
    info.url = server.spec.config.url;
    info.tools = server.tools;
    if (server.running) {
        info.state = ToolServerState::running;
        info.tools = server.running->tool_infos();
        if (server.running->sandbox) {
            info.layers = server.running->layers;
            info.sandbox_notices = server.running->sandbox_notices;
        }
    } else if (server.starting && server.starting->cancel) {
        info.state = ToolServerState::starting;
    } else if (!server.error.empty()) {
        info.state = ToolServerState::failed;
        info.error = server.error;
    } else if (requires_approval(server.spec.source) && !server.allowed) {
        info.state = ToolServerState::pending;
    }
    return info;
}

// ---- Starting and stopping ------------------------------------------------------------------------------------------

Task<std::shared_ptr<Registry::Running>> Registry::running(CallContext context, std::string name) {
    require_allowed(context, name);
    while (true) {
        const std::shared_ptr<Server> server = find(name);
        if (server->running) {
            co_return server->running;
        }
        if (closed_) {
            throw failed(name, "cannot be started: cellgate is ending");
        }
        std::shared_ptr<Start> start = server->starting;
        if (!start) {
            start = std::make_shared<Start>();
            start->spec = server->spec;
            start->described = describe(server->spec, options_.workspace, options_.environment);
            server->starting = start;
            std::exception_ptr error;
            bool refused = false;
            try {
                co_await allow_start(context, start);
            } catch (const Cancelled&) {
                start->abandoned = true;
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
                drop(name, "its start was refused"); // so that it keeps nobody else from the name
            }
            if (error || server->removed) {
                server->starting = nullptr;
                start->abandoned = start->abandoned || !error; // another configuration by now: ask about that one
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

Task<void> Registry::allow_start(CallContext context, std::shared_ptr<Start> start) {
    if (start->spec.config.url) {
        throw no_http(start->spec.name);
    }
    require_known_variables(start->spec); // nobody is asked about what cannot be started
    for (int decisions = 0; decisions < max_start_decisions; ++decisions) {
        gate::Request request;
        request.action.kind = protocol::ActionKind::server;
        request.action.server = start->spec.name;
        request.action.command = start->described.command;
        request.action.cwd = start->described.cwd;
        request.action.environment_names = start->described.environment_names;
        request.action.environment = start->described.environment;
        request.action.server_identity = start->described.identity;
        if (start->described.sandbox) {
            request.action.sandbox = true;
            request.action.folders = start->described.sandbox->folders;
            if (const auto& settings = start->described.sandbox->settings) {
                request.action.sandbox_config = settings->file;
                request.action.sandbox_settings = RawJson::parse(settings->text);
            }
        }
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
        // A cell can write a program of the workspace anew while a user thinks about it.
        ServerDescription now = describe(start->spec, options_.workspace, options_.environment);
        if (now.identity == start->described.identity) {
            co_return;
        }
        start->described = std::move(now);
    }
    throw changed_meanwhile(start->spec.name);
}

Task<void> Registry::start(std::shared_ptr<Server> server, std::shared_ptr<Start> start) {
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

Task<std::shared_ptr<Registry::Running>> Registry::launch(std::shared_ptr<Start> start) {
    const std::string& name = start->spec.name;
    ServerCommand expanded = expand(start->spec, start->described, options_.workspace, options_.environment);
    auto running = std::make_shared<Running>();
    running->name = name;
    running->identity = start->described.identity;
    async::Command command;
    command.argv = std::move(expanded.argv);
    command.cwd = std::move(expanded.cwd);
    command.environment = std::move(expanded.environment);
    const std::vector<std::string> argv = command.argv;
    std::exception_ptr error;
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
        error = std::current_exception();
    } catch (const Error& problem) {
        const Error told = failed(name, "did not start: " + problem.message, problem.hint);
        const ErrorCode code = problem.code == ErrorCode::internal_error ? told.code : problem.code;
        error = std::make_exception_ptr(Error(code, told.message, told.hint));
    }
    if (error) {
        co_await shielded(end(running));
        std::rethrow_exception(error);
    }
    const Instant deadline = clock_.now() + start_time;
    try {
        auto connection = std::make_shared<protocol::FramedConnection>(
            std::make_unique<ProcessStream>(running->process), protocol::Framing::lines);
        running->client = co_await mcp::Client::connect(std::move(connection), options_.ourselves, clock_, deadline);
        const mcp::ToolList list = co_await running->client->list_tools(deadline);
        running->take(list);
    } catch (...) {
        error = current_error();
    }
    if (!error) {
        co_return running;
    }
    // What ended by itself says why by its status.
    co_await shielded(running->process->stop(stop_grace));
    const std::string hint = co_await shielded(sandbox_hint(running, argv));
    const async::ExitStatus status = co_await shielded(end(running));
    if (running->client) {
        co_await shielded(running->client->close());
    }
    try {
        std::rethrow_exception(error);
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& problem) {
        throw failed(
            name,
            fmt::format("did not start: {} ({}){}", problem.message, status.describe(), stderr_of(*running->process)),
            hint.empty() ? problem.hint : hint);
    }
}

Task<void> Registry::prepare_sandbox(std::shared_ptr<Start> start, std::shared_ptr<Running> running,
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

Task<async::ExitStatus> Registry::end(std::shared_ptr<Running> running) {
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

Task<std::string> Registry::sandbox_hint(std::shared_ptr<Running> running, std::vector<std::string> argv) {
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

Task<void> Registry::watch(std::shared_ptr<Server> server, std::shared_ptr<Running> running) {
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
    if (const std::shared_ptr<Start> start = server->starting; start && start->cancel) {
        start->cancel->cancel();
        co_await start->done.wait();
    }
    server->error.clear();
    if (const std::shared_ptr<Running> running = server->running) {
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

// ---- Tools ----------------------------------------------------------------------------------------------------------

Task<void> Registry::refresh(std::shared_ptr<Running> running) {
    while (const std::shared_ptr<Event> other = running->refreshing) {
        co_await other->wait();
    }
    running->stale = running->client->take_tools_changed() || running->stale;
    if (!running->stale) {
        co_return;
    }
    const auto refreshing = std::make_shared<Event>();
    running->refreshing = refreshing;
    running->stale = false;
    std::exception_ptr error;
    try {
        const mcp::ToolList list = co_await running->client->list_tools(clock_.now() + start_time);
        running->take(list);
    } catch (const Error&) {
        error = std::current_exception();
        running->stale = true;
    }
    running->refreshing = nullptr;
    refreshing->set();
    if (error) {
        std::rethrow_exception(error);
    }
}

Task<std::vector<protocol::ToolSpec>> Registry::tools(CallContext context, std::string server) {
    if (server == host_server_name) {
        require_allowed(context, server);
        co_return HostTools::specs();
    }
    const std::shared_ptr<Running> found = co_await running(std::move(context), std::move(server));
    co_await refresh(found);
    std::vector<protocol::ToolSpec> specs;
    for (const std::shared_ptr<const Tool>& tool : found->tools) {
        specs.push_back(tool->spec);
    }
    co_return specs;
}

Task<std::shared_ptr<const Registry::Tool>> Registry::find_tool(CallContext context, std::string server,
                                                                std::string tool) {
    std::shared_ptr<const Tool> found;
    std::vector<std::string> names;
    if (server == host_server_name) {
        require_allowed(context, server);
        if (const auto entry = host_tools_.find(tool); entry != host_tools_.end()) {
            found = entry->second;
        }
        for (const auto& [name, each] : host_tools_) {
            names.push_back(name);
        }
    } else {
        const std::shared_ptr<Running> offering = co_await running(std::move(context), server);
        co_await refresh(offering);
        found = offering->find(tool);
        for (const std::shared_ptr<const Tool>& each : offering->tools) {
            names.push_back(each->spec.name);
        }
    }
    if (!found) {
        throw Error(ErrorCode::tool_not_found,
                    fmt::format("the tool server {} has no tool {}", in_quotes(server), in_quotes(tool)),
                    did_you_mean(tool, names));
    }
    co_return found;
}

Task<std::optional<protocol::CallToolResult>> Registry::call(CallContext context, std::shared_ptr<const Tool> tool,
                                                             std::string server, RawJson arguments) {
    const std::shared_ptr<Running> found = co_await running(std::move(context), server);
    co_await refresh(found);
    const std::shared_ptr<const Tool> now = found->find(tool->spec.name);
    if (!now || now->identity != tool->identity || now->server_identity != tool->server_identity) {
        co_return std::nullopt;
    }
    std::exception_ptr error;
    try {
        co_return co_await found->client->call_tool(tool->spec.name, std::move(arguments));
    } catch (const Error&) {
        error = std::current_exception();
    }
    try {
        std::rethrow_exception(error);
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& problem) {
        if (!found->client->is_closed()) {
            throw Error(problem.code, fmt::format("the tool server {}: {}", in_quotes(server), problem.message),
                        problem.hint);
        }
    }
    co_await found->ended.wait();
    // Not called again: nobody knows how far it came.
    throw failed(server, "ended during the call: " + found->cause, "It is started again on the next call.");
}

} // namespace cellgate::tools
