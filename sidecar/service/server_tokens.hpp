#pragma once
// `ServerTokens` gets the tokens of Jupyter servers: the one that a session was created with, a secret that it names,
// or what a user typed when the server wanted one. Typed ones are in memory alone, by server. Values are masked in
// outputs like secrets, and never recorded.

#include "base/known_secrets.hpp"
#include "base/task.hpp"
#include "elicitations.hpp"
#include "protocol/messages/sessions.hpp"
#include "secret_record.hpp"
#include "store/secrets.hpp"

#include <map>
#include <optional>
#include <string>

namespace cellgate::service {

class ServerTokens {
  public:
    // All outlive it.
    ServerTokens(store::Secrets& secrets, KnownSecrets& known, SecretRecord& record, Elicitations& elicitations)
        : secrets_(secrets), known_(known), record_(record), elicitations_(elicitations) {}

    // As jupyter::TokenSource: empty where none is known; after a refusal users are asked, unless the token was given.
    // Throws Error{denied}.
    Task<std::string> take(std::optional<std::string> session_id, protocol::KernelServer server,
                           std::optional<std::string> refusal);

  private:
    Task<std::string> of_secret(std::string name, std::string host);
    Task<std::string> ask(std::optional<std::string> session_id, std::string refusal);

    store::Secrets& secrets_;
    KnownSecrets& known_;
    SecretRecord& record_;
    Elicitations& elicitations_;
    std::map<std::string, std::string> typed_; // by URL
};

} // namespace cellgate::service
