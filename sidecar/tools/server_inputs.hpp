#pragma once
// `ServerInputs` is what users typed for the inputs of tool servers' configurations. It asks them before a server
// starts, and keeps the values in memory, nowhere else. An input of a file has one value for all servers of the file,
// any other one for its server alone; an input that is written otherwise is another one.

#include "base/environment.hpp"
#include "base/task.hpp"
#include "tools/call_context.hpp"
#include "tools/config.hpp"
#include "tools/elicitor.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cellgate::tools {

class ServerInputs {
  public:
    // `elicitor` may be nullptr; else it stays as long.
    explicit ServerInputs(Elicitor* elicitor) : elicitor_(elicitor) {}

    // The values that the configuration needs, by id. Asks for those that are missing; starts that need the same one
    // share a question. Throws Error{denied} when they are not given.
    Task<Environment> take(CallContext context, ServerSpec spec);
    // Those that are known.
    Environment known(const ServerSpec& spec) const;
    // One of them may have been wrong: those that are typed unseen are asked for again.
    void forget_passwords(const ServerSpec& spec);

  private:
    using Key = std::pair<std::string, std::string>; // whose it is, and the input as JSON

    static Key key_of(const ServerSpec& spec, const protocol::ServerInput& input);
    std::vector<protocol::ServerInput> missing(const ServerSpec& spec) const;
    // An Event that is set once one of them is not asked for any more; nothing if none is.
    std::shared_ptr<Event> asked_for(const ServerSpec& spec, const std::vector<protocol::ServerInput>& inputs) const;
    Task<void> ask(CallContext context, ServerSpec spec, std::vector<protocol::ServerInput> inputs);

    Elicitor* elicitor_;
    std::map<Key, std::string> values_;
    std::map<Key, std::shared_ptr<Event>> asking_;
};

} // namespace cellgate::tools
