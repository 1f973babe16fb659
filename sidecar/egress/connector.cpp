#include "connector.hpp"

#include "base/log.hpp"
#include "base/public_address.hpp"
#include "egress/public_address_policy.hpp"
#include "tls/tls_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace cellgate::egress {

namespace {

constexpr Duration lookup_limit = std::chrono::seconds(20);
constexpr Duration connect_limit = std::chrono::seconds(15); // for one address
// Of one session. A resolver that does not answer occupies a thread for each lookup, also after the caller gave up.
constexpr int max_lookups = 4;
constexpr std::size_t max_distrusted = 256;

// The request and its origin: an answer covers only requests with the same key.
std::string key_of(const gate::Request& request) {
    const auto& connection = std::get<gate::Connection>(request.action);
    return fmt::format(
        "{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", connection.host, connection.port.value_or(0),
        connection.protocol ? "raw" : "", request.session_id.value_or(""), request.execution_id.value_or(""),
        request.agent ? fmt::format("{}", request.agent->client) : std::string(),
        request.origin ? fmt::format("{}", request.origin->line) : std::string(), connection.program.value_or(""));
}

// A program at a line of the code, and where it connects.
std::string client_of(const gate::Request& request) {
    const auto& connection = std::get<gate::Connection>(request.action);
    return fmt::format("{}\n{}\n{}\n{}\n{}", connection.host, connection.port.value_or(0),
                       connection.program.value_or(""), request.origin ? request.origin->line : -1,
                       request.origin ? request.origin->uri.value_or("") : "");
}

bool outlives_execution(const gate::Decision& decision) {
    const bool by_rule = decision.by == protocol::ResolvedBy::rule && decision.rule;
    return by_rule && decision.rule->source != protocol::RuleSource::execution;
}

} // namespace

struct Connector::PendingDecision {
    std::string key;
    std::size_t asking = 0;
    std::shared_ptr<CancelState> task;
    Event settled;
    std::optional<gate::Decision> decision;
    gate::OutcomeReport outcome; // of an allow that no caller has taken
    bool taken = false;          // the allow was used by one of the callers
    std::exception_ptr error;
};

struct Connector::Lookup {
    Event ended;
    std::vector<Host> addresses;
    std::exception_ptr error;
};

Connector::Connector(Clock& clock, Network& network, gate::Gate& gate, ProxyOptions options)
    : clock_(clock), network_(network), gate_(gate), options_(std::move(options)) {}

Connector::~Connector() = default;

Task<void> Connector::close() {
    tasks_.cancel();
    co_await shielded(tasks_.join());
    if (const std::optional<std::string> line = refusals_.last_line()) {
        log_info("{}: {}", options_.name, *line);
    }
}

void Connector::log_refusal(const Endpoint& endpoint, const std::string& reason) {
    if (const std::optional<std::string> line = refusals_.line(endpoint, reason)) {
        log_info("{}: {}", options_.name, *line);
    }
}

gate::Request Connector::request_for(const Endpoint& endpoint, const ConnectionSource& source) const {
    gate::Request request = options_.asker(source);
    request.from_code = true;
    auto& connection = std::get<gate::Connection>(request.action);
    connection.host = endpoint.host.name;
    connection.port = endpoint.port;
    return request;
}

gate::Request Connector::request_for(gate::HttpRequest action, const ConnectionSource& source) const {
    gate::Request request = options_.asker(source);
    request.from_code = true;
    request.awaits_record = true;
    const auto& connection = std::get<gate::Connection>(request.action);
    action.server = connection.server;
    action.program = connection.program;
    action.server_identity = connection.server_identity;
    request.action = std::move(action);
    return request;
}

bool Connector::inspects(const Endpoint& endpoint, const ConnectionSource& source) const {
    return gate_.inspects(request_for(endpoint, source));
}

bool Connector::is_distrusted(const Endpoint& endpoint, const ConnectionSource& source) const {
    return distrusted_.contains(client_of(request_for(endpoint, source)));
}

Task<void> Connector::require_not_denied(Endpoint endpoint, ConnectionSource source) {
    gate::Request request = request_for(endpoint, source);
    request.deny_rules_only = true;
    const gate::Decision decision = co_await gate_.decide(std::move(request));
    require_allowed(endpoint, decision);
}

Task<std::unique_ptr<async::SocketStream>> Connector::accept_tls(std::unique_ptr<async::SocketStream> client,
                                                                 std::string early, Endpoint endpoint,
                                                                 ConnectionSource source) {
    const Inspection& inspection = *options_.inspection;
    if (!inspection.authority) {
        throw Error(ErrorCode::denied, fmt::format("a rule has requests to {} judged one by one, and TLS cannot be "
                                                   "ended here: {}",
                                                   to_string(endpoint), inspection.problem));
    }
    std::shared_ptr<const tls::Identity> identity = inspection.authority->identity_for(endpoint.host);
    try {
        std::unique_ptr<tls::TlsStream> accepted =
            co_await tls::accept_tls(std::move(client), std::move(early), std::move(identity));
        co_return std::move(accepted);
    } catch (const tls::HandshakeFailed& failed) {
        if (failed.distrusted) {
            if (distrusted_.size() >= max_distrusted) { // code can name as many programs as it likes
                distrusted_.clear();
            }
            distrusted_.insert(client_of(request_for(endpoint, source)));
            if (options_.on_distrusted) {
                options_.on_distrusted(endpoint);
            }
        }
        throw;
    }
}

Task<std::unique_ptr<async::SocketStream>> Connector::connect_inspected(Endpoint endpoint, bool tls) {
    const Endpoint wanted = endpoint;
    std::unique_ptr<async::SocketStream> server = co_await connect_allowed(std::move(endpoint));
    if (!tls) {
        co_return std::move(server);
    }
    auto connecting = tls::connect_tls(std::move(server), wanted, tls::TrustedRoots::of_system());
    std::optional<std::unique_ptr<tls::TlsStream>> connected =
        co_await with_timeout(clock_, connect_limit, std::move(connecting));
    if (!connected) {
        throw Error(ErrorCode::internal_error, fmt::format("{} does not answer by TLS", to_string(wanted)));
    }
    co_return std::move(*connected);
}

std::optional<std::string> Connector::misplaced_secret(const RequestToJudge& request) const {
    for (const auto& [placeholder, name] : options_.inspection->placeholders) {
        const auto has = [&placeholder](std::string_view text) {
            return text.find(placeholder) != std::string_view::npos;
        };
        const auto& fields = request.head.fields;
        if (has(request.head.target) || has(request.body) ||
            std::any_of(fields.begin(), fields.end(), [&](const auto& field) { return has(field.second); })) {
            return fmt::format("it has what stands for the secret {}, where no rule puts that secret in", name);
        }
    }
    return std::nullopt;
}

Task<std::string> Connector::secret_value(std::string name, Endpoint endpoint) {
    if (!options_.inspection->secret_value) {
        throw Error(ErrorCode::denied, fmt::format("a rule puts the secret {} into this request, and there are no "
                                                   "secrets here",
                                                   name));
    }
    co_return co_await options_.inspection->secret_value(std::move(name), to_string(endpoint));
}

Task<Upstream> Connector::connect(Endpoint endpoint, ConnectionSource source) {
    gate::Request request = request_for(endpoint, source);
    Upstream upstream;
    upstream.execution_id = request.execution_id;
    request.needs_explicit_host_rule = needs_explicit_host_rule(endpoint.host, to_string(endpoint));
    request.awaits_record = true;
    Answer answer = co_await ask(std::move(request));
    const gate::Decision& decision = answer.decision;
    require_allowed(endpoint, decision);
    upstream.outcome = std::move(answer.outcome);
    if (outlives_execution(decision)) {
        upstream.execution_id.reset();
    }
    auto connecting = gate::reporting_failure(upstream.outcome, connect_allowed(std::move(endpoint)));
    upstream.server = co_await finally(std::move(connecting), gate_.recorded());
    co_return std::move(upstream);
}

Task<Upstream> Connector::permit_raw(Endpoint endpoint, ConnectionSource source, std::string why) {
    gate::Request request = request_for(endpoint, source);
    std::get<gate::Connection>(request.action).protocol = protocol::NetworkProtocol::raw;
    request.hints.description = why;
    if (needs_explicit_host_rule(endpoint.host, to_string(endpoint))) {
        request.needs_explicit_host_rule = fmt::format("{}, and no rule allows raw connections to it", why);
    }
    request.awaits_record = true;
    Upstream permitted;
    permitted.execution_id = request.execution_id;
    Answer answer = co_await ask(std::move(request));
    require_allowed(endpoint, answer.decision);
    permitted.outcome = std::move(answer.outcome);
    if (outlives_execution(answer.decision)) {
        permitted.execution_id.reset();
    }
    co_return std::move(permitted);
}

// A name is looked up only now: a question to a resolver leaves this machine, and the name can carry what it likes.
Task<std::unique_ptr<async::SocketStream>> Connector::connect_allowed(Endpoint endpoint) {
    std::vector<Host> addresses = co_await look_up(endpoint.host);
    if (!endpoint.host.is_address) {
        co_await judge_addresses(endpoint, addresses);
    }
    co_return co_await connect_to(endpoint.port, std::move(addresses));
}

Task<Connector::Answer> Connector::ask(gate::Request request) {
    const std::string key = key_of(request);
    while (true) {
        std::shared_ptr<PendingDecision> pending = pending_[key];
        if (!pending) {
            pending = std::make_shared<PendingDecision>();
            pending->key = key;
            pending_[key] = pending;
            pending->task = tasks_.spawn(decide(pending, request));
        }
        ++pending->asking;
        co_await finally(until_set(pending->settled), leave(pending));
        if (pending->error) {
            std::rethrow_exception(pending->error);
        }
        // An allow covers one caller; the others ask again, and a rule may decide now. A denial covers all callers.
        if (!pending->decision->allowed || !std::exchange(pending->taken, true)) {
            co_return Answer{*pending->decision, std::move(pending->outcome)};
        }
    }
}

// The last caller that is cancelled withdraws the question.
Task<void> Connector::leave(std::shared_ptr<PendingDecision> pending) {
    --pending->asking;
    if (pending->asking == 0 && !pending->settled.is_set()) {
        forget(*pending);
        pending->task->cancel();
    }
    co_return;
}

Task<void> Connector::decide(std::shared_ptr<PendingDecision> pending, gate::Request request) {
    try {
        pending->decision = co_await gate_.decide(std::move(request));
        pending->outcome = gate_.outcome_report(*pending->decision);
    } catch (const Error&) {
        pending->error = std::current_exception();
    }
    forget(*pending);
    pending->settled.set();
}

void Connector::forget(const PendingDecision& pending) {
    const auto found = pending_.find(pending.key);
    if (found != pending_.end() && found->second.get() == &pending) {
        pending_.erase(found);
    }
}

void Connector::require_allowed(const Endpoint& endpoint, const gate::Decision& decision) const {
    if (!decision.allowed) {
        if (options_.on_refused) {
            options_.on_refused(endpoint, decision);
        }
        throw Error(ErrorCode::denied, decision.reason);
    }
}

Task<std::vector<Host>> Connector::look_up(Host host) {
    if (host.is_address) {
        std::vector<Host> itself;
        itself.push_back(std::move(host));
        co_return itself;
    }
    const auto has_turn = [this] { return lookups_ < max_lookups; };
    while (!has_turn()) { // another one that waited may have taken the turn
        co_await lookup_ended_.until(has_turn);
    }
    ++lookups_;
    const auto lookup = std::make_shared<Lookup>();
    tasks_.spawn(look_up_into(lookup, host));
    const Instant deadline = clock_.now() + lookup_limit;
    const bool in_time = co_await wait_until(clock_, lookup->ended, deadline);
    if (!in_time) {
        throw Error(ErrorCode::internal_error,
                    fmt::format("cannot look up {}: the resolver does not answer", host.name));
    }
    if (lookup->error) {
        std::rethrow_exception(lookup->error);
    }
    co_return std::move(lookup->addresses);
}

// Runs to its end, also after its caller has given up: until then it counts as a lookup.
Task<void> Connector::look_up_into(std::shared_ptr<Lookup> lookup, Host host) {
    try {
        lookup->addresses = co_await network_.resolve(std::move(host));
    } catch (const Error&) {
        lookup->error = std::current_exception();
    }
    --lookups_;
    lookup_ended_.notify();
    lookup->ended.set();
}

// A name is refused when any one of its addresses is: one that resolves to a public and to a local address is not
// trusted with either.
Task<void> Connector::judge_addresses(const Endpoint& endpoint, const std::vector<Host>& addresses) {
    for (const Host& address : addresses) {
        const std::string_view what = what_is_not_public(address);
        gate::Request request = request_for(Endpoint{address, endpoint.port}, ConnectionSource());
        if (what.empty() || (is_local_name(endpoint.host) && what == "this machine")) {
            request.deny_rules_only = true;
        } else {
            request.needs_explicit_host_rule =
                fmt::format("{} resolves to {}, which is {}, and no rule names that address", endpoint.host.name,
                            address.name, what);
        }
        const gate::Decision decision = co_await gate_.decide(std::move(request));
        require_allowed(Endpoint{address, endpoint.port}, decision);
    }
}

Task<std::unique_ptr<async::SocketStream>> Connector::connect_to(std::uint16_t port, std::vector<Host> addresses) {
    std::optional<Error> failure;
    for (const Host& address : addresses) {
        const Endpoint endpoint{address, port};
        try {
            std::optional<std::unique_ptr<async::SocketStream>> stream =
                co_await with_timeout(clock_, connect_limit, network_.connect(endpoint));
            if (stream) {
                co_return std::move(*stream);
            }
            failure = Error(ErrorCode::internal_error,
                            fmt::format("cannot connect to {}: it does not answer", to_string(endpoint)));
        } catch (const Cancelled&) {
            throw;
        } catch (const Error& error) {
            failure = error;
        }
    }
    throw failure.value_or(Error(ErrorCode::internal_error, "there is no address to connect to"));
}

} // namespace cellgate::egress
