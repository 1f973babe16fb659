#include "default_arguments.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cellgate::tools {

namespace {

using Members = std::vector<std::pair<std::string, std::string_view>>;

// Empty if there is no such member.
std::string_view find_member(const Members& members, std::string_view name) {
    const auto found =
        std::find_if(members.begin(), members.end(), [&](const auto& each) { return each.first == name; });
    return found == members.end() ? std::string_view() : found->second;
}

} // namespace

RawJson with_defaults(const RawJson& schema, RawJson arguments) {
    if (!arguments.is_object() || schema.text().find("\"default\"") == std::string::npos) {
        return arguments;
    }
    const std::string_view required = json_member(schema.text(), "required");
    const std::string_view properties = json_member(schema.text(), "properties");
    if (!required.starts_with('[') || !properties.starts_with('{')) {
        return arguments;
    }
    // Looked into once for each required property: the lists may be long.
    const Members declared = json_members(properties);
    const Members given = json_members(arguments.text());
    std::string added;
    for (const std::string_view name_text : json_elements(required)) {
        const std::string name = json_type(name_text) == "string" ? decode_json_string(name_text) : std::string();
        const std::string_view property = find_member(declared, name);
        if (property.empty() || !find_member(given, name).empty()) {
            continue;
        }
        const std::string_view value = json_member(property, "default");
        if (!value.empty()) {
            added += given.empty() && added.empty() ? "" : ",";
            append_json_string(added, name);
            added += ':';
            added += value;
        }
    }
    if (added.empty()) {
        return arguments;
    }
    const std::string_view all = trim_json(arguments.text());
    return RawJson::checked(std::string(all.substr(0, all.size() - 1)) + added + "}");
}

} // namespace cellgate::tools
