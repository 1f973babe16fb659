#include "injection.hpp"

#include "base/encoding.hpp"
#include "base/error.hpp"
#include "base/percent_encoding.hpp"
#include "gate/injected_secrets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace cellgate::egress {

namespace {

using protocol::Injection;
using protocol::InjectionAs;

std::string field_of(const Injection& injection) {
    std::string name = injection.as == InjectionAs::header ? injection.name.value_or("") : "authorization";
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return name;
}

// The target without this parameter of its query.
std::string without_parameter(const std::string& target, std::string_view name) {
    const std::size_t mark = target.find('?');
    if (mark == std::string::npos) {
        return target;
    }
    std::string kept;
    std::string_view rest = std::string_view(target).substr(mark + 1);
    while (!rest.empty()) {
        const std::string_view part = rest.substr(0, rest.find('&'));
        rest.remove_prefix(std::min(part.size() + 1, rest.size()));
        const std::string_view parameter = part.substr(0, part.find('='));
        if (parameter != name && form_decode(parameter) != name) {
            kept += (kept.empty() ? "" : "&") + std::string(part);
        }
    }
    return target.substr(0, mark) + (kept.empty() ? "" : "?" + kept);
}

} // namespace

std::vector<std::string> secret_names(const std::vector<Injection>& injections) {
    std::set<std::string> names;
    for (const Injection& injection : injections) {
        for (std::string& name : gate::secrets_of(injection)) {
            names.insert(std::move(name));
        }
    }
    return {names.begin(), names.end()};
}

void clear_places(RequestHead& head, const std::vector<Injection>& injections) {
    for (const Injection& injection : injections) {
        if (injection.as == InjectionAs::query) {
            head.target = without_parameter(head.target, injection.name.value_or(""));
        } else {
            const std::string name = field_of(injection);
            std::erase_if(head.fields, [&name](const auto& field) { return is_one_field(field.first, name); });
        }
    }
}

void inject(RequestHead& head, const std::vector<Injection>& injections,
            const std::map<std::string, std::string>& values) {
    for (const Injection& injection : injections) {
        std::string value = gate::with_values(injection, values);
        if (injection.as == InjectionAs::query) {
            head.target += head.target.find('?') == std::string::npos ? "?" : "&";
            head.target += injection.name.value_or("") + "=" + percent_encode(value);
            continue;
        }
        value = injection.as == InjectionAs::bearer  ? "Bearer " + value
                : injection.as == InjectionAs::basic ? "Basic " + encode_base64(value)
                                                     : value;
        if (std::any_of(value.begin(), value.end(),
                        [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; })) {
            throw Error(ErrorCode::denied, fmt::format("the secret {} has a line break or another control character, "
                                                       "which no header of HTTP can have",
                                                       gate::secrets_of(injection).front()));
        }
        head.set(field_of(injection), std::move(value));
    }
}

} // namespace cellgate::egress
