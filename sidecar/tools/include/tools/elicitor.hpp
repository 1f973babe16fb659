#pragma once
// `Elicitor` asks the users what a tool server asks while a call of one of its tools runs. The service is it; what it
// shows was read and escaped by `ElicitationForm` and `FollowedCall`.

#include "base/raw_json.hpp"
#include "base/task.hpp"
#include "protocol/messages/policy.hpp"

#include <functional>
#include <optional>

namespace cellgate::tools {

struct ElicitationReply {
    protocol::ElicitationAction action = protocol::ElicitationAction::cancel;
    std::optional<RawJson> content; // what is sent to the server, of a form that was accepted
};

// What the server receives for a user's values. Throws Error{answer_invalid}, which names the field.
using ValuesCheck = std::function<RawJson(const std::optional<RawJson>& values)>;

class Elicitor {
  public:
    // Whether a user's client that can answer is there, or is expected back.
    virtual bool can_ask() const = 0;
    // The first answer, or `cancel` once no client is there any more. The question has all but its id and time.
    // Cancelling withdraws it.
    virtual Task<ElicitationReply> elicit(protocol::Elicitation question, ValuesCheck check) = 0;

  protected:
    ~Elicitor() = default;
};

} // namespace cellgate::tools
