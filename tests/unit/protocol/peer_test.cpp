#include "base/memory_stream.hpp"
#include "protocol/peer.hpp"

#include <doctest/doctest.h>

#include <deque>

using namespace cellgate;
using namespace cellgate::protocol;

namespace {

struct EchoParams {
    std::string text;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("text", self.text);
    }
};
struct Echo : Request<EchoParams, EchoParams> {
    static constexpr std::string_view name = "echo";
};
struct Fail : Echo {
    static constexpr std::string_view name = "fail";
};
struct FailOddly : Echo {
    static constexpr std::string_view name = "failOddly";
};

Task<EchoParams> echo(EchoParams params) {
    co_return params;
}
Task<EchoParams> fail(EchoParams) {
    throw Error(ErrorCode::denied, "no", "ask again");
    co_return EchoParams{};
}
Task<EchoParams> fail_oddly(EchoParams) {
    throw std::runtime_error("odd");
    co_return EchoParams{};
}
Task<EchoParams> answer_too_much(EchoParams params) {
    params.text = std::string(max_message_bytes, 'x');
    co_return params;
}
Task<EchoParams> fail_at_length(EchoParams) {
    throw Error(ErrorCode::tool_server_failed, std::string(2 * max_message_bytes, 'x'));
    co_return EchoParams{};
}
Task<EchoParams> wait_for(Event* event, EchoParams params) {
    co_await event->wait();
    co_return params;
}

// A peer and the bare connection at its other end.
struct Conversation {
    explicit Conversation(Dialect dialect = Dialect::editor) {
        auto [ours, theirs] = memory_stream_pair();
        other = std::make_shared<FramedConnection>(std::move(ours), Framing::content_length);
        peer = std::make_unique<Peer>(std::make_shared<FramedConnection>(std::move(theirs), Framing::content_length),
                                      dialect);
    }
    ~Conversation() {
        other->close();
        CHECK(scope.running() == 0);
    }
    void start() {
        scope.spawn(peer->run());
        scope.spawn(read_all());
    }
    Task<void> read_all() {
        while (std::optional<Frame> frame = co_await other->receive()) {
            received.push_back(frame->text);
        }
    }
    std::string receive() {
        if (received.empty()) {
            return "nothing";
        }
        std::string text = received.front();
        received.pop_front();
        return text;
    }
    std::string ask(const std::string& message) {
        other->send(message);
        return receive();
    }

    std::deque<std::string> received;
    std::shared_ptr<FramedConnection> other;
    std::unique_ptr<Peer> peer;
    TaskScope scope;
};

Task<void> call_with(Peer* peer, EchoParams params, std::string* outcome) {
    try {
        const EchoParams result = co_await peer->call<Echo>(std::move(params));
        *outcome = result.text;
    } catch (const Error& error) {
        *outcome = std::to_string(static_cast<int>(error.code)) + " " + error.message;
    }
}

Task<void> call_echo(Peer* peer, std::string* outcome) {
    EchoParams params{"hi"};
    co_await call_with(peer, std::move(params), outcome);
}

} // namespace

TEST_CASE("every request gets exactly one reply, whatever its handler does") {
    Conversation talk;
    talk.peer->on_request<Echo>(echo);
    talk.peer->on_request<Fail>(fail);
    talk.peer->on_request<FailOddly>(fail_oddly);
    talk.start();
    CHECK(talk.ask(R"({"jsonrpc":"2.0","id":1,"method":"echo","params":{"text":"a"}})") ==
          R"({"jsonrpc":"2.0","id":1,"result":{"text":"a"}})");
    CHECK(
        talk.ask(R"({"jsonrpc":"2.0","id":"x","method":"fail","params":{"text":"a"}})") ==
        R"({"jsonrpc":"2.0","id":"x","error":{"code":1014,"message":"no","data":{"kind":"denied","hint":"ask again"}}})");
    CHECK(talk.ask(R"({"jsonrpc":"2.0","id":2,"method":"failOddly","params":{"text":"a"}})").find("-32603") !=
          std::string::npos);
    CHECK(talk.ask(R"({"jsonrpc":"2.0","id":3,"method":"nope"})").find("-32601") != std::string::npos);
    CHECK(talk.ask(R"({"jsonrpc":"2.0","id":4,"method":"echo","params":{}})").find("params.text: expected") !=
          std::string::npos);
    CHECK(talk.receive() == "nothing");
}

TEST_CASE("what is no message is answered once, with the id where it can be known, and the next message works") {
    struct Case {
        const char* text;
        const char* answer;
    };
    for (const Case& each : {
             Case{"{", R"("id":null,"error":{"code":-32700)"},
             Case{"[]", R"("id":null,"error":{"code":-32600)"},
             Case{"1", R"("id":null,"error":{"code":-32600)"},
             Case{R"({"id":1,"method":"echo"})", R"("id":1,"error":{"code":-32600)"},
             Case{R"({"jsonrpc":"1.0","id":1,"method":"echo"})", R"("id":1,"error":{"code":-32600)"},
             Case{R"({"jsonrpc":"2.0","id":1.5,"method":"echo"})", R"("id":null,"error":{"code":-32600)"},
             Case{R"({"jsonrpc":"2.0","id":null,"method":"echo"})", R"("id":null,"error":{"code":-32600)"},
             Case{R"({"jsonrpc":"2.0","id":1,"method":"echo","params":[1]})", R"("id":1,"error":{"code":-32600)"},
             Case{R"({"jsonrpc":"2.0","id":1,"id":2,"method":"echo"})", R"("id":null,"error":{"code":-32700)"},
             Case{R"({"jsonrpc":"2.0"})", R"("id":null,"error":{"code":-32600)"},
             Case{"\xff", R"("id":null,"error":{"code":-32700)"},
         }) {
        Conversation talk;
        talk.peer->on_request<Echo>(echo);
        talk.start();
        CAPTURE(each.text);
        const std::string answer = talk.ask(each.text);
        CHECK_MESSAGE(answer.find(each.answer) != std::string::npos, answer);
        CHECK(talk.ask(R"({"jsonrpc":"2.0","id":9,"method":"echo","params":{"text":"a"}})").find("result") !=
              std::string::npos);
    }
}

TEST_CASE("a request is cancelled by its id and still answered") {
    Event never;
    Conversation talk;
    talk.peer->on_request<Echo>([&never](EchoParams params) { return wait_for(&never, std::move(params)); });
    talk.start();
    const std::string request = R"({"jsonrpc":"2.0","id":1,"method":"echo","params":{"text":"a"}})";
    CHECK(talk.ask(request) == "nothing");
    CHECK(talk.ask(R"({"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2}})") == "nothing");
    const std::string answer = talk.ask(R"({"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}})");
    CHECK_MESSAGE(answer.find(R"("id":1,"error":{"code":-32800)") != std::string::npos, answer);
    CHECK(talk.receive() == "nothing");
    never.set();
    CHECK(talk.ask(request).find("result") != std::string::npos);
}

TEST_CASE("an id that waits for its answer cannot be used again") {
    Event event;
    Conversation talk;
    talk.peer->on_request<Echo>([&event](EchoParams params) { return wait_for(&event, std::move(params)); });
    talk.start();
    const std::string request = R"({"jsonrpc":"2.0","id":1,"method":"echo","params":{"text":"a"}})";
    talk.other->send(request);
    CHECK(talk.ask(request).find(R"("id":null,"error":{"code":-32600)") != std::string::npos);
    event.set();
    CHECK(talk.receive().find("result") != std::string::npos);
}

TEST_CASE("a call that is cancelled tells the other side, each in its own dialect") {
    for (const Dialect dialect : {Dialect::editor, Dialect::mcp}) {
        Conversation talk(dialect);
        talk.start();
        std::string outcome;
        const std::shared_ptr<CancelState> call = talk.scope.spawn(call_echo(talk.peer.get(), &outcome));
        CHECK(talk.receive() == R"({"jsonrpc":"2.0","id":1,"method":"echo","params":{"text":"hi"}})");
        call->cancel();
        CHECK(outcome == "-32800 cancelled");
        CHECK(talk.receive() ==
              (dialect == Dialect::editor
                   ? R"({"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}})"
                   : R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})"));
        // An answer that still comes belongs to no call.
        talk.other->send(R"({"jsonrpc":"2.0","id":1,"result":{"text":"late"}})");
        CHECK(outcome == "-32800 cancelled");
    }
}

TEST_CASE("calls end with an error when the connection does") {
    Conversation talk;
    talk.start();
    std::string outcome;
    talk.scope.spawn(call_echo(talk.peer.get(), &outcome));
    CHECK(outcome.empty());
    talk.other->close();
    CHECK(outcome.find("the connection ended before the answer came") != std::string::npos);
    std::string later;
    talk.scope.spawn(call_echo(talk.peer.get(), &later));
    CHECK(later.find("the connection has ended") != std::string::npos);
}

TEST_CASE("an error that the other side answers keeps its code, its words and its data") {
    Conversation talk;
    talk.start();
    std::string outcome;
    talk.scope.spawn(call_echo(talk.peer.get(), &outcome));
    talk.receive();
    talk.other->send(R"({"jsonrpc":"2.0","id":1,"error":{"code":-7,"message":"why not","data":[1]}})");
    CHECK(outcome == "-7 why not");
}

TEST_CASE("admission is asked for every message, and its refusal is the answer") {
    Conversation talk;
    talk.peer->on_request<Echo>(echo);
    talk.peer->set_admission([](const std::string& method, const RawJson& params) {
        throw Error(ErrorCode::forbidden, method + " with " + params.text() + " is not for you");
    });
    talk.start();
    CHECK(talk.ask(R"({"jsonrpc":"2.0","id":1,"method":"echo","params":{"text":7}})").find("echo with {") !=
          std::string::npos);
}

TEST_CASE("what is too large for a message never leaves as a broken one, and the next call works") {
    // Control: a reader ends the connection when a header announces as much.
    Decoder reader(Framing::content_length);
    reader.feed(frame_start(Framing::content_length, max_message_bytes + 1));
    CHECK(reader.next()->fatal);

    Conversation talk;
    talk.peer->on_request<Echo>(echo);
    talk.peer->on_request<Fail>(answer_too_much);
    talk.peer->on_request<FailOddly>(fail_at_length);
    talk.start();
    const std::string result = talk.ask(R"({"jsonrpc":"2.0","id":1,"method":"fail","params":{"text":"a"}})");
    CHECK_MESSAGE(result.find(R"("id":1,"error":{"code":1024,)") != std::string::npos, result);
    const std::string error = talk.ask(R"({"jsonrpc":"2.0","id":2,"method":"failOddly","params":{"text":"a"}})");
    CHECK(error.size() < 100'000);
    CHECK(error.find(R"("id":2,"error":{"code":1018,)") != std::string::npos);
    CHECK(error.find("(cut: 134217728 bytes in all)") != std::string::npos);
    const EchoParams large{std::string(max_message_bytes, 'x')};
    talk.peer->notify<Echo>(large);
    CHECK(talk.receive() == "nothing");
    std::string outcome;
    talk.scope.spawn(call_with(talk.peer.get(), large, &outcome));
    CHECK(outcome.find("1024 expected a message of at most 67108864 bytes to send") == 0);
    CHECK(talk.ask(R"({"jsonrpc":"2.0","id":3,"method":"echo","params":{"text":"still"}})").find("still") !=
          std::string::npos);
}

TEST_CASE("names and ids from outside are cut in what is said about them") {
    Conversation talk;
    talk.start();
    const std::string long_name(1'000'000, 'm');
    const std::string unknown = talk.ask(R"({"jsonrpc":"2.0","id":1,"method":")" + long_name + R"("})");
    CHECK(unknown.find("-32601") != std::string::npos);
    CHECK(unknown.size() < 500);
    const std::string escape = talk.ask(R"({"jsonrpc":"2.0","id":1,"method":"\u001b[2J\u202e"})");
    CHECK(escape.find(R"(\\x1b[2J\\u{202e})") != std::string::npos);
    const std::string long_id = talk.ask(R"({"jsonrpc":"2.0","id":")" + long_name + R"(","method":"echo"})");
    CHECK(long_id.find(R"("id":null,"error":{"code":-32600,)") != std::string::npos);
    CHECK(long_id.size() < 500);
}
