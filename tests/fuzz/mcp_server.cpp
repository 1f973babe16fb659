// What an MCP client says, as the server takes it. Input: the lines of a client. Whatever they are, every line of the
// server is a message, no request gets two answers, and nothing is left when the client has gone.

#include "base/fake_clock.hpp"
#include "base/memory_stream.hpp"
#include "fuzzing.hpp"
#include "mcp/content.hpp"
#include "mcp/server.hpp"
#include "protocol/framing.hpp"
#include "protocol/message.hpp"

#include <map>
#include <string>
#include <vector>

using namespace cellgate;
using cellgate::fuzz::require;

namespace {

struct TextArguments {
    static constexpr bool closed = true;
    std::string text;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("text", self.text);
    }
};

Task<protocol::CallToolResult> echo(TextArguments arguments, std::shared_ptr<mcp::ToolCall> call) {
    call->report("half way");
    co_return mcp::text_result(call->client().name + arguments.text);
}

Task<protocol::CallToolResult> ask(Empty, std::shared_ptr<mcp::ToolCall> call) {
    if (!call->can_ask()) {
        co_return mcp::error_result("no client can be asked");
    }
    mcp::ConsentRequest question;
    question.text = "may I?";
    question.until_end = true;
    const mcp::Consent consent = co_await call->ask(std::move(question));
    co_return mcp::text_result(mcp::is_yes(consent) ? "yes" : "no");
}

std::vector<mcp::Tool> tools() {
    std::vector<mcp::Tool> all;
    for (const char* name : {"echo", "ask"}) {
        protocol::ToolSpec spec;
        spec.name = name;
        spec.input_schema = RawJson::checked(R"({"type":"object"})");
        all.push_back(spec.name == "echo" ? mcp::typed_tool<TextArguments>(std::move(spec), echo)
                                          : mcp::typed_tool<Empty>(std::move(spec), ask));
    }
    return all;
}

// How often each id was used by what wants to be a request of the client: an answer more than that is one too many.
std::map<std::string, int> requests_in(const std::string& lines) {
    std::map<std::string, int> requests;
    protocol::Decoder decoder(protocol::Framing::lines);
    decoder.feed(lines);
    while (const std::optional<protocol::Frame> frame = decoder.next()) {
        try {
            const protocol::Message message = protocol::parse_message(frame->text);
            if (message.kind == protocol::Message::Kind::request) {
                ++requests[message.id.text()];
            }
        } catch (const protocol::InvalidMessage& invalid) {
            ++requests[invalid.id.text()]; // refused under its id, where it has one
        }
    }
    return requests;
}

struct Client {
    std::unique_ptr<ByteStream> end;
    std::map<std::string, int> open;

    Task<void> read() {
        protocol::Decoder decoder(protocol::Framing::lines);
        for (std::string bytes = co_await end->read(); !bytes.empty(); bytes = co_await end->read()) {
            decoder.feed(bytes);
            while (const std::optional<protocol::Frame> frame = decoder.next()) {
                take(frame->text);
            }
        }
    }

    void take(const std::string& line) {
        require(!check_json(line), "a line of the server is one JSON value");
        const Json message = Json::parse(line);
        require(message.is_object() && message.value("jsonrpc", "") == "2.0", "and a message");
        if (!message.contains("method") && message.contains("id") && !message["id"].is_null()) {
            const RawJson answer = RawJson::parse(line);
            std::string id;
            for (const auto& [name, value] : json_members(answer.text())) {
                if (name == "id") {
                    id = value;
                }
            }
            require(open.contains(id) && --open[id] >= 0, "a request gets one answer at most");
        }
    }
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string lines(reinterpret_cast<const char*>(data), size);
    lines += '\n';
    FakeClock clock;
    auto [ours, theirs] = memory_stream_pair();
    Client client{std::move(ours), requests_in(lines)};
    mcp::Server server(
        std::make_shared<protocol::FramedConnection>(std::move(theirs), protocol::Framing::lines, std::size_t{1} << 20),
        mcp::ServerDescription{{"the server", "1"}, "use it"}, tools(), clock);
    TaskScope tasks;
    tasks.spawn(server.run());
    tasks.spawn(client.read());
    client.end->write(std::move(lines));
    clock.advance(std::chrono::hours(1));
    client.end->close();
    require(tasks.running() == 0, "nothing runs when the client has gone");
    return 0;
}
