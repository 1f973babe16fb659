// Bytes of an MCP server over HTTP as server-sent events: whatever pieces they come in, the same events come out.

#include "mcp/event_stream.hpp"

#include "base/error.hpp"
#include "fuzzing.hpp"

#include <algorithm>
#include <string>

using namespace cellgate;
using namespace cellgate::mcp;
using cellgate::fuzz::require;

namespace {

constexpr std::size_t max_bytes = 256; // within reach of the fuzzer

// All that comes out, with how it ended.
std::string read(std::string_view bytes, std::size_t piece) {
    EventStream stream(max_bytes);
    std::string found;
    try {
        for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
            for (const ServerSentEvent& event : stream.add(bytes.substr(0, piece))) {
                require(event.data.size() <= max_bytes, "an event has a bound");
                found += event.type + '\0' + event.data + '\0';
            }
        }
    } catch (const Error&) {
        return "too long"; // with the events before it in the same piece, or without
    }
    return found + stream.last_id();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    require(read(bytes, std::max<std::size_t>(size, 1)) == read(bytes, 1 + (size > 0 ? data[size - 1] % 7 : 0)),
            "the same events, whatever pieces they come in");
    return 0;
}
