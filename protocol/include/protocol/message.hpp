#pragma once
// `Message` is one JSON-RPC 2.0 message: its kind, and its parts as the text that they had.

#include "base/raw_json.hpp"

#include <optional>
#include <string>

namespace cellgate::protocol {

struct Message {
    enum class Kind { request, notification, result, error };
    Kind kind = Kind::notification;
    RawJson id;              // a string or an integer; of a request or a response
    std::string method;      // of a request or a notification
    RawJson payload;         // params ({} when absent), result or error
    std::string beside = {}; // see Frame
};

// Throws InvalidMessage: -32700 for what is no JSON, -32600 for what is no message (a batch, say).
Message parse_message(const std::string& text);

struct InvalidMessage : Error {
    InvalidMessage(ErrorCode code, std::string message, RawJson id_)
        : Error(code, std::move(message)), id(std::move(id_)) {}
    RawJson id; // of the request it tried to be, or null
};

std::string request_text(const RawJson& id, std::string_view method, const RawJson& params);
std::string notification_text(std::string_view method, const RawJson& params);
// The text before and after its params.
std::string notification_start(std::string_view method);
inline constexpr std::string_view notification_end = "}";
std::string result_text(const RawJson& id, const RawJson& result);
// `data` carries {kind, hint} for editors (see schemas/errors.json), unless it is an ErrorWithData.
std::string error_text(const RawJson& id, const Error& error);
// As MCP answers what has no id that could be read; elsewhere the id is null then.
std::string error_text_without_id(const Error& error);

// An error of a protocol that says itself what `data` holds.
struct ErrorWithData : Error {
    ErrorWithData(ErrorCode code, std::string message, RawJson data_)
        : Error(code, std::move(message)), data(std::move(data_)) {}
    RawJson data;
};

// What the other side answered instead of a result.
struct RemoteError : Error {
    RemoteError(ErrorCode code, std::string message, std::string hint, RawJson data_)
        : Error(code, std::move(message), std::move(hint)), data(std::move(data_)) {}
    RawJson data;
};
RemoteError parse_error(const RawJson& error);

} // namespace cellgate::protocol
