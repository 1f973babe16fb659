#include "payload.hpp"

#include "base/hash.hpp"

#include <fmt/format.h>

namespace cellgate::gate {

namespace {

using protocol::Action;
using protocol::ActionKind;

void append(std::string& out, std::string_view field) {
    out += fmt::format("{}:", field.size());
    out += field;
}

void append(std::string& out, const std::optional<std::string>& field) {
    if (field) {
        append(out, std::string_view(*field));
    }
    out += ';';
}

void append(std::string& out, const std::optional<std::vector<std::string>>& field) {
    if (field) {
        out += fmt::format("{}[", field->size());
        for (const std::string& element : *field) {
            append(out, std::string_view(element));
        }
    }
    out += ';';
}

std::vector<std::string> pairs_of(const std::map<std::string, std::string>& environment) {
    std::vector<std::string> pairs;
    for (const auto& [name, value] : environment) {
        pairs.push_back(name);
        pairs.push_back(value);
    }
    return pairs;
}

} // namespace

bool requires_exact_payload(const Action& action) {
    switch (action.kind) {
    case ActionKind::tool:
        return false;
    case ActionKind::host:
        return action.tool != "read_file" && action.tool != "list_directory";
    default:
        return true;
    }
}

std::string payload_hash(const Action& action) {
    std::string text = fmt::format("cellgate action {};", static_cast<int>(action.kind));
    append(text, action.server);
    append(text, action.tool);
    append(text, action.arguments ? std::optional(action.arguments->text()) : std::nullopt);
    append(text, action.command);
    append(text, action.cwd);
    append(text, action.environment_names);
    append(text, action.environment ? std::optional(pairs_of(*action.environment)) : std::nullopt);
    append(text, action.sandbox ? std::optional<std::string>(*action.sandbox ? "in" : "out") : std::nullopt);
    append(text, action.folders);
    if (action.sandbox_settings) { // only then, so that what was granted before they were known stays
        append(text, action.sandbox_config);
        append(text, std::optional(action.sandbox_settings->text()));
    }
    append(text, action.host);
    append(text, action.port ? std::optional(fmt::format("{}", *action.port)) : std::nullopt);
    return sha256(text);
}

void require_complete(const Action& action) {
    const bool calls = action.kind == ActionKind::tool || action.kind == ActionKind::host;
    const bool complete = calls ? action.server && action.tool && action.arguments
                          : action.kind == ActionKind::server
                              ? action.server && action.command && !action.command->empty() && action.cwd &&
                                    action.environment_names && action.server_identity
                          : action.kind == ActionKind::network ? action.host.has_value()
                                                               : action.command && !action.command->empty();
    const bool identified = action.kind != ActionKind::tool || (action.server_identity && action.tool_identity);
    if (!complete || !identified) {
        throw Error(ErrorCode::internal_error, "expected an action with all fields of its kind, found one without");
    }
    if (action.arguments && !action.arguments->is_object()) {
        throw Error(ErrorCode::invalid_params, fmt::format("expected the arguments of a call to be an object, found {}",
                                                           action.arguments->type()));
    }
    if (action.arguments && action.arguments->text().size() > max_argument_bytes) {
        throw Error(ErrorCode::limit_exceeded,
                    fmt::format("expected arguments of at most {} bytes, found {}", max_argument_bytes,
                                action.arguments->text().size()),
                    "pass large data in a file of the workspace");
    }
}

} // namespace cellgate::gate
