#pragma once
// `Definitions` is what the definitions of tools were when a user last allowed a call of them: of every answer while
// the sidecar runs, and of stored rules also later, in files. A stored rule binds a definition by its SHA-256, which is
// the name of the file. A definition that is not to be found is one that was never allowed. Private to the gate.

#include "payload.hpp"
#include "protocol/messages/policy.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cellgate::gate {

class Definitions {
  public:
    static constexpr std::size_t max_files = 1000;

    // Nothing is made before a definition is stored.
    explicit Definitions(const std::string& policy_directory)
        : policy_directory_(policy_directory), directory_(policy_directory + "/definitions") {}

    // A user has allowed a call of the tool that `call` names, whose definition is the JSON `text`.
    void remember(const Payload::Names& call, std::string text);
    // For a rule that is stored. Blocks; touches no mutable state of this object, so another thread may call it. A
    // failure is logged.
    void store(const std::string& identity, const std::string& text) const;

    // What differs in `text` from the definition that was last allowed, by this sidecar or else by the newest of
    // `rules`; nothing when that is the same, or none.
    std::optional<std::vector<std::string>> changes(const Payload::Names& call, const std::string& text,
                                                    const std::vector<protocol::Rule>& rules) const;

  private:
    struct Definition {
        std::string identity;
        std::string text; // empty: too long to keep
    };
    // Nothing for what is no SHA-256.
    std::optional<std::string> path_of(const std::string& identity) const;
    std::string read(const std::string& identity) const;
    void remove_oldest() const;

    std::string policy_directory_;
    std::string directory_;
    std::map<std::pair<std::string, std::string>, Definition> allowed_; // by server and tool
};

} // namespace cellgate::gate
