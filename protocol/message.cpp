#include "protocol/message.hpp"

#include "base/json_codec.hpp"

#include <fmt/format.h>

namespace cellgate::protocol {

namespace {

struct ErrorData {
    std::string kind;
    std::string hint;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("kind", self.kind);
        visit("hint", self.hint);
    }
};

struct ErrorObject {
    std::int64_t code = 0;
    std::string message;
    std::optional<RawJson> data;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("code", self.code);
        visit("message", self.message);
        visit("data", self.data);
    }
};

struct HintOnly {
    std::optional<std::string> hint;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("hint", self.hint);
    }
};

// It comes back in the answer.
constexpr std::size_t max_id_bytes = 1024;

bool is_id(std::string_view text) {
    return text.size() <= max_id_bytes &&
           (json_type(text) == "string" ||
            (json_type(text) == "number" && text.find_first_of(".eE") == std::string_view::npos));
}

// An error can always be sent, whatever a tool server or a kernel wrote into it.
std::string bounded(const std::string& text) {
    constexpr std::size_t longest = std::size_t{64} << 10;
    return text.size() <= longest
               ? text
               : fmt::format("{}… (cut: {} bytes in all)", std::string_view(text).substr(0, longest), text.size());
}

// The first member of every message; `bytes` is the size of what is to come but for the names, which is copied once.
std::string begin_text(std::size_t bytes) {
    constexpr std::size_t names = 128;
    std::string out;
    out.reserve(bytes + names);
    out += R"({"jsonrpc":"2.0")";
    return out;
}

std::string end_text(std::string out, std::string_view name, const RawJson& payload) {
    out += name;
    out += payload.text();
    out += '}';
    return out;
}

} // namespace

Message parse_message(const std::string& text) {
    RawJson raw;
    try {
        raw = RawJson::parse(text);
    } catch (const Error& error) {
        throw InvalidMessage(ErrorCode::parse_error, error.message, RawJson());
    }
    const auto invalid = [](std::string message, RawJson id = {}) {
        return InvalidMessage(ErrorCode::invalid_request, std::move(message), std::move(id));
    };
    if (!raw.is_object()) {
        throw invalid(raw.type() == "array" ? "expected one message, found a batch; send its messages one by one"
                                            : "expected a JSON-RPC 2.0 message, found no object");
    }
    std::optional<RawJson> id, params, result, error;
    std::optional<std::string> method;
    bool is_version_2 = false;
    for (const auto& [key, value] : json_members(raw.text())) {
        if (key == "jsonrpc") {
            is_version_2 = value == "\"2.0\"";
        } else if (key == "id") {
            id = RawJson::checked(std::string(value));
        } else if (key == "method" && json_type(value) == "string") {
            method = decode_json_string(value);
        } else if (key == "params") {
            params = RawJson::checked(std::string(value));
        } else if (key == "result") {
            result = RawJson::checked(std::string(value));
        } else if (key == "error") {
            error = RawJson::checked(std::string(value));
        }
    }
    const bool has_id = id && is_id(id->text());
    const RawJson answer_to = has_id && method ? *id : RawJson();
    if (!is_version_2) {
        throw invalid("expected \"jsonrpc\": \"2.0\"", answer_to);
    }
    if (id && !has_id && !(error && id->is_null())) {
        throw invalid(fmt::format("expected an id that is a string or an integer of at most {} bytes", max_id_bytes));
    }
    if (method) {
        if (params && !params->is_object()) {
            throw invalid("expected params that are an object, found " + std::string(params->type()), answer_to);
        }
        Message message{has_id ? Message::Kind::request : Message::Kind::notification, id.value_or(RawJson()), *method,
                        params.value_or(RawJson::checked("{}"))};
        return message;
    }
    if (!id || (result.has_value() == error.has_value())) {
        throw invalid("expected a method, or an id with either a result or an error");
    }
    if (error && !error->is_object()) {
        throw invalid("expected an error that is an object");
    }
    return Message{result ? Message::Kind::result : Message::Kind::error, *id, {}, result ? *result : *error};
}

std::string request_text(const RawJson& id, std::string_view method, const RawJson& params) {
    std::string out = begin_text(id.text().size() + method.size() + params.text().size());
    out += R"(,"id":)";
    out += id.text();
    out += R"(,"method":)";
    append_json_string(out, method);
    return end_text(std::move(out), R"(,"params":)", params);
}

std::string notification_start(std::string_view method) {
    std::string out = R"({"jsonrpc":"2.0","method":)";
    append_json_string(out, method);
    out += R"(,"params":)";
    return out;
}

std::string notification_text(std::string_view method, const RawJson& params) {
    std::string out = notification_start(method);
    append_json(out, params);
    out += notification_end;
    return out;
}

std::string result_text(const RawJson& id, const RawJson& result) {
    std::string out = begin_text(id.text().size() + result.text().size());
    out += R"(,"id":)";
    out += id.text();
    return end_text(std::move(out), R"(,"result":)", result);
}

namespace {

std::string error_object(const Error& error) {
    const ErrorData ours{std::string(kind_of(error.code)), bounded(error.hint)};
    const auto* own = dynamic_cast<const ErrorWithData*>(&error);
    const ErrorObject object{static_cast<std::int64_t>(error.code), bounded(error.message),
                             own != nullptr ? own->data : to_raw_json(ours)};
    return to_json(object);
}

} // namespace

std::string error_text(const RawJson& id, const Error& error) {
    return R"({"jsonrpc":"2.0","id":)" + id.text() + R"(,"error":)" + error_object(error) + "}";
}

std::string error_text_without_id(const Error& error) {
    return R"({"jsonrpc":"2.0","error":)" + error_object(error) + "}";
}

RemoteError parse_error(const RawJson& error) {
    try {
        const auto object = from_json<ErrorObject>(error, "error");
        const RawJson data = object.data.value_or(RawJson());
        const auto hint = data.is_object() ? from_json<HintOnly>(data, "error.data").hint : std::nullopt;
        return RemoteError(static_cast<ErrorCode>(object.code), object.message, hint.value_or(""), data);
    } catch (const Error& problem) {
        return RemoteError(ErrorCode::internal_error, "expected an error object: " + problem.message, "", error);
    }
}

} // namespace cellgate::protocol
