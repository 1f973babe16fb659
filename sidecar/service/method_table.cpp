#include "method_table.hpp"

#include "base/json.hpp"
#include "base/json_scan.hpp"

#include <fmt/format.h>

#include <map>
#include <vector>

namespace cellgate::service {

namespace {

struct UserOnly {
    std::string param;         // "kernel.interpreter"
    std::optional<Json> value; // or any that is not null
};

struct Entry {
    bool for_agents = false;
    std::vector<UserOnly> user_only;
};

std::map<std::string, Entry> load_table() {
    std::map<std::string, Entry> entries;
    const Json table = Json::parse(methods_text); // named: a range inside a temporary would dangle
    for (const auto& [method, given] : table.at("methods").items()) {
        Entry& entry = entries[method];
        for (const Json& role : given.at("roles")) {
            entry.for_agents = entry.for_agents || role == "agent";
        }
        const Json none = Json::array();
        const Json user_only = given.value("userOnly", none);
        for (const Json& part : user_only) {
            UserOnly& only = entry.user_only.emplace_back();
            only.param = part.at("param");
            if (part.contains("value")) {
                only.value = part.at("value");
            }
        }
    }
    return entries;
}

// The member at a path of names, as text; empty if there is none.
std::string_view member_at(std::string_view object, std::string_view path) {
    while (!path.empty() && object.starts_with('{')) {
        const std::string_view name = path.substr(0, path.find('.'));
        path.remove_prefix(std::min(path.size(), name.size() + 1));
        object = json_member(object, name);
    }
    return path.empty() ? object : std::string_view();
}

bool has(const RawJson& params, const UserOnly& only) {
    const std::string_view found = member_at(params.text(), only.param);
    if (found.empty() || found == "null") {
        return false;
    }
    return !only.value || Json::parse(found) == *only.value;
}

} // namespace

std::optional<std::string> users_only_part(const std::string& method, const RawJson& params) {
    static const std::map<std::string, Entry> table = load_table();
    const auto entry = table.find(method);
    if (entry == table.end()) {
        return std::nullopt;
    }
    if (!entry->second.for_agents) {
        return method;
    }
    for (const UserOnly& only : entry->second.user_only) {
        if (has(params, only)) {
            return only.value ? fmt::format("{} with {}: {}", method, only.param, only.value->dump())
                              : fmt::format("{} with {}", method, only.param);
        }
    }
    return std::nullopt;
}

} // namespace cellgate::service
