// A kernel's message as a Jupyter server carries it. The first byte says in which of the two ways, and whether it is
// binary.

#include "base/error.hpp"
#include "base/json_scan.hpp"
#include "fuzzing.hpp"
#include "server_wire.hpp"

#include <string>

using namespace cellgate;
using namespace cellgate::jupyter;
using cellgate::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const bool v1 = (data[0] & 1) != 0;
    async::WebSocketMessage bytes{(data[0] & 2) != 0, std::string(reinterpret_cast<const char*>(data) + 1, size - 1)};
    std::optional<ServerMessage> read;
    try {
        read = decode_server_message(v1, std::move(bytes));
    } catch (const Error& error) {
        require(error.code == ErrorCode::parse_error || error.code == ErrorCode::invalid_params,
                "what is no message is a parse error");
    }
    if (!read) {
        return 0;
    }
    const WireMessage& message = read->message;
    require(!check_json(message.content) && json_type(message.content) == "object", "content is one JSON object");
    const async::WebSocketMessage sent =
        encode_server_message(v1, read->channel, message.header, "{}", message.content, "s");
    const std::optional<ServerMessage> again = decode_server_message(v1, sent);
    require(again && again->channel == read->channel && again->message.content == message.content &&
                again->message.header.msg_id == message.header.msg_id,
            "a message that was written and read again is the same");
    return 0;
}
