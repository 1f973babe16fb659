#pragma once
// `ResultReview` is what agents do not get of executions until a user or a rule allows it: all output of a session's
// executions from the moment on at which its kernel may have a result that a user wants to see first, and the output of
// every agent where a rule of kind output asks or denies. Code and users are not affected. At the end of an agent's
// execution the gate decides about all of its output: it is sent then, or a line in its place says what is withheld.
// A session's mark ends with its kernel; what was withheld stays withheld unless a rule allows the output of agents.

#include "base/run_blocking.hpp"
#include "client_hub.hpp"
#include "gate/gate.hpp"
#include "session/execution.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace cellgate::service {

class ResultReview {
  public:
    // The gate must outlive it. It tells the clients' hub from now on what agents do not get.
    ResultReview(gate::Gate& gate, RunBlocking run_blocking, ClientHub& clients);

    // What happens in sessions.
    void execution_started(const session::Execution& execution) { withhold(execution, 0); }
    // As session::SessionObserver::on_reviewed_result().
    void result_reviewed(const std::string& session_id, const session::Execution* running, const std::string& tool);
    // A variable goes from one session to the other, which then may have the results, too.
    void result_copied(const std::string& from, const std::string& to);
    // The agent learns of the variable's type and size, which code can choose. Throws Error{denied}.
    void require_copy_allowed(const std::string& from, const std::string& to, const gate::Agent& agent);
    void output_recorded(const session::Execution& execution, std::int64_t seq);
    void session_is_new(const std::string& session_id) { tools_.erase(session_id); }

    // Of which agents get nothing now: an execution; a record of one; what code of a session asks for.
    bool hides(const std::string& execution_id) const;
    bool hides(const session::Execution& execution, std::int64_t seq) const;
    bool hides(const std::optional<std::string>& session_id, const std::optional<std::string>& execution_id) const;
    // Whether its end is not told to the agent yet.
    bool is_undecided(const session::Execution& execution) const;

    // The result for the client, once the execution has finished. Where an agent's is withheld, asks the gate first,
    // and sends the output that is allowed. Cancelling withdraws the question; it is withheld then.
    Task<protocol::ExecuteResult> result_for(Client* client, std::shared_ptr<session::Execution> execution);
    // The agent does not wait for it any more.
    void abandon(const session::Execution& execution);

    // What an agent reads later. Records of the execution below the number that is returned; throws Error{denied} if
    // there are none from `from` on that it may read.
    std::int64_t readable_end(const session::Execution& execution, std::int64_t from, const gate::Agent& agent);
    protocol::ExecutionInfo shown_info(protocol::ExecutionInfo info, const session::Execution& execution,
                                       const gate::Agent& agent);
    void require_shown(const session::Execution& execution, const gate::Agent& agent); // throws Error{denied}

    // The result of an agent's own call. Throws Error{denied}.
    Task<void> require_allowed(gate::Agent agent, std::optional<std::string> session_id, std::string tool,
                               std::string text);

  private:
    struct Withheld {
        std::weak_ptr<const session::Execution> execution;
        std::int64_t open = 0; // the records below are the agent's
        std::set<std::string> tools;
        bool decided = false;
        bool allowed = false;
        std::string why = "a user has to allow them first";
    };
    using WithheldPtr = std::shared_ptr<Withheld>;

    void withhold(const session::Execution& execution, std::int64_t open);
    WithheldPtr find(const session::Execution& execution) const; // nullptr: nothing is withheld
    // The same unless a rule lets the agent read it.
    WithheldPtr find_from(const session::Execution& execution, const gate::Agent& agent);
    Task<void> decide(Client* client, std::shared_ptr<session::Execution> execution, WithheldPtr withheld);
    Task<std::string> text_of(std::shared_ptr<session::Execution> execution);
    Task<void> send(Client* client, std::shared_ptr<session::Execution> execution, std::int64_t from, std::int64_t end);

    gate::Gate& gate_;
    RunBlocking run_blocking_;
    std::map<std::string, std::set<std::string>> tools_; // "server/tool", by the sessions that may have results of them
    std::map<std::string, WithheldPtr> withheld_;        // by the execution's id
};

} // namespace cellgate::service
