// Bytes of a WebSocket's server: whatever pieces they come in, the same arrives, and no message over the limit.

#include "base/error.hpp"
#include "fuzzing.hpp"
#include "websocket_frames.hpp"

#include <string>
#include <vector>

using namespace cellgate;
using namespace cellgate::async;
using cellgate::fuzz::require;

namespace {

constexpr std::size_t max_bytes = 20'000;

struct Read {
    std::vector<WebSocketArrival> arrivals;
    std::string problem;
};

Read read(std::string_view bytes, std::size_t piece) {
    WebSocketDecoder decoder(max_bytes);
    Read result;
    try {
        while (!bytes.empty()) {
            std::string_view part = bytes.substr(0, piece);
            bytes.remove_prefix(part.size());
            while (std::optional<WebSocketArrival> arrival = decoder.next(part)) {
                result.arrivals.push_back(std::move(*arrival));
            }
            require(part.empty(), "all is consumed before more is asked for");
        }
    } catch (const Error& error) {
        require(error.code == ErrorCode::parse_error, "what breaks the protocol is a parse error");
        result.problem = error.message;
    }
    return result;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const Read whole = read(bytes, size);
    const Read pieces = read(bytes, size == 0 ? 1 : 1 + data[size - 1] % 9);
    require(whole.problem == pieces.problem && whole.arrivals.size() == pieces.arrivals.size(),
            "the same arrives, whatever pieces it comes in");
    for (std::size_t i = 0; i < whole.arrivals.size(); ++i) {
        const WebSocketArrival& arrival = whole.arrivals[i];
        require(arrival.opcode == pieces.arrivals[i].opcode && arrival.payload == pieces.arrivals[i].payload,
                "the same arrives, whatever pieces it comes in");
        require(arrival.payload.size() <= max_bytes, "no message over the limit");
        require(arrival.opcode != WebSocketOpcode::continuation, "fragments are joined");
    }
    return 0;
}
