#pragma once
// `RequestToJudge` is a request as the gate judges it and as the server gets it: its head, and its body where that is
// known before it is sent.

#include "base/host.hpp"
#include "base/raw_json.hpp"
#include "gate/action.hpp"
#include "http_head.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace cellgate::egress {

// A longer body is sent as it comes, and is not shown.
inline constexpr std::size_t max_known_body_bytes = std::size_t{8} << 20;

struct RequestToJudge {
    RequestHead head; // its target begins with / or is *; without what concerns the connection
    std::string body; // whole, or empty
    bool complete = true;
    std::optional<std::uint64_t> length; // of the body, where it is known
    bool opens_web_socket = false;
};

// Without what the asker knows (who asks), and without secrets.
gate::HttpRequest request_action(const Endpoint& endpoint, bool tls, const RequestToJudge& request);

// {"method", "path", "headers", "body"}, as a user edits it; nothing where the body is no text or not known.
std::optional<RawJson> edit_form(const RequestToJudge& request);

// The request that the edited form describes. Throws Error{invalid_params} when it is none.
RequestToJudge edited_request(const RawJson& form);

// Makes `request` what was allowed in its place.
void take_edited(RequestToJudge& request, const gate::HttpRequest& edited);

} // namespace cellgate::egress
