#pragma once
// `DeciderMessage` is a message between srt's proxy and its decider (protocol 1): a JSON object behind its length in
// four bytes. The proxy sends hello, req and body; the functions make what the decider answers.

#include "base/byte_stream.hpp"
#include "base/task.hpp"
#include "protocol/messages/policy.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::cli {

inline constexpr std::int64_t max_decided_body = std::int64_t{8} << 20; // as much as an approval shows

struct DeciderMessage {
    std::string type;
    std::optional<std::int64_t> version;
    std::optional<std::int64_t> id;
    std::optional<std::string> method;
    std::optional<std::string> host;
    std::optional<std::int64_t> port;
    std::optional<std::string> server_name; // of TLS
    std::optional<std::string> path;
    std::optional<std::string> query;
    std::optional<std::map<std::string, std::vector<std::string>>> headers; // names in lower case
    std::optional<std::string> data;                                        // of a body, in base64
    std::optional<bool> cut;                                                // it is longer
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("t", self.type);
        visit("proto", self.version);
        visit("id", self.id);
        visit("method", self.method);
        visit("host", self.host);
        visit("port", self.port);
        visit("sni", self.server_name);
        visit("path", self.path);
        visit("query", self.query);
        visit("headers", self.headers);
        visit("data", self.data);
        visit("cut", self.cut);
    }
};

// The next message; nothing at the end. `rest`: bytes that were read behind the last one. Throws Error{parse_error},
// Error{invalid_params}, Error{limit_exceeded}.
Task<std::optional<DeciderMessage>> read_decider_message(ByteStream* stream, std::string* rest);

// The request as an action, without its body. Throws Error{invalid_params} when the message lacks a field.
protocol::Action requested_action(const DeciderMessage& message);
bool announces_body(const DeciderMessage& message);
// Throws Error{invalid_params}.
void add_body(protocol::Action& action, const DeciderMessage& message);

// Frames. `hosts` are HostPatterns (base/host.hpp), each once.
std::string decider_hello(const std::vector<std::string>& hosts);
std::string allow_verdict(std::int64_t id);
std::string deny_verdict(std::int64_t id, int status, std::string_view reason);
std::string need_body_verdict(std::int64_t id);

} // namespace cellgate::cli
