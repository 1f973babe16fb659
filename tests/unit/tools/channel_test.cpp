#include "async/fd_reservation.hpp"
#include "async/stream.hpp"
#include "protocol/framing.hpp"
#include "tools/channel.hpp"
#include "tools_fixture.hpp"

#include <deque>
#include <sys/resource.h>

using namespace tools_fixture;

namespace {

struct Session final : tools::CallerIdentity {
    tools::CallContext current_call(std::optional<std::int64_t> reported_line, const std::string& /*named*/) override {
        tools::CallContext context;
        context.session_id = "session";
        context.execution_id = execution;
        if (reported_line) {
            protocol::Origin origin;
            origin.line = *reported_line;
            origin.text = "the source";
            context.origin = origin;
        }
        return context;
    }
    void record_origin(protocol::ChannelOriginParams told) override {
        origins.push_back(std::move(told));
        changed.set();
    }
    void clear_origins() override {
        origins.clear();
        changed.set();
    }
    std::optional<std::string> execution;
    std::vector<protocol::ChannelOriginParams> origins;
    Event changed;
};

// Code in a kernel: it can send any bytes.
struct Code {
    Code(Fixture& fixture, std::string path_) : loop(fixture.loop), path(std::move(path_)) {}

    Task<void> connect() { stream = co_await async::connect_unix(loop, path); }
    Task<std::string> receive() {
        while (true) {
            if (const std::optional<protocol::Frame> frame = decoder.next()) {
                co_return frame->text;
            }
            const std::string bytes = co_await stream->read();
            if (bytes.empty()) {
                co_return "the end";
            }
            decoder.feed(bytes);
        }
    }
    Task<std::string> ask(std::string line) {
        stream->write(line + "\n");
        co_return co_await receive();
    }

    async::Loop& loop;
    std::string path;
    std::unique_ptr<ByteStream> stream;
    protocol::Decoder decoder{protocol::Framing::lines};
};

std::string call_text(const std::string& id, const std::string& tool, const std::string& arguments,
                      const std::string& more = "") {
    return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"tools/call","params":{"server":"s","tool":")" + tool +
           R"(","arguments":)" + arguments + more + "}}";
}

struct Kernel {
    explicit Kernel(Fixture& fixture_) : fixture(fixture_), path(fixture.folder.path / "tools.sock") {
        channel = std::make_unique<tools::Channel>(fixture.loop, tools::listen_on_socket(fixture.loop, path),
                                                   fixture.registry->dispatcher(), session);
        fixture.add(fixture.fixture("s", {"--log", log().string()}));
        serving = fixture.calls.spawn(channel->run());
    }
    fs::path log() const { return fixture.folder.path / "log"; }

    Fixture& fixture;
    std::string path;
    Session session;
    std::unique_ptr<tools::Channel> channel;
    std::shared_ptr<CancelState> serving;
};

Task<void> call_over_channel(Fixture* fixture, Kernel* kernel) {
    kernel->session.execution = "run";
    CHECK((fs::status(kernel->path).permissions() & fs::perms::others_all) == fs::perms::none);
    Code code(*fixture, kernel->path);
    co_await code.connect();
    const std::string arguments = R"({ "z":1 , "big":123456789012345678901234567890 })";
    const std::string answer =
        co_await code.ask(call_text("7", "raw", arguments, R"(,"line":3,"execution":"forged","sessionId":"forged")"));
    const Json message = Json::parse(answer);
    CHECK(message["id"] == 7);
    CHECK(has(message["result"]["content"][0]["text"], "\"arguments\":" + arguments));
    const protocol::Approval& approval = fixture->user->requested.at(0);
    // Who calls comes from our records, whatever the code says.
    CHECK(approval.session_id == "session");
    CHECK(approval.execution_id == "run");
    CHECK(approval.origin->line == 3);
    CHECK(approval.origin->text == "the source");
    CHECK(approval.origin->reported_by == "code");

    fixture->user->answer = [fixture](const protocol::Approval& each) { fixture->user->deny(each); };
    const Json denied = Json::parse(co_await code.ask(call_text("8", "raw", "{}", R"(,"line":null)")));
    CHECK(denied["error"]["data"]["kind"] == "denied");
    CHECK(denied["error"]["message"] == "not today");
    CHECK_FALSE(fixture->user->requested.at(1).origin);
}

Task<void> say_origins(Fixture* fixture, Kernel* kernel) {
    Session& session = kernel->session;
    Code code(*fixture, kernel->path);
    Code other(*fixture, kernel->path);
    co_await code.connect();
    co_await other.connect();
    const auto said = [](const std::string& params) {
        return R"({"jsonrpc":"2.0","method":"network/origin","params":)" + params + "}\n";
    };
    // What cannot be read is dropped, and what comes behind it counts.
    code.stream->write(said(R"({"socket":"7"})") + said(R"({"line":3,"execution":"run","socket":7})"));
    while (session.origins.empty()) {
        co_await session.changed.wait();
        session.changed.reset();
    }
    CHECK(session.origins.size() == 1);
    CHECK(session.origins[0].line == 3);
    CHECK(session.origins[0].execution == "run");
    CHECK(session.origins[0].socket == 7);

    const std::string answer = co_await other.ask(call_text("1", "tool-1", R"({"s":"still"})"));
    CHECK(has(answer, "You passed to tool 1: still"));
    other.stream.reset(); // which had said nothing
    Code third(*fixture, kernel->path);
    co_await third.connect();
    const std::string again = co_await third.ask(call_text("1", "tool-1", R"({"s":"still"})"));
    CHECK(session.origins.size() == 1);
    code.stream.reset();
    while (!session.origins.empty()) {
        co_await session.changed.wait();
        session.changed.reset();
    }
}

Task<void> send_rubbish(Fixture* fixture, Kernel* kernel) {
    Code code(*fixture, kernel->path);
    co_await code.connect();
    struct Case {
        std::string line;
        int error;
    };
    for (const Case& each : {
             Case{"rubbish", -32700},
             Case{"[]", -32600},
             Case{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"server\":\"\xff\"}}", -32700},
             Case{R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"server":"s","tool":"raw"}})", -32602},
             Case{R"({"jsonrpc":"2.0","id":1,"method":"policy/add","params":{}})", -32601},
             Case{R"({"jsonrpc":"2.0","id":1,"method":"approval/respond","params":{}})", -32601},
             Case{call_text("1", "raw", R"({"a":1,"a":2})"), -32700},
             Case{call_text("1", "raw", R"({"a":"\ud800"})"), -32700},
             Case{call_text("1", "raw", R"([])"), 1020},
             Case{call_text("1", "raw", R"({"a":)" + std::string(300, '[') + std::string(300, ']') + "}"), -32700},
             Case{call_text("1", "none", "{}"), 1019},
             Case{"{\"a\":\"" + std::string(9 << 20, 'x') + "\"}", -32700},
         }) {
        CAPTURE(each.line.substr(0, 200));
        const std::string answer = co_await code.ask(each.line);
        CHECK_MESSAGE(Json::parse(answer)["error"]["code"] == each.error, answer);
    }
    CHECK(fixture->user->requested.empty());
    const std::string answer = co_await code.ask(call_text("2", "tool-1", R"({"s":"still"})"));
    CHECK(has(answer, "You passed to tool 1: still"));
}

Task<void> cancel_calls_in_all_ways(Fixture* fixture, Kernel* kernel) {
    fixture->allow_tool("hang");
    fixture->user->answer = nullptr;
    Code code(*fixture, kernel->path);
    co_await code.connect();

    // By a message.
    code.stream->write(call_text("1", "tool-1", R"({"s":"x"})") + "\n");
    CHECK(co_await fixture->until([&fixture] { return fixture->user->requested.size() == 1; }));
    code.stream->write("{\"jsonrpc\":\"2.0\",\"method\":\"$/cancelRequest\",\"params\":{\"id\":1}}\n");
    CHECK(has(co_await code.receive(), "-32800"));
    CHECK(fixture->user->resolved.size() == 1);

    // By the session, when the execution was interrupted. The connection goes on.
    code.stream->write(call_text("2", "tool-1", R"({"s":"x"})") + "\n");
    CHECK(co_await fixture->until([&fixture] { return fixture->user->requested.size() == 2; }));
    kernel->channel->cancel_calls();
    CHECK(has(co_await code.receive(), "-32800"));
    CHECK(fixture->user->resolved.size() == 2);

    // By the end of the connection: what waits for a user, and what runs in the tool server.
    code.stream->write(call_text("3", "tool-1", R"({"s":"x"})") + "\n" + call_text("4", "hang", "{}") + "\n");
    const fs::path log = kernel->log();
    CHECK(co_await fixture->until([&fixture] { return fixture->user->requested.size() == 3; }));
    CHECK(co_await fixture->until([&log] { return has(read_text(log), "\"hang\""); }));
    code.stream->close();
    CHECK(co_await fixture->until([&fixture] { return fixture->user->resolved.size() == 3; }));
    CHECK(fixture->user->resolved.back().by == protocol::ResolvedBy::cancelled);
    CHECK(co_await fixture->until([&log] { return has(read_text(log), "notifications/cancelled"); }));
}

Task<void> open_too_many(Fixture* fixture, Kernel* kernel) {
    fixture->allow_tool("tool-1");
    std::deque<Code> codes;
    for (int index = 0; index < 65; ++index) {
        codes.emplace_back(*fixture, kernel->path);
        co_await codes.back().connect();
    }
    for (int index = 0; index < 64; ++index) {
        CHECK(has(co_await codes[static_cast<std::size_t>(index)].ask(call_text("1", "tool-1", R"({"s":"x"})")),
                  "You passed"));
    }
    auto last = std::make_shared<std::string>();
    struct Waiting {
        static Task<void> ask(Code* code, std::shared_ptr<std::string> answer) {
            *answer = co_await code->ask(call_text("1", "tool-1", R"({"s":"last"})"));
        }
    };
    TaskScope scope;
    scope.spawn(Waiting::ask(&codes.back(), last));
    // Whole round trips of another connection: the last one had its time, too.
    for (int id = 2; id < 12; ++id) {
        co_await codes.front().ask(call_text(std::to_string(id), "tool-1", R"({"s":"x"})"));
    }
    CHECK(last->empty());
    codes.front().stream->close();
    co_await scope.join();
    CHECK(has(*last, "You passed to tool 1: last"));
}

Task<void> open_more_than_all_may(Fixture* fixture, Kernel* kernel) {
    fixture->allow_tool("tool-1");
    rlimit most{};
    CHECK(::getrlimit(RLIMIT_NOFILE, &most) == 0);
    const std::optional<async::FdReservation> others = async::FdReservation::take(most.rlim_cur / 2 - 1);
    std::optional<async::FdReservation> another = async::FdReservation::take(1);
    CHECK(others);
    CHECK(another);
    Code last(*fixture, kernel->path);
    co_await last.connect();
    const Json told = Json::parse(co_await last.receive());
    CHECK(told["error"]["data"]["kind"] == "limitExceeded");
    CHECK(has(told["error"]["message"], "too many connections"));
    CHECK(co_await last.receive() == "the end");
    another.reset();
    for (int time = 0; time < 3; ++time) { // each gives back what it took
        Code next(*fixture, kernel->path);
        co_await next.connect();
        CHECK(has(co_await next.ask(call_text("1", "tool-1", R"({"s":"x"})")), "You passed"));
        next.stream->close();
        CHECK(co_await fixture->until([] { return async::FdReservation::take(1).has_value(); }));
    }
}

Task<void> close_channel(Fixture* fixture, Kernel* kernel) {
    fixture->user->answer = nullptr;
    Code code(*fixture, kernel->path);
    co_await code.connect();
    code.stream->write(call_text("1", "tool-1", R"({"s":"x"})") + "\n");
    CHECK(co_await fixture->until([&fixture] { return fixture->user->requested.size() == 1; }));
    kernel->channel->close();
    std::string last;
    for (std::string text = co_await code.receive(); text != "the end"; text = co_await code.receive()) {
        last = text;
    }
    CHECK(co_await fixture->until([&fixture] { return fixture->user->resolved.size() == 1; }));
    CHECK_FALSE(fs::exists(kernel->path));
}

Task<void> flood(Fixture* fixture, Kernel* kernel) {
    fixture->add(fixture->fixture("late", {"--start-file", (fixture->folder.path / "never").string()}));
    Code code(*fixture, kernel->path);
    co_await code.connect();
    const std::string arguments =
        R"({"server":"late","tool":"raw","arguments":{"s":")" + std::string((8 << 20) - 100, 'x') + "\"}}";
    for (int id = 1; id <= 9; ++id) {
        code.stream->write(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"tools/call","params":)" +
                           arguments + "}\n");
    }
    // Eight of them wait, with 64 MiB.
    const std::string refused = co_await code.receive();
    CHECK_MESSAGE(has(refused, R"("id":9,"error":{"code":1024)"), refused.substr(0, 300));
}

Task<void> name_at_length(Fixture* fixture, Kernel* kernel) {
    Code code(*fixture, kernel->path);
    co_await code.connect();
    const std::string name(std::size_t{8} << 20, 'm');
    const std::string answer = co_await code.ask(R"({"jsonrpc":"2.0","id":1,"method":")" + name + "\"}");
    CHECK(has(answer, "-32601"));
    CHECK(answer.size() < 1000);
}

// Code that calls over many connections and reads none of the answers.
Task<void> read_nothing(Fixture* fixture, Kernel* kernel) {
    fixture->allow_tool("big");
    const std::string ten_megabytes = call_text("1", "big", R"({"size":10000000})");
    Code reading(*fixture, kernel->path);
    co_await reading.connect();
    CHECK(has(co_await reading.ask(ten_megabytes), "xxx")); // control: alone it is no matter
    std::deque<Code> silent;
    for (int i = 0; i < 8; ++i) {
        silent.emplace_back(*fixture, kernel->path);
        co_await silent.back().connect();
        silent.back().stream->write(ten_megabytes + "\n");
    }
    std::string answer;
    for (int i = 0; i < 100 && !has(answer, R"("error":{"code":1024)"); ++i) {
        answer = co_await reading.ask(ten_megabytes);
    }
    CHECK_MESSAGE(has(answer, "found"), answer.substr(0, 300));
    CHECK(has(co_await reading.ask(call_text("2", "big", R"({"size":3})")), "xxx")); // what is small has room
    for (Code& code : silent) {
        code.stream->close();
    }
    for (int i = 0; i < 100 && !has(answer, "xxx"); ++i) {
        answer = co_await reading.ask(ten_megabytes);
    }
    CHECK(has(answer, "xxx"));
}

void run(Task<void> (*test)(Fixture*, Kernel*)) {
    Fixture fixture;
    Kernel kernel(fixture);
    fixture.run(test(&fixture, &kernel));
}

} // namespace

TEST_CASE("code calls tools over its channel, with its exact bytes, and cannot say who it is") {
    run(call_over_channel);
}

TEST_CASE("reported lines count as long as the connection that they came over") {
    run(say_origins);
}

TEST_CASE("whatever comes over the channel that is no call is refused, and the next call works") {
    run(send_rubbish);
}

TEST_CASE("a call ends by a message, by the session and by the end of its connection, question and tool with it") {
    run(cancel_calls_in_all_ways);
}

TEST_CASE("the sixty-fifth connection waits until another one ends") {
    run(open_too_many);
}

TEST_CASE("a client that connects when all sessions together have too much open gets an error") {
    run(open_more_than_all_may);
}

TEST_CASE("a channel that closes ends its connections and calls, and leaves no socket") {
    run(close_channel);
}

TEST_CASE("code cannot make the sidecar hold any number of calls") {
    run(flood);
}

TEST_CASE("what code does not read is bounded over all its connections, and what is beyond becomes an error") {
    run(read_nothing);
}

TEST_CASE("what code calls a method is not sent back to it whole") {
    run(name_at_length);
}
