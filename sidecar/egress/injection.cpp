#include "injection.hpp"

#include "base/encoding.hpp"
#include "base/error.hpp"
#include "base/percent_encoding.hpp"
#include "base/text.hpp"
#include "gate/injected_secrets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace cellgate::egress {

namespace {

using protocol::Injection;
using protocol::InjectionAs;

std::string field_of(const Injection& injection) {
    return injection.as == InjectionAs::header ? lower(injection.name.value_or("")) : "authorization";
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

bool signs(const Injection& injection) {
    return injection.as == InjectionAs::aws;
}

AwsKeys aws_keys(const Injection& injection, const std::map<std::string, std::string>& values) {
    std::vector<std::string> parts = gate::colon_parts(injection.value);
    for (std::string& part : parts) {
        part = gate::with_values(part, values);
    }
    AwsKeys keys{parts.at(0), parts.at(1), {}};
    if (parts.size() > 2) {
        keys.token = parts[2];
    }
    return keys;
}

void put_in(RequestHead& head, const Injection& injection, std::string value) {
    if (injection.as == InjectionAs::query) {
        head.target += head.target.find('?') == std::string::npos ? "?" : "&";
        head.target += injection.name.value_or("") + "=" + percent_encode(value);
        return;
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

bool only_sign(const std::vector<Injection>& injections) {
    return std::all_of(injections.begin(), injections.end(), signs);
}

ClearedPlaces clear_places(RequestToJudge& request, const std::vector<Injection>& injections) {
    ClearedPlaces cleared;
    RequestHead& head = request.head;
    if (std::any_of(injections.begin(), injections.end(), signs)) {
        try {
            cleared.aws = take_aws_signature(request);
        } catch (const Error& error) {
            cleared.unsignable = error.hint.empty() ? error.message : fmt::format("{}. {}", error.message, error.hint);
        }
    }
    for (const Injection& injection : injections) {
        if (injection.as == InjectionAs::query) {
            head.target = without_parameter(head.target, injection.name.value_or(""));
        } else {
            const std::string name = field_of(injection);
            std::erase_if(head.fields, [&name](const auto& field) { return is_one_field(field.first, name); });
        }
    }
    return cleared;
}

void inject(RequestToJudge& request, std::string_view host, const ClearedPlaces& cleared,
            const std::vector<Injection>& injections, const std::map<std::string, std::string>& values) {
    const Injection* signing = nullptr; // last, since it covers what the others put in
    for (const Injection& injection : injections) {
        if (signs(injection)) {
            signing = &injection;
        } else {
            put_in(request.head, injection, gate::with_values(injection.value, values));
        }
    }
    if (signing != nullptr) {
        sign_for_aws(request, host, cleared.aws.value(), aws_keys(*signing, values));
    }
}

} // namespace cellgate::egress
