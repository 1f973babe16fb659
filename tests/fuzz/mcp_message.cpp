// What a tool server answers, as the client reads it. Input: the text of one message; its result is read as everything
// that a result may be.

#include "base/json_codec.hpp"
#include "fuzzing.hpp"
#include "list_pages.hpp"
#include "protocol/message.hpp"
#include "wire.hpp"

#include <functional>
#include <string>
#include <vector>

using namespace cellgate;
using cellgate::fuzz::require;

namespace {

void or_error(const std::function<void()>& read) {
    try {
        read();
    } catch (const Error& error) {
        require(!error.message.empty(), "an error says what is wrong");
    }
}

void check_result(const RawJson& result) {
    or_error([&] { static_cast<void>(from_json<mcp::InitializeResult>(result, "result")); });
    or_error([&] { static_cast<void>(from_json<mcp::DiscoverResult>(result, "result")); });
    or_error([&] { static_cast<void>(from_json<mcp::ResultType>(result, "result")); });
    or_error([&] { static_cast<void>(from_json<mcp::UnsupportedVersionData>(result, "data")); });
    static_cast<void>(mcp::read_implementation(result));
    or_error([&] {
        const protocol::CallToolResult call = mcp::read_call_result(result);
        const std::string text = to_json(call);
        require(!check_json(text), "a result goes to the kernel as one JSON value");
        require(to_json(mcp::read_call_result(RawJson::parse(text))) == text, "and keeps its bytes");
    });
    for (const auto read : {mcp::read_resource_contents, mcp::read_prompt_messages}) {
        or_error(
            [&] { require(!check_json(to_json(read(result))), "what is read goes to the kernel as one JSON value"); });
    }
    static_cast<void>(mcp::features_of(result));
    or_error([&] {
        mcp::ListPages pages("tools/list", "tools");
        pages.add(result);
        const std::vector<RawJson> tools = pages.take();
        for (std::size_t i = 0; i < tools.size(); ++i) {
            require(!mcp::name_of(tools[i], i).empty(), "a tool has a name to speak of it");
            or_error([&] {
                const protocol::ToolSpec tool = mcp::read_tool(tools[i]);
                require(!tool.name.empty() && tool.input_schema.is_object(), "a tool can be used");
            });
        }
    });
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    or_error([&] {
        const protocol::Message message = protocol::parse_message(text);
        check_result(message.payload);
        if (message.kind == protocol::Message::Kind::error) {
            static_cast<void>(protocol::parse_error(message.payload));
        }
    });
    if (const std::optional<RawJson> id = mcp::id_of_broken_answer(text)) {
        require(id->type() == "number", "the id of a broken answer is a number");
    }
    return 0;
}
