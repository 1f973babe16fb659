#include "tool_remark.hpp"

#include "base/escape_unprintable.hpp"
#include "base/shell_words.hpp"
#include "base/suggest.hpp"
#include "hook_format.hpp"
#include "tools/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace cellgate::cli {

namespace {

template <class Each>
std::vector<std::string> names_in_list(const std::vector<Each>& all) {
    std::vector<std::string> names;
    std::transform(all.begin(), all.end(), std::back_inserter(names), [](const Each& each) { return each.name; });
    return names;
}

std::string with_hint(const std::string& remark, const std::string& hint) {
    return hint.empty() ? remark : remark + "\n  " + hint;
}

// An agent whose hooks ask: no tool server, but rules name it as one.
bool is_hook_agent(const std::string& server) {
    return std::any_of(hook_agents.begin(), hook_agents.end(),
                       [&server](const HookAgent& agent) { return agent.name == server; });
}

std::string unknown_server(const std::vector<std::string>& names, bool sidecar_runs, const std::string& server) {
    if (!sidecar_runs) {
        return with_hint(fmt::format("no file of the workspace names a tool server {}, and no sidecar runs that may "
                                     "know it from an editor",
                                     escape_unprintable(server)),
                         did_you_mean(server, names));
    }
    return with_hint(fmt::format("there is no tool server {} now", escape_unprintable(server)),
                     did_you_mean(server, names));
}

} // namespace

std::string tool_remark(const std::vector<protocol::ToolServerInfo>& servers, bool sidecar_runs,
                        const std::string& server, const std::optional<std::string>& tool) {
    const auto found =
        std::find_if(servers.begin(), servers.end(), [&server](const auto& each) { return each.name == server; });
    const bool is_listed = found != servers.end();
    if (!is_listed && (is_hook_agent(server) || server == tools::kernel_server_name)) {
        return {};
    }
    if (!is_listed && server != tools::saved_server_name) { // which is listed once it has tools
        return unknown_server(names_in_list(servers), sidecar_runs, server);
    }
    if (!tool) {
        return {};
    }
    const std::string what = fmt::format("{}/{}", escape_unprintable(server), escape_unprintable(*tool));
    if (is_listed && !found->tools) {
        const std::string named = shell_word(server);
        return with_hint(fmt::format("whether there is a tool {} was not checked, as the server has not run", what),
                         sidecar_runs ? fmt::format("`cellgate servers restart {0}` starts it, then `cellgate servers "
                                                    "tools {0}` lists its tools.",
                                                    named)
                                      : fmt::format("`cellgate generate {}` starts it, and writes a module for each "
                                                    "of its tools.",
                                                    named));
    }
    const std::vector<std::string> names = is_listed ? names_in_list(*found->tools) : std::vector<std::string>{};
    if (std::find(names.begin(), names.end(), *tool) != names.end()) {
        return {};
    }
    return with_hint(fmt::format("there is no tool {} now", what), did_you_mean(*tool, names));
}

} // namespace cellgate::cli
