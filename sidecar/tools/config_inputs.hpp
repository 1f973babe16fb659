#pragma once
// `config_inputs` are the inputs and the secrets of a server's configuration: which of them its texts need, as
// ${input:ID} and ${secret:NAME}.

#include "base/error.hpp"
#include "protocol/messages/tool_servers.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::tools {

struct ServerSpec;
struct Variable;

// Those that a text of the configuration names, in the order of `inputs`.
std::vector<protocol::ServerInput> needed_inputs(const protocol::McpServerConfig& config);

// The names of the secrets that its texts name.
std::set<std::string> named_secrets(const protocol::McpServerConfig& config);

// Whether the text names a secret, or an input that is typed unseen.
bool holds_password(std::string_view text, const protocol::McpServerConfig& config);

// Adds those of `inputs` that the configuration names and does not have itself.
void give_inputs(protocol::McpServerConfig& config, const std::vector<protocol::ServerInput>& inputs);

// Throws Error{config_invalid} for a variable that is never put in, and for ${input:ID} without an input that can be
// asked for. Also for a secret in a text that other users of the machine can see: the command, its arguments, its
// folder.
void require_known_variables(const ServerSpec& spec);

Error unknown_variable(const Variable& variable, const std::string& server);

} // namespace cellgate::tools
