#pragma once
// `CallFollower` is whom a tool's call reports to while it runs: how far it is, and what its server asks the user. What
// a server says is untrusted.

#include "base/raw_json.hpp"
#include "base/task.hpp"

#include <optional>
#include <string>

namespace cellgate::mcp {

// How far a call is, by the server's word.
struct CallProgress {
    double progress = 0;
    std::optional<double> total;
    std::optional<std::string> message;
};

// What a server asks the user: to fill in a form, or to open a page.
struct ElicitationQuestion {
    std::string message;
    std::optional<std::string> url; // nothing: a form
    RawJson requested_schema;       // of a form
};

enum class ElicitationAction { accept, decline, cancel };

struct ElicitationAnswer {
    ElicitationAction action = ElicitationAction::decline;
    std::optional<RawJson> content; // of a form that was accepted: an object
};

class CallFollower {
  public:
    CallFollower() = default;
    CallFollower(const CallFollower&) = delete;
    CallFollower& operator=(const CallFollower&) = delete;
    virtual ~CallFollower() = default;

    // The `traceparent` of W3C's Trace Context that the call is sent with; empty: none.
    virtual std::string trace_parent() const { return {}; }
    virtual bool wants_progress() const { return false; }
    virtual void on_progress(const CallProgress& /*progress*/) {}
    // Throws Error{invalid_params} for a question that cannot be shown. Cancelling withdraws it.
    virtual Task<ElicitationAnswer> ask(ElicitationQuestion question) = 0;
    // A question of this call was declined without asking, for this reason.
    virtual void on_not_asked(const std::string& /*why*/) {}
};

} // namespace cellgate::mcp
