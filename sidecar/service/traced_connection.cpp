#include "traced_connection.hpp"

#include "base/encoding.hpp"
#include "base/json_codec.hpp"
#include "base/json_scan.hpp"
#include "base/json_value.hpp"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace cellgate::service {

namespace {

constexpr std::string_view hidden = "\"(not in the trace)\"";

using MemberEdit = std::function<std::string(const std::string& name, std::string_view value)>;

// The object with the values that `edit` gives for its members.
std::string with_members(std::string_view object, const MemberEdit& edit) {
    std::string text = "{";
    for (const auto& [name, value] : json_members(object)) {
        text += text.size() > 1 ? "," : "";
        append_json_string(text, name);
        text += ":" + edit(name, value);
    }
    return text + "}";
}

// `message` is valid JSON.
std::string without_secrets(const std::string& message, const IsSecret& is_secret) {
    const JsonValue read = parse_json_value(message);
    const JsonValue* method = read.find("method");
    const JsonValue* params = read.find("params");
    const JsonValue* id = params == nullptr ? nullptr : params->find("elicitationId");
    if (method == nullptr || params == nullptr) {
        return message;
    }
    if (method->string == "secret/set") {
        const auto hide_value = [](const std::string& name, std::string_view value) {
            const bool has_text = json_type(value) == "string" && value != R"("")";
            return std::string(name == "value" && has_text ? hidden : value);
        };
        return with_members(message, [&](const std::string& name, std::string_view value) {
            return name == "params" && json_type(value) == "object" ? with_members(value, hide_value)
                                                                    : std::string(value);
        });
    }
    if (method->string != "elicitation/respond" || id == nullptr) {
        return message;
    }
    const auto hide = [&](const std::string& name, std::string_view value) {
        return std::string(is_secret(id->string, name) ? hidden : value);
    };
    const auto hide_in = [&](const std::string& name, std::string_view value) {
        return name == "values" && json_type(value) == "object" ? with_members(value, hide) : std::string(value);
    };
    return with_members(message, [&](const std::string& name, std::string_view value) {
        return name == "params" ? with_members(value, hide_in) : std::string(value);
    });
}

} // namespace

Trace::Trace(Clock& clock, const std::string& path, IsSecret is_secret)
    : clock_(clock), is_secret_(std::move(is_secret)), file_(nullptr, std::fclose) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0) {
        throw system_error(ErrorCode::store_failed, fmt::format("cannot open the trace file {}", path), errno);
    }
    file_.reset(::fdopen(fd, "a"));
}

void Trace::write(std::uint64_t client, std::string_view direction, const std::string& message) {
    std::string line = fmt::format(R"({{"time":"{}","client":"{}","direction":"{}","message":)",
                                   to_rfc3339(clock_.wall()), client, direction);
    // Invalid JSON is kept as text: a trace is for debugging.
    if (check_json(message)) {
        append_json_string(line, message);
    } else if (message.find("elicitation") == std::string::npos && message.find("secret") == std::string::npos) {
        line += RawJson::checked(message).text();
    } else {
        line += RawJson::checked(without_secrets(message, is_secret_)).text();
    }
    line += "}\n";
    std::fwrite(line.data(), 1, line.size(), file_.get());
    std::fflush(file_.get());
}

Task<std::optional<protocol::Frame>> TracedConnection::receive() {
    std::optional<protocol::Frame> frame = co_await connection_->receive();
    if (frame && frame->problem.empty()) {
        trace_->write(client_, "in", frame->text);
    }
    co_return frame;
}

void TracedConnection::send(std::string message) {
    connection_->send(message); // may throw: an unsent message is not in the trace
    trace_->write(client_, "out", message);
}

} // namespace cellgate::service
