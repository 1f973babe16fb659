#include "gate/injected_secrets.hpp"

#include "base/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

namespace cellgate::gate {

namespace {

// Calls `text` with what is between the references, and `name` with the name in each.
void read_references(std::string_view value, const std::function<void(std::string_view)>& text,
                     const std::function<void(std::string_view)>& name) {
    constexpr std::string_view begin = "${secret:";
    while (!value.empty()) {
        const std::size_t at = value.find(begin);
        const std::size_t end = at == std::string_view::npos ? at : value.find('}', at);
        if (end == std::string_view::npos) {
            text(value);
            return;
        }
        const std::string_view found = value.substr(at + begin.size(), end - at - begin.size());
        if (is_variable_name(found)) {
            text(value.substr(0, at));
            name(found);
            value.remove_prefix(end + 1);
        } else {
            text(value.substr(0, at + begin.size()));
            value.remove_prefix(at + begin.size());
        }
    }
}

std::vector<std::string> secrets_in(std::string_view value) {
    std::vector<std::string> names;
    const auto add = [&names](std::string_view name) {
        if (std::find(names.begin(), names.end(), name) == names.end()) {
            names.emplace_back(name);
        }
    };
    read_references(value, [](std::string_view) {}, add);
    return names;
}

} // namespace

std::vector<std::string> secrets_of(const protocol::Injection& injection) {
    return secrets_in(injection.value);
}

std::string with_values(std::string_view value, const std::map<std::string, std::string>& values) {
    std::string made;
    read_references(
        value, [&made](std::string_view text) { made += text; },
        [&](std::string_view name) { made += values.at(std::string(name)); });
    return made;
}

std::vector<std::string> colon_parts(std::string_view value) {
    std::vector<std::string> parts(1);
    read_references(
        value,
        [&parts](std::string_view text) {
            for (std::size_t end = text.find(':'); end != std::string_view::npos; end = text.find(':')) {
                parts.back() += text.substr(0, end);
                parts.emplace_back();
                text.remove_prefix(end + 1);
            }
            parts.back() += text;
        },
        [&parts](std::string_view name) { parts.back() += fmt::format("${{secret:{}}}", name); });
    return parts;
}

std::vector<PlaceholderVariable> placeholders_of(const protocol::Injection& injection) {
    std::vector<PlaceholderVariable> variables;
    if (injection.as == protocol::InjectionAs::aws) {
        constexpr std::array names = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"};
        const std::vector<std::string> parts = colon_parts(injection.value);
        for (std::size_t at = 0; at < std::min(parts.size(), names.size()); ++at) {
            variables.push_back({names.at(at), secrets_in(parts[at])});
        }
    } else if (injection.variable) {
        variables.push_back({*injection.variable, secrets_of(injection)});
    }
    return variables;
}

} // namespace cellgate::gate
