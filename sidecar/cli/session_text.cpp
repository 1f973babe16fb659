#include "session_text.hpp"

#include "base/enum_name.hpp"
#include "base/escape_unprintable.hpp"
#include "base/json_codec.hpp"
#include "base/json_value.hpp"
#include "sandbox/isolation.hpp"
#include "sandbox/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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
    std::string text;
    for (const JsonValue::Member& member : parse_json_value(json).members) {
        text += fmt::format("{} {}\n", member.name, member.value.text);
    }
    return text;
}

namespace {

std::string disk_defaults() {
    constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
    return fmt::format("diskBytes {}M in /tmp, {}M in /dev/shm and {}M in the home (default)\n",
                       sandbox::default_tmp_bytes / mebibyte, sandbox::default_shared_memory_bytes / mebibyte,
                       sandbox::default_home_bytes / mebibyte);
}

} // namespace

std::string defaults_text(const protocol::SessionInfo& session) {
    const std::string_view kind = enum_name(session.sandbox);
    const sandbox::IsolationTraits& traits =
        sandbox::traits_of(sandbox::find_isolation(kind).value_or(sandbox::Isolation::none));
    const protocol::Limits limits = session.limits.value_or(protocol::Limits{});
    if (!traits.isolates) {
        return to_json(limits) == "{}" ? "no limit: it runs without a sandbox\n" : "";
    }
    const std::pair<bool, std::string> defaults[] = {
        {!limits.memory_bytes, fmt::format("memoryBytes {} (default)\n", sandbox::default_memory_bytes())},
        {!limits.process_count, fmt::format("processCount {} (default)\n", sandbox::default_process_count)},
        {!limits.disk_bytes && traits.mounts, disk_defaults()}};
    std::string text;
    for (const auto& [holds, line] : defaults) {
        text += holds ? line : std::string();
    }
    return text;
}

} // namespace cellgate::cli
