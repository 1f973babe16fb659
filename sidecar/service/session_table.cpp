#include "session_table.hpp"

#include "base/log.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cellgate::service {

namespace {

constexpr std::ptrdiff_t max_per_agent = 8;

void require_usable(const session::Session& session) {
    if (session.options().saved_tool) {
        throw Error(ErrorCode::forbidden,
                    fmt::format("the session \"{}\" is the run of a saved tool, which is its own", session.id()));
    }
}

} // namespace

void SessionTable::require_room_for(session::ClientId agent) const {
    const auto own = std::count_if(sessions_.begin(), sessions_.end(),
                                   [agent](const auto& each) { return each.second->session->belongs_to(agent); });
    if (own >= max_per_agent) {
        throw Error(ErrorCode::limit_exceeded,
                    fmt::format("expected at most {} sessions of one agent, found {}", max_per_agent, own),
                    "use one of those that are there");
    }
}

std::shared_ptr<SessionTable::Entry> SessionTable::add(session::SessionOptions options) {
    auto entry = std::make_shared<Entry>();
    const std::string id = options.id;
    entry->session = std::make_shared<session::Session>(services_, std::move(options));
    sessions_[id] = entry;
    events_.session_opened(id);
    entry->starting = starting_.spawn(start(entry));
    return entry;
}

// The id may belong to another one by now.
void SessionTable::forget(const std::shared_ptr<Entry>& entry) {
    const auto found = sessions_.find(entry->session->id());
    if (found != sessions_.end() && found->second == entry) {
        events_.session_closed(found->first);
        sessions_.erase(found);
    }
}

Task<void> SessionTable::start(std::shared_ptr<Entry> entry) {
    try {
        co_await entry->session->start();
        events_.session_started(entry->session->info());
    } catch (const Cancelled&) {
        entry->failure = std::make_exception_ptr(
            Error(ErrorCode::session_not_found,
                  fmt::format("the session \"{}\" was closed while it was starting", entry->session->id())));
    } catch (...) {
        entry->failure = std::current_exception();
    }
    if (entry->failure) {
        forget(entry);
        co_await shielded(entry->session->close("it did not start"));
    }
    entry->started.set();
}

Task<SessionTable::SessionPtr> SessionTable::started(std::shared_ptr<Entry> entry) {
    co_await entry->started.wait();
    if (entry->failure) {
        std::rethrow_exception(entry->failure);
    }
    co_return entry->session;
}

Task<SessionTable::SessionPtr> SessionTable::create(session::SessionOptions options) {
    if (options.agent) {
        require_room_for(options.agent->client);
    }
    if (sessions_.contains(options.id)) {
        throw Error(ErrorCode::session_exists,
                    fmt::format("expected a new session id, found \"{}\", which is taken", options.id));
    }
    std::shared_ptr<Entry> entry = add(std::move(options));
    co_return co_await started(std::move(entry));
}

Task<SessionTable::SessionPtr> SessionTable::find_or_start(std::optional<std::string> session_id,
                                                           const AgentLimits* of_agent) {
    const std::string id = session_id.value_or(std::string(default_session_id));
    const auto found = sessions_.find(id);
    if (found == sessions_.end() && id != default_session_id) {
        throw Error(ErrorCode::session_not_found, fmt::format("there is no session \"{}\"", id),
                    "create it first, or name a session that there is");
    }
    std::shared_ptr<Entry> entry = found == sessions_.end() ? add(default_session(of_agent)) : found->second;
    require_usable(*entry->session);
    co_return co_await started(std::move(entry));
}

session::SessionOptions SessionTable::default_session(const AgentLimits* of_agent) const {
    session::SessionOptions options = workspace_.default_session();
    if (of_agent) {
        options.limits = of_agent->limits_of(options.limits);
        options.settings = of_agent->sandbox_settings ? of_agent->sandbox_settings : options.settings;
    }
    return options;
}

std::shared_ptr<SessionTable::Entry> SessionTable::entry_of(const std::string& session_id) const {
    const auto found = sessions_.find(session_id);
    if (found == sessions_.end()) {
        throw Error(ErrorCode::session_not_found, fmt::format("there is no session \"{}\"", session_id));
    }
    return found->second;
}

SessionTable::SessionPtr SessionTable::find(const std::string& session_id) const {
    SessionPtr session = find_shown(session_id);
    require_usable(*session);
    return session;
}

SessionTable::SessionPtr SessionTable::find_shown(const std::string& session_id) const {
    return entry_of(session_id)->session;
}

std::vector<SessionTable::SessionPtr> SessionTable::all() const {
    std::vector<SessionPtr> all;
    for (const auto& [id, entry] : sessions_) {
        all.push_back(entry->session);
    }
    return all;
}

bool SessionTable::is_busy() const {
    using Status = protocol::SessionStatus;
    return std::any_of(sessions_.begin(), sessions_.end(), [](const auto& each) {
        const Status status = each.second->session->info().status;
        return status != Status::idle && status != Status::dead;
    });
}

std::optional<SessionTable::Found> SessionTable::try_find_execution(const std::string& execution_id) const {
    for (const auto& [id, entry] : sessions_) {
        if (std::shared_ptr<session::Execution> execution = entry->session->find(execution_id)) {
            return Found{entry->session, std::move(execution)};
        }
    }
    return std::nullopt;
}

SessionTable::Found SessionTable::find_execution(const std::string& execution_id) const {
    std::optional<Found> found = try_find_execution(execution_id);
    if (!found) {
        throw Error(ErrorCode::execution_not_found, fmt::format("there is no execution \"{}\"", execution_id));
    }
    return std::move(*found);
}

void SessionTable::require_new_execution(const std::string& execution_id) const {
    if (try_find_execution(execution_id)) {
        throw Error(ErrorCode::execution_exists,
                    fmt::format("expected a new execution id, found \"{}\", which was used", execution_id));
    }
}

Task<void> SessionTable::close(std::string session_id, std::string reason) {
    const std::shared_ptr<Entry> entry = entry_of(session_id);
    entry->starting->cancel();
    co_await entry->started.wait();
    co_await entry->session->close(std::move(reason));
    forget(entry);
}

Task<void> SessionTable::close_sessions_of(session::ClientId agent) {
    for (const SessionPtr& session : all()) {
        if (session->belongs_to(agent)) {
            std::string reason = "its agent disconnected";
            std::string id = session->id();
            try {
                co_await close(std::move(id), std::move(reason));
            } catch (const Error& error) {
                log_info("a session of an agent that disconnected: {}", error.message); // closed by another client
            }
        }
    }
}

Task<void> SessionTable::close_all() {
    starting_.cancel();
    co_await starting_.join();
    const std::map<std::string, std::shared_ptr<Entry>> sessions = sessions_;
    for (const auto& [id, entry] : sessions) {
        co_await entry->session->close("the sidecar ends");
        forget(entry);
    }
}

} // namespace cellgate::service
