#pragma once
// `SessionTable` is the sessions of a sidecar by their ids. It starts and closes them: a session has its id while it
// starts, so that requests that come meanwhile wait for the same one, and gives it up when it does not start. close()
// must have been awaited before destruction.

#include "agent_limits.hpp"
#include "session/session.hpp"
#include "session_events.hpp"
#include "workspace.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cellgate::service {

class SessionTable {
  public:
    using SessionPtr = std::shared_ptr<session::Session>;
    using Found = std::pair<SessionPtr, std::shared_ptr<session::Execution>>;

    // All must outlive it.
    SessionTable(session::SessionServices& services, const Workspace& workspace, SessionEvents& events)
        : services_(services), workspace_(workspace), events_(events) {}

    // Throws Error{session_exists}, Error{limit_exceeded} if the options name an agent that has too many, and what
    // Session::start() throws.
    Task<SessionPtr> create(session::SessionOptions options);
    // The session of that id, or the workspace's default one, which is created if need be: within the limits of the
    // agent that needs it. Throws Error{session_not_found}, and what Session::start() throws.
    Task<SessionPtr> find_or_start(std::optional<std::string> session_id, const AgentLimits* of_agent = nullptr);
    // Throws Error{session_not_found}, and Error{forbidden} for the run of a saved tool, whose rules are not for
    // others; so does find_or_start().
    SessionPtr find(const std::string& session_id) const;
    // To look at it: also a run. Throws Error{session_not_found}.
    SessionPtr find_shown(const std::string& session_id) const;
    // Also one that is starting.
    bool has(const std::string& session_id) const { return sessions_.contains(session_id); }
    std::vector<SessionPtr> all() const;
    // Whether one starts or runs something.
    bool is_busy() const;
    // Throws Error{execution_not_found}.
    Found find_execution(const std::string& execution_id) const;
    std::optional<Found> try_find_execution(const std::string& execution_id) const;
    // Throws Error{execution_exists} if any session has it.
    void require_new_execution(const std::string& execution_id) const;

    // Also one that is starting. Throws Error{session_not_found}.
    Task<void> close(std::string session_id, std::string reason);
    // The agent's own: no other client could use them.
    Task<void> close_sessions_of(session::ClientId agent);
    Task<void> close_all();

  private:
    struct Entry {
        SessionPtr session;
        std::shared_ptr<CancelState> starting;
        Event started; // or failed
        std::exception_ptr failure;
    };

    void require_room_for(session::ClientId agent) const;
    session::SessionOptions default_session(const AgentLimits* of_agent) const;
    std::shared_ptr<Entry> add(session::SessionOptions options);
    void forget(const std::shared_ptr<Entry>& entry);
    // Throws Error{session_not_found}.
    std::shared_ptr<Entry> entry_of(const std::string& session_id) const;
    Task<void> start(std::shared_ptr<Entry> entry);
    Task<SessionPtr> started(std::shared_ptr<Entry> entry);

    session::SessionServices& services_;
    const Workspace& workspace_;
    SessionEvents& events_;
    std::map<std::string, std::shared_ptr<Entry>> sessions_;
    TaskScope starting_;
};

} // namespace cellgate::service
