#include "payload.hpp"

#include "base/hash.hpp"
#include "base/json_scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <type_traits>
#include <variant>

namespace cellgate::gate {

namespace {

using Text = std::string_view;
using Texts = std::vector<std::string>;
using Pairs = std::map<std::string, std::string>;

constexpr bool is_hashed(FieldRole role) {
    return role == FieldRole::name || role == FieldRole::payload;
}

// In the order in which they are hashed, which never changes: the hashes are in stored grants.
using HashedFields =
    std::tuple<field::Server, field::Tool, field::Arguments, field::Command, field::Cwd, field::EnvironmentNames,
               field::Environment, field::Sandbox, field::Folders, field::SandboxSettings, field::Host, field::Port,
               field::Url, field::HeaderNames, field::Headers, field::Tls, field::Method, field::UrlPath, field::Query,
               field::RequestHeaders, field::Secrets, field::BodyBytes, field::BodySha256, field::Body, field::Protocol,
               field::OutputText, field::Results, field::SandboxLauncher>;
constexpr std::size_t hashed_fields = std::tuple_size_v<HashedFields>;

template <class Tag, std::size_t at = 0>
constexpr std::size_t place_in_hash() {
    static_assert(at < hashed_fields, "a field that says what is done is not part of the payload's hash");
    if constexpr (std::is_same_v<Tag, std::tuple_element_t<at, HashedFields>>) {
        return at;
    } else {
        return place_in_hash<Tag, at + 1>();
    }
}

std::string hashed(Text text) {
    return fmt::format("{}:{}", text.size(), text);
}
std::string hashed(const RawJson& json) {
    return hashed(Text(json.text()));
}
std::string hashed(bool sandbox) {
    return hashed(Text(sandbox ? "in" : "out"));
}
std::string hashed(std::int64_t number) {
    return hashed(Text(fmt::format("{}", number)));
}
std::string hashed(protocol::NetworkProtocol protocol) {
    return hashed(static_cast<std::int64_t>(protocol));
}
std::string hashed(protocol::SandboxLauncher launcher) {
    return hashed(Text(to_json(launcher)));
}
std::string hashed(const Texts& texts) {
    std::string all = fmt::format("{}[", texts.size());
    for (const std::string& text : texts) {
        all += hashed(Text(text));
    }
    return all;
}
std::string hashed(const Pairs& pairs) {
    std::string all = fmt::format("{}[", 2 * pairs.size());
    for (const auto& [name, value] : pairs) {
        all += hashed(Text(name)) + hashed(Text(value));
    }
    return all;
}
std::string hashed(const SandboxSettings& settings) {
    return hashed(Text(settings.file)) + ";" + hashed(settings.text);
}

std::size_t bytes_of(Text text) {
    return text.size();
}
std::size_t bytes_of(std::int64_t /*number*/) {
    return sizeof(std::int64_t);
}
std::size_t bytes_of(const RawJson& json) {
    return json.text().size();
}
std::size_t bytes_of(const Texts& texts) {
    std::size_t bytes = 0;
    for (const std::string& text : texts) {
        bytes += text.size();
    }
    return bytes;
}
std::size_t bytes_of(const Pairs& pairs) {
    std::size_t bytes = 0;
    for (const auto& [name, value] : pairs) {
        bytes += name.size() + value.size();
    }
    return bytes;
}
std::size_t bytes_of(const SandboxSettings& settings) {
    return settings.file.size() + settings.text.text().size();
}

// What every action of its kind needs: texts and commands that are not empty.
bool is_complete(const Action& action) {
    bool complete = true;
    const auto look = [&complete]<class Bound>(const Bound& bound) {
        using Value = std::remove_cvref_t<decltype(bound.value)>;
        constexpr bool is_command = std::is_same_v<typename Bound::tag, field::Command>;
        if constexpr (std::is_same_v<Value, std::string> || (is_command && std::is_same_v<Value, Texts>)) {
            complete = complete && !bound.value.empty();
        }
    };
    std::visit([&look](const auto& alternative) { for_each_bound(alternative, look); }, action);
    return complete;
}

bool may_have_body(const HttpRequest& request) {
    if (request.body || request.body_bytes) {
        return request.body ? !request.body->empty() : *request.body_bytes > 0;
    }
    const bool usually_none = request.method == "GET" || request.method == "HEAD" || request.method == "WEBSOCKET";
    return request.body_sha256.has_value() || !usually_none;
}

} // namespace

bool requires_exact_payload(ActionKind kind, std::optional<Text> tool) {
    switch (kind) {
    case ActionKind::tool:
    case ActionKind::output:
        return false;
    case ActionKind::host:
        return tool != "read_file" && tool != "list_directory";
    default:
        return true;
    }
}

std::optional<RawJson> json_object(Text body) {
    if (check_json(body)) {
        return std::nullopt;
    }
    RawJson json = RawJson::checked(std::string(body));
    return json.is_object() ? std::optional(std::move(json)) : std::nullopt;
}

std::string payload_hash(const Action& action) {
    std::array<std::string, hashed_fields> parts;
    parts.fill(";");
    // Earlier grants knew none of these, and of those behind Host and Port none at all.
    parts[place_in_hash<field::SandboxSettings>()].clear();
    std::fill(parts.begin() + place_in_hash<field::Url>(), parts.end(), std::string());
    for_each_field(action, [&parts]<class Tag>(Tag, const auto& value) {
        if constexpr (is_hashed(Tag::role)) {
            parts[place_in_hash<Tag>()] = hashed(value) + ";";
        }
    });
    std::string text = fmt::format("cellgate action {};",
                                   std::visit([](const auto& alternative) { return alternative.hash_number; }, action));
    for (const std::string& part : parts) {
        text += part;
    }
    return sha256(text);
}

std::size_t payload_bytes(const Action& action) {
    std::size_t bytes = 0;
    for_each_field(action, [&bytes]<class Tag>(Tag, const auto& value) {
        if constexpr (Tag::role == FieldRole::payload || Tag::role == FieldRole::statement) {
            bytes += bytes_of(value);
        }
    });
    return bytes;
}

Action without_payload(const Action& action) {
    Action kept = action;
    const auto clear = []<class Bound>(const Bound& bound) {
        if constexpr (Bound::tag::role != FieldRole::name) {
            bound.value = {};
        }
    };
    std::visit([&clear](auto& alternative) { for_each_bound(alternative, clear); }, kept);
    return kept;
}

void require_complete(const Action& action) {
    if (!is_complete(action)) {
        throw Error(ErrorCode::internal_error, "expected an action with all fields of its kind, found one without");
    }
    const Payload payload(action);
    const RawJson* arguments = payload.names().arguments;
    if (arguments == nullptr) {
        return;
    }
    if (!arguments->is_object()) {
        throw Error(ErrorCode::invalid_params,
                    fmt::format("expected the arguments of a call to be an object, found {}", arguments->type()));
    }
    if (arguments->text().size() > max_argument_bytes) {
        throw Error(ErrorCode::limit_exceeded,
                    fmt::format("expected arguments of at most {} bytes, found {}", max_argument_bytes,
                                arguments->text().size()),
                    "pass large data in a file of the workspace");
    }
}

Payload::Payload(const Action& action) : action_(&action) {
    names_.kind = kind_of(action);
    for_each_field(action, [this]<class Tag, class Value>(Tag, const Value& value) {
        if constexpr (std::is_same_v<Tag, field::Server>) {
            names_.server = value;
        } else if constexpr (std::is_same_v<Tag, field::Tool>) {
            names_.tool = value;
        } else if constexpr (std::is_same_v<Tag, field::Host>) {
            names_.host = value;
        } else if constexpr (std::is_same_v<Tag, field::Port>) {
            names_.port = value;
        } else if constexpr (std::is_same_v<Tag, field::Protocol>) {
            names_.protocol = value;
        } else if constexpr (std::is_same_v<Tag, field::Method>) {
            names_.method = value;
        } else if constexpr (std::is_same_v<Tag, field::UrlPath>) {
            names_.path = value;
        } else if constexpr (std::is_same_v<Tag, field::Body>) {
            if (std::optional<RawJson> object = json_object(value)) {
                body_json_ = std::make_shared<const RawJson>(std::move(*object));
                names_.arguments = body_json_.get();
            }
        } else if constexpr (std::is_same_v<Tag, field::ServerIdentity>) {
            names_.server_identity = value;
        } else if constexpr (std::is_same_v<Tag, field::ToolIdentity>) {
            names_.tool_identity = value;
        } else if constexpr (std::is_same_v<Tag, field::Url>) {
            names_.url = value;
        } else if constexpr (std::is_same_v<Tag, field::Arguments>) {
            names_.arguments = &value;
        }
    });
    names_.has_own_folder = std::holds_alternative<ClientCall>(action);
    if (const auto* request = std::get_if<HttpRequest>(&action)) {
        names_.has_other_body = names_.arguments == nullptr && may_have_body(*request);
    }
}

} // namespace cellgate::gate
