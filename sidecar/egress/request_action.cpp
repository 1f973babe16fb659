#include "request_action.hpp"

#include "base/encoding.hpp"
#include "base/hash.hpp"
#include "base/http_token.hpp"
#include "base/json_codec.hpp"
#include "base/json_scan.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cellgate::egress {

namespace {

// Of UTF-8, and without what no text has.
bool is_text(std::string_view bytes) {
    const bool plain = std::none_of(bytes.begin(), bytes.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < ' ' && c != '\t' && c != '\n' && c != '\r') || byte == 0x7f;
    });
    return plain && is_utf8(bytes);
}

// How a server reads the length is no part of what is judged.
bool is_about_length(std::string_view name) {
    return name == "content-length" || name == "transfer-encoding" || name == "host" || name == "expect";
}

std::vector<std::string> shown_headers(const RequestHead& head) {
    std::vector<std::string> shown;
    for (const auto& [name, value] : head.fields) {
        if (!is_about_length(name)) {
            shown.push_back(fmt::format("{}: {}", name, value));
        }
    }
    return shown;
}

[[noreturn]] void refuse_form(const std::string& what) {
    throw Error(ErrorCode::invalid_params, what,
                R"(such as {"method": "GET", "path": "/repos", "headers": {"accept": "text/html"}, "body": ""})");
}

std::string text_member(const RawJson& form, std::string_view name) {
    std::optional<std::string> text = json_member_text(form.text(), name);
    if (!text) {
        refuse_form(fmt::format("expected a text as {}, found none", name));
    }
    return std::move(*text);
}

void read_header(RequestHead& head, std::string_view name, std::string_view value) {
    const std::string text = json_type(value) == "string" ? decode_json_string(value) : std::string("\n");
    const bool one_line = std::none_of(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == '\x7f';
    });
    if (!is_http_token(name) || !one_line) {
        refuse_form("expected headers with a text of one line each, found another");
    }
    std::string lowered = lower(name);
    if (!is_about_length(lowered)) {
        head.fields.emplace_back(std::move(lowered), text);
    }
}

} // namespace

gate::HttpRequest request_action(const Endpoint& endpoint, bool tls, const RequestToJudge& request) {
    gate::HttpRequest action;
    action.tls = tls;
    action.host = endpoint.host.name;
    action.port = endpoint.port;
    action.method = request.opens_web_socket ? "WEBSOCKET" : request.head.method;
    const std::string& target = request.head.target;
    const std::size_t query = target.find('?');
    action.path = target.substr(0, query);
    if (query != std::string::npos) {
        action.query = target.substr(query + 1);
    }
    action.request_headers = shown_headers(request.head);
    if (request.length && (*request.length > 0 || !request.complete)) {
        action.body_bytes = static_cast<std::int64_t>(*request.length);
    }
    if (request.complete && !request.body.empty()) {
        if (is_text(request.body)) {
            action.body = request.body;
        } else {
            action.body_sha256 = sha256(request.body);
        }
    }
    return action;
}

std::optional<RawJson> edit_form(const RequestToJudge& request) {
    if (!request.complete || request.opens_web_socket || !is_text(request.body) || !is_text(request.head.target)) {
        return std::nullopt;
    }
    std::string form = "{\"method\":";
    append_json_string(form, request.head.method);
    form += ",\"path\":";
    append_json_string(form, request.head.target);
    form += ",\"headers\":{";
    bool first = true;
    for (const auto& [name, value] : request.head.fields) {
        if (!is_about_length(name)) {
            if (!is_text(value)) {
                return std::nullopt;
            }
            form += first ? "" : ",";
            first = false;
            append_json_string(form, name);
            form += ":";
            append_json_string(form, value);
        }
    }
    form += "},\"body\":";
    append_json_string(form, request.body);
    return RawJson::checked(form + "}");
}

void take_edited(RequestToJudge& request, const gate::HttpRequest& edited) {
    request.head.method = edited.method;
    request.head.target = edited.path + (edited.query ? "?" + *edited.query : std::string());
    request.head.fields.clear();
    for (const std::string& header : edited.request_headers.value_or(std::vector<std::string>())) {
        const std::size_t colon = header.find(": ");
        request.head.fields.emplace_back(header.substr(0, colon), header.substr(colon + 2));
    }
    request.body = edited.body.value_or("");
    request.length = request.body.size();
}

RequestToJudge edited_request(const RawJson& form) {
    RequestToJudge request;
    request.head.method = text_member(form, "method");
    request.head.target = text_member(form, "path");
    request.body = text_member(form, "body");
    const std::string& target = request.head.target;
    const bool visible =
        std::all_of(target.begin(), target.end(), [](char c) { return c > ' ' && c <= '~' && c != '#'; });
    if (!is_http_token(request.head.method) || !target.starts_with('/') || !visible) {
        refuse_form("expected a method, and a path that begins with / and has no blanks, found others");
    }
    const std::string_view headers = json_member(form.text(), "headers");
    if (headers.empty() || json_type(headers) != "object") {
        refuse_form("expected an object as headers, found none");
    }
    for (const auto& [name, value] : json_members(headers)) {
        read_header(request.head, name, value);
    }
    request.length = request.body.size();
    return request;
}

} // namespace cellgate::egress
