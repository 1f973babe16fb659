#pragma once
// Variables are replaced in the texts of a configuration: ${VAR}, ${VAR:-default}, ${env:VAR}, ${workspaceFolder},
// ${input:id}, ${secret:NAME}. A `${` that begins none of these is just text. What was put in is not looked through
// again.

#include <functional>
#include <string>
#include <string_view>

namespace cellgate::tools {

struct Variable {
    enum class Kind { environment, workspace_folder, input, secret, other };
    Kind kind = Kind::other;
    std::string name; // "VAR"; of input: "id"; of secret: "NAME"; of other: all between the braces, "command:id"
    bool has_default = false;
    std::string default_value;
    std::string_view source; // "${VAR}"
};

// `text` with each variable replaced by what `value` gives for it.
std::string replace_variables(std::string_view text, const std::function<std::string(const Variable&)>& value);

// `text` with the workspace put in, and every other variable as it is written.
std::string with_workspace(std::string_view text, const std::string& workspace);
bool has_variables(std::string_view text);

} // namespace cellgate::tools
