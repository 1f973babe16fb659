#include "session_text.hpp"

#include "base/escape_unprintable.hpp"
#include "base/json_value.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cellgate::cli {

Task<protocol::SessionInfo> find_session(WorkspaceClient* client, std::string id) {
    protocol::SessionListResult list = co_await client->call<protocol::SessionList>();
    const auto found = std::find_if(list.sessions.begin(), list.sessions.end(),
                                    [&](const auto& each) { return each.session_id == id; });
    if (found == list.sessions.end()) {
        throw Error(ErrorCode::session_not_found, fmt::format("there is no session \"{}\"", escape_unprintable(id)),
                    "`cellgate session list` lists those that there are");
    }
    co_return std::move(*found);
}

std::string limits_text(const std::optional<protocol::Limits>& limits) {
    const std::string json = limits ? to_json(*limits) : "{}";
    if (json == "{}") {
        return "none beside the defaults\n";
    }
    std::string text;
    for (const JsonValue::Member& member : parse_json_value(json).members) {
        text += fmt::format("{} {}\n", member.name, member.value.text);
    }
    return text;
}

} // namespace cellgate::cli
