#pragma once
// `ScriptedServer` is an MCP server that a test plays; `Talk` is our client's conversation with it.

#include "base/fake_clock.hpp"
#include "base/memory_stream.hpp"
#include "mcp/client.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::mcp::test {

using namespace std::chrono_literals;
using protocol::FramedConnection;
using protocol::Framing;

// A server that answers with the lines that `answer` gives for each message of ours; it is a bare connection, so that
// it can say anything.
struct ScriptedServer {
    using Answer = std::function<std::vector<std::string>(const Json& message, const std::string& text)>;

    ScriptedServer(std::unique_ptr<ByteStream> stream, Answer answer)
        : stream_(std::move(stream)), answer_(std::move(answer)) {}

    Task<void> run() {
        protocol::Decoder decoder(Framing::lines);
        while (true) {
            const std::string bytes = co_await stream_->read();
            if (bytes.empty()) {
                co_return;
            }
            decoder.feed(bytes);
            while (const std::optional<protocol::Frame> frame = decoder.next()) {
                received.push_back(frame->text);
                const Json message = Json::parse(frame->text);
                if (!message.contains("id") || !message.contains("method")) {
                    continue;
                }
                for (const std::string& line : answer_(message, frame->text)) {
                    say(line);
                }
            }
        }
    }
    void say(const std::string& line) { stream_->write(line + "\n"); }
    void end() { stream_->close(); }
    std::size_t count(const std::string& part) const {
        return static_cast<std::size_t>(std::count_if(received.begin(), received.end(), [&](const std::string& text) {
            return text.find(part) != std::string::npos;
        }));
    }

    std::unique_ptr<ByteStream> stream_;
    Answer answer_;
    std::vector<std::string> received;
};

inline std::string result(const Json& message, const std::string& value) {
    return R"({"jsonrpc":"2.0","id":)" + message["id"].dump() + R"(,"result":)" + value + "}";
}
inline std::string error(const Json& message, int code, const std::string& data = "null") {
    return R"({"jsonrpc":"2.0","id":)" + message["id"].dump() + R"(,"error":{"code":)" + std::to_string(code) +
           R"(,"message":"no","data":)" + data + "}}";
}
inline std::string method(const Json& message) {
    return message.value("method", "");
}

using Lines = std::vector<std::string>;

// What every legacy server does; `rest` for the other requests.
inline ScriptedServer::Answer legacy(std::function<Lines(const Json&)> rest, std::string version = "2025-06-18") {
    return [rest, version](const Json& message, const std::string&) -> Lines {
        if (method(message) == "server/discover") {
            return {error(message, -32601)};
        }
        if (method(message) == "initialize") {
            return {result(message, R"({"protocolVersion":")" + version +
                                        R"(","capabilities":{},"serverInfo":{"name":"old","version":"1"}})")};
        }
        return rest(message);
    };
}
inline ScriptedServer::Answer modern(std::function<Lines(const Json&)> rest) {
    return [rest](const Json& message, const std::string&) -> Lines {
        if (method(message) == "server/discover") {
            return {result(message, R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":
{"tools":{"listChanged":true}},"serverInfo":{"name":"new","version":"2"}})")};
        }
        return rest(message);
    };
}
inline std::string without_breaks(std::string text) {
    std::erase(text, '\n');
    return text;
}
inline Lines nothing(const Json&) {
    return {};
}

struct Talk {
    explicit Talk(ScriptedServer::Answer answer) {
        auto [ours, theirs] = memory_stream_pair();
        server =
            std::make_unique<ScriptedServer>(std::move(theirs), [answer](const Json& message, const std::string& text) {
                Lines lines = answer(message, text);
                std::transform(lines.begin(), lines.end(), lines.begin(), without_breaks);
                return lines;
            });
        connection = std::make_shared<FramedConnection>(std::move(ours), Framing::lines, 1 << 20);
        scope.spawn(server->run());
        scope.spawn(connect());
    }
    ~Talk() {
        scope.spawn(close());
        server->end();
        CHECK(scope.running() == 0);
    }
    Task<void> close() {
        if (client) {
            co_await client->close();
        }
    }
    Task<void> connect() {
        const Instant deadline = clock.now() + 30s;
        mcp::Implementation ourselves{"cellgate", "0"};
        try {
            client = co_await mcp::Client::connect(connection, std::move(ourselves), clock, deadline);
        } catch (const Error& problem) {
            failure = problem.message;
        }
    }
    Task<void> list_tools() {
        const Instant deadline = clock.now() + 30s;
        try {
            listed = co_await client->list_tools(deadline);
        } catch (const Error& problem) {
            failure = problem.message;
        }
    }
    std::optional<mcp::ToolList> list() {
        listed.reset();
        scope.spawn(list_tools());
        return listed;
    }
    Task<void> call_into(std::string tool, RawJson arguments) {
        try {
            std::shared_ptr<mcp::CallFollower> following = follower;
            result = co_await client->call_tool(std::move(tool), std::move(arguments), std::move(following));
        } catch (const Error& problem) {
            failure = problem.message;
            code = problem.code;
        }
    }
    std::shared_ptr<CancelState> call(std::string arguments = "{}") {
        result.reset();
        failure.clear();
        return scope.spawn(call_into("t", RawJson::parse(arguments)));
    }

    FakeClock clock;
    std::unique_ptr<ScriptedServer> server;
    std::shared_ptr<FramedConnection> connection;
    std::shared_ptr<mcp::Client> client;
    std::shared_ptr<mcp::CallFollower> follower; // of the next calls
    std::optional<mcp::ToolList> listed;
    std::optional<protocol::CallToolResult> result;
    std::string failure;
    ErrorCode code = ErrorCode::internal_error;
    TaskScope scope;
};

inline bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace cellgate::mcp::test
