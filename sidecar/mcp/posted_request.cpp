#include "posted_request.hpp"

#include "base/encoding.hpp"
#include "base/escape_unprintable.hpp"
#include "server_wire.hpp"
#include "wire.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace cellgate::mcp {

namespace {

constexpr std::string_view version_key = "io.modelcontextprotocol/protocolVersion";

Error header_error(std::string_view name, std::string_view expected) {
    return Error(static_cast<ErrorCode>(header_mismatch),
                 fmt::format("{}: expected {}, as in the message", name, escape_unprintable(expected.substr(0, 200))));
}

// As MCP writes a value into a field: what is not plain is in base64.
std::optional<std::string> decoded_field(const std::string& value) {
    constexpr std::string_view begin = "=?base64?";
    constexpr std::string_view end = "?=";
    if (!value.starts_with(begin) || !value.ends_with(end) || value.size() < begin.size() + end.size()) {
        return value;
    }
    return decode_base64(value.substr(begin.size(), value.size() - begin.size() - end.size()));
}

void require_field(const async::ServedRequest& head, const char* name, std::string_view shown_name,
                   const std::string& expected) {
    const std::optional<std::string> value = head.only(name);
    if (!value || decoded_field(*value) != expected) {
        throw header_error(shown_name, expected);
    }
}

void require_modern_fields(const async::ServedRequest& head, const protocol::Message& message) {
    require_field(head, "mcp-method", "Mcp-Method", message.method);
    const bool is_of_task = message.method.starts_with("tasks/");
    if (is_of_task || message.method == "tools/call") {
        const auto name = json_member_text(message.payload.text(), is_of_task ? "taskId" : "name");
        if (name) {
            require_field(head, "mcp-name", "Mcp-Name", *name);
        }
    }
    constexpr std::array<std::string_view, 2> gone = {"initialize", "ping"};
    if (std::find(gone.begin(), gone.end(), message.method) != gone.end()) {
        throw Error(ErrorCode::method_not_found,
                    fmt::format("there is no method \"{}\" in MCP {}", message.method, modern_version));
    }
}

} // namespace

Era era_of_posted(const async::ServedRequest& head, const protocol::Message& message) {
    const bool is_request = message.kind == protocol::Message::Kind::request;
    const std::optional<std::string> meant =
        is_request ? json_member_text(json_member(message.payload.text(), "_meta"), version_key) : std::nullopt;
    const std::optional<std::string> named = head.only("mcp-protocol-version");
    if (!meant && (!named || is_legacy_version(*named))) {
        return Era::legacy;
    }
    if (meant && named != meant) {
        throw header_error("MCP-Protocol-Version", *meant);
    }
    if (*named != modern_version) {
        throw unsupported_version(*named);
    }
    if (!is_request) {
        return Era::modern;
    }
    if (!meant) {
        throw Error(ErrorCode::invalid_params, fmt::format("params._meta: expected {}", version_key));
    }
    require_modern_fields(head, message);
    return Era::modern;
}

int http_status_of(Era era, int error_code) {
    constexpr int ok = 200;
    constexpr int bad_request = 400;
    constexpr int not_found = 404;
    constexpr std::array<std::pair<int, int>, 7> statuses = {{{-32700, bad_request},
                                                              {-32600, bad_request},
                                                              {-32601, not_found},
                                                              {-32602, bad_request},
                                                              {header_mismatch, bad_request},
                                                              {missing_client_capability, bad_request},
                                                              {unsupported_protocol_version, bad_request}}};
    const auto found =
        std::find_if(statuses.begin(), statuses.end(), [error_code](auto each) { return each.first == error_code; });
    return era == Era::modern && found != statuses.end() ? found->second : ok;
}

} // namespace cellgate::mcp
