#include "method_table.hpp"

#include "base/json.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

namespace cellgate::service {

namespace {

std::map<std::string, std::set<std::string>> load_roles() {
    std::map<std::string, std::set<std::string>> roles;
    const Json table = Json::parse(methods_text); // named: what a loop runs over inside a temporary is gone
    for (const auto& [method, entry] : table.at("methods").items()) {
        for (const Json& role : entry.at("roles")) {
            roles[method].insert(role.get<std::string>());
        }
    }
    return roles;
}

} // namespace

void require_role(const std::string& method, protocol::Role role) {
    static const std::map<std::string, std::set<std::string>> roles = load_roles();
    const std::string name = role == protocol::Role::person ? "person" : "agent";
    const auto entry = roles.find(method);
    if (entry != roles.end() && !entry->second.contains(name)) {
        throw Error(ErrorCode::forbidden, fmt::format("{} is not for a client of role {}", method, name),
                    "ask the person at the editor to do it");
    }
}

} // namespace cellgate::service
