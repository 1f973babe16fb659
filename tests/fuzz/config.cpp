// A configuration of tool servers as a cloned repository brings it, up to the command that a user would be asked
// about. Nothing is started. Input: the file.

#include "tools/config.hpp"

#include "base/raw_json.hpp"
#include "fuzzing.hpp"
#include "json_with_comments.hpp"

#include <set>
#include <string>

using namespace cellgate;
using cellgate::fuzz::require;

namespace {

void check_server(const tools::ServerSpec& spec) {
    const Environment environment{{"HOME", "/nowhere"}, {"PATH", "/nowhere"}, {"NAME", "value"}};
    try {
        tools::require_usable(spec);
        const tools::ServerDescription described = tools::describe(spec, "/nowhere/workspace", environment);
        require(!described.identity.empty(), "a server that can be asked about has an identity");
        if (!spec.config.command || described.problem) {
            return;
        }
        const tools::ServerCommand command = tools::expand(spec, described, "/nowhere/workspace", environment,
                                                           {{{"key", "value"}}, {{"NAME", "value"}}});
        require(!command.argv.empty() && command.cwd.starts_with('/'), "a command can be started");
        for (const std::string& argument : command.argv) {
            require(argument.find('\0') == std::string::npos, "an argument is whole");
        }
    } catch (const Error& error) {
        require(!error.message.empty(), "an error says what is wrong");
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::string stripped = tools::strip_comments(text);
    require(stripped.size() == text.size(), "offsets stay");
    require(check_json(text) || stripped == text, "strict JSON stays as it is");
    try {
        const tools::ConfigFile file = tools::parse_config(text, ".mcp.json");
        std::set<std::string> names;
        for (const tools::ServerSpec& spec : file.servers) {
            require(names.insert(spec.name).second, "a server is named once");
            check_server(spec);
        }
    } catch (const Error& error) {
        require(!error.message.empty(), "an error says what is wrong");
    }
    return 0;
}
