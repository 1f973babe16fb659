#include "gate/injected_secrets.hpp"

#include "base/names.hpp"

#include <algorithm>
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

} // namespace

std::vector<std::string> secrets_of(const protocol::Injection& injection) {
    std::vector<std::string> names;
    const auto add = [&names](std::string_view name) {
        if (std::find(names.begin(), names.end(), name) == names.end()) {
            names.emplace_back(name);
        }
    };
    read_references(injection.value, [](std::string_view) {}, add);
    return names;
}

std::string with_values(const protocol::Injection& injection, const std::map<std::string, std::string>& values) {
    std::string made;
    read_references(
        injection.value, [&made](std::string_view text) { made += text; },
        [&](std::string_view name) { made += values.at(std::string(name)); });
    return made;
}

} // namespace cellgate::gate
