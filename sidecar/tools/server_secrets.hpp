#pragma once
// `ServerSecrets` gets the secrets that tool servers' configurations name, from the user's store. One that is not there
// is asked for, and kept there as the user's. It is for after the gate's yes. The registry owns it.

#include "base/environment.hpp"
#include "base/task.hpp"
#include "store/secrets.hpp"
#include "tools/call_context.hpp"
#include "tools/config.hpp"
#include "tools/elicitor.hpp"
#include "tools/registry.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cellgate::tools {

class ServerSecrets {
  public:
    // `options` outlive it.
    explicit ServerSecrets(const RegistryOptions& options) : options_(options) {}

    // The values that the configuration needs, by name. Starts that need the same one share a question; for what an
    // agent named no user is asked. Throws Error{denied} when they are not given, and as store::Secrets::find().
    Task<Environment> take(CallContext context, ServerSpec spec);
    // Those of the last start of exactly this configuration.
    Environment known(const ServerSpec& spec) const;

  private:
    struct Looked {
        Environment values;
        std::vector<store::SecretEntry> found;
        std::vector<std::string> missing;
    };
    using Key = std::pair<std::string, std::string>; // the server, and its configuration as JSON

    static Key key_of(const ServerSpec& spec);
    Task<Looked> look(ServerSpec spec);
    // An Event that is set once one of them is not asked for any more; nothing if none is.
    std::shared_ptr<Event> asked_for(const std::vector<std::string>& names) const;
    Task<void> ask(CallContext context, ServerSpec spec, std::vector<std::string> names);
    Task<void> keep(std::string name, std::string value);

    const RegistryOptions& options_;
    std::map<Key, Environment> given_;
    std::map<std::string, std::shared_ptr<Event>> asking_; // by name
};

} // namespace cellgate::tools
