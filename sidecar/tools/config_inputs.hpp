#pragma once
// `config_inputs` are the inputs of a server's configuration: which of them its texts need, as ${input:ID}.

#include "base/error.hpp"
#include "protocol/messages/tool_servers.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cellgate::tools {

struct ServerSpec;
struct Variable;

// Those that a text of the configuration names, in the order of `inputs`.
std::vector<protocol::ServerInput> needed_inputs(const protocol::McpServerConfig& config);

// Whether the text names an input that is typed unseen.
bool holds_password(std::string_view text, const protocol::McpServerConfig& config);

// Adds those of `inputs` that the configuration names and does not have itself.
void give_inputs(protocol::McpServerConfig& config, const std::vector<protocol::ServerInput>& inputs);

// Throws Error{config_invalid} for a variable that is never put in, and for ${input:ID} without an input that can be
// asked for.
void require_known_variables(const ServerSpec& spec);

Error unknown_variable(const Variable& variable, const std::string& server);

} // namespace cellgate::tools
