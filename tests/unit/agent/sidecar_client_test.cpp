// An agent's connection to a sidecar, whose end of the conversation the test plays.

#include "base/fake_clock.hpp"
#include "base/memory_stream.hpp"
#include "protocol/messages/lifecycle.hpp"
#include "sidecar_client.hpp"

#include <doctest/doctest.h>
#include <fmt/ranges.h>

using namespace cellgate;
using namespace cellgate::agent;
using Texts = std::vector<std::string>;

namespace {

struct Call final : mcp::ToolCall {
    const mcp::Implementation& client() const override { return implementation; }
    void report(std::string message) override { reports.push_back(std::move(message)); }
    bool can_ask() const override { return true; }
    Task<mcp::Consent> ask(mcp::ConsentRequest question) override {
        questions.push_back(std::move(question.text));
        co_return question.until_end ? mcp::Consent::until_end : mcp::Consent::once;
    }

    mcp::Implementation implementation{"an agent", "1"};
    Texts questions;
    Texts reports;
};

// The sidecar's end of one connection. A call that needs an approval waits for `answer`.
struct SidecarEnd {
    explicit SidecarEnd(std::unique_ptr<ByteStream> stream)
        : peer(std::make_shared<protocol::FramedConnection>(std::move(stream), protocol::Framing::content_length),
               protocol::Dialect::editor) {
        peer.on_request<protocol::Initialize>([](const protocol::InitializeParams&) { return initialize(); });
        peer.on_request<protocol::PackagesInstall>(
            [this](protocol::PackagesInstallParams params) { return install(std::move(params)); });
        peer.on_request<protocol::Execute>([this](protocol::ExecuteParams params) {
            executing = params.execution_id.value_or("");
            return execute();
        });
        peer.on_request<protocol::ExecutionGet>([this](const protocol::ExecutionParams&) { return get(); });
    }
    Task<protocol::ExecuteResult> execute() {
        co_await answer.wait();
        co_return protocol::ExecuteResult{};
    }
    Task<protocol::ExecutionInfo> get() { co_return info; }
    static Task<protocol::InitializeResult> initialize() {
        protocol::InitializeResult result;
        result.protocol_version = "1";
        co_return result;
    }
    Task<protocol::PackagesInstallResult> install(protocol::PackagesInstallParams params) {
        installing.push_back(params.packages.front());
        co_await answer.wait();
        co_return protocol::PackagesInstallResult{};
    }
    Task<protocol::ApprovalElicitResult> elicit() {
        protocol::ApprovalElicitParams params;
        params.execution_id = execution_id;
        params.display = display;
        params.origin = origin;
        params.until_cell_ends = until_cell_ends;
        co_return co_await peer.call<protocol::ApprovalElicit>(std::move(params));
    }

    protocol::Peer peer;
    Texts installing;
    std::string executing;
    protocol::ExecutionInfo info;
    std::optional<std::string> execution_id;
    Texts display = {"install a package"};
    std::optional<protocol::Origin> origin;
    bool until_cell_ends = false;
    Event answer;
};

struct Fixture {
    ~Fixture() {
        for (const std::unique_ptr<SidecarEnd>& end : ends) {
            end->peer.close();
        }
        tasks.spawn(client.close());
        REQUIRE(tasks.running() == 0);
    }
    Task<std::unique_ptr<ByteStream>> connect() {
        co_await may_connect.wait();
        if (refuse) {
            throw Error(ErrorCode::internal_error, "no sidecar answers");
        }
        auto [ours, theirs] = memory_stream_pair();
        ends.push_back(std::make_unique<SidecarEnd>(std::move(theirs)));
        tasks.spawn(ends.back()->peer.run());
        co_return std::move(ours);
    }
    void install(const std::string& package, std::shared_ptr<Call> call) {
        tasks.spawn(install_into(package, std::move(call)));
    }
    Task<void> install_into(std::string package, std::shared_ptr<Call> call) {
        protocol::PackagesInstallParams params;
        params.packages = {package};
        std::string outcome = package;
        try {
            co_await client.install(std::move(params), std::move(call), [](const std::string&) {});
        } catch (const Error&) {
            outcome += " failed";
        }
        outcomes.push_back(outcome);
    }
    Task<void> execute(std::shared_ptr<Call> call) {
        protocol::ExecuteParams params;
        SidecarClient::OnOutput on_output = [](const protocol::ExecuteOutputParams&) {};
        co_await client.execute(std::move(params), std::move(call), std::move(on_output));
        outcomes.emplace_back("executed");
    }
    // "allow", "deny", or "nobody" if no call could ask.
    std::string elicit() {
        std::string outcome;
        tasks.spawn(elicit_into(&outcome));
        return outcome;
    }
    Task<void> elicit_into(std::string* outcome) {
        try {
            const protocol::ApprovalElicitResult result = co_await ends.back()->elicit();
            *outcome = result.decision == protocol::Verdict::allow ? "allow" : "deny";
            *outcome += result.scope == protocol::Scope::execution ? " until the end" : "";
        } catch (const Error&) {
            *outcome = "nobody";
        }
    }

    FakeClock clock;
    Event may_connect;
    bool refuse = false;
    std::vector<std::unique_ptr<SidecarEnd>> ends;
    SidecarClient client{clock, [this] { return connect(); }, {}, {}};
    Texts outcomes;
    TaskScope tasks;
};

} // namespace

TEST_CASE("calls that come while it connects use the one connection, and a lost one is replaced") {
    Fixture fixture;
    const auto call = std::make_shared<Call>();
    fixture.install("a", call);
    fixture.install("b", call);
    CHECK(fixture.ends.empty());
    fixture.may_connect.set();
    REQUIRE(fixture.ends.size() == 1);
    fixture.ends[0]->answer.set();
    CHECK(fixture.outcomes == Texts{"a", "b"});
    fixture.ends[0]->peer.close();
    fixture.install("c", call);
    CHECK(fixture.ends.size() == 2);
}

TEST_CASE("a connection that fails is an error of its call, and the next call tries again") {
    Fixture fixture;
    fixture.refuse = true;
    fixture.may_connect.set();
    const auto call = std::make_shared<Call>();
    fixture.install("a", call);
    CHECK(fixture.outcomes == Texts{"a failed"});
    fixture.refuse = false;
    fixture.install("b", call);
    REQUIRE(fixture.ends.size() == 1);
    fixture.ends[0]->answer.set();
    CHECK(fixture.outcomes == Texts{"a failed", "b"});
}

TEST_CASE("one call at a time may need an approval, and its own user is asked") {
    Fixture fixture;
    fixture.may_connect.set();
    const auto first = std::make_shared<Call>();
    const auto second = std::make_shared<Call>();
    fixture.install("a", first);
    fixture.install("b", second);
    REQUIRE(fixture.ends.size() == 1);
    CHECK(fixture.ends[0]->installing == Texts{"a"});
    CHECK(fixture.elicit() == "allow");
    CHECK(first->questions.size() == 1);
    CHECK(second->questions.empty());
    fixture.ends[0]->answer.set();
    CHECK(fixture.outcomes == Texts{"a", "b"});
    CHECK(fixture.elicit() == "nobody"); // no call is left that could ask
    CHECK(first->questions.size() + second->questions.size() == 1);
}

TEST_CASE("a call that waits says every few seconds what it waits for, and nothing once it has ended") {
    Fixture fixture;
    fixture.may_connect.set();
    const auto call = std::make_shared<Call>();
    fixture.tasks.spawn(fixture.execute(call));
    SidecarEnd& end = *fixture.ends.back();
    fixture.clock.advance(std::chrono::seconds(4));
    CHECK(call->reports.empty());
    end.info.state = protocol::ExecutionState::running;
    fixture.clock.advance(std::chrono::seconds(1));
    end.info.pending_approvals = 2;
    fixture.clock.advance(std::chrono::seconds(5));
    CHECK(call->reports == Texts{"runs (5 s)", "waits for the user, who has 2 of its actions to answer (10 s)"});
    end.answer.set();
    CHECK(fixture.outcomes == Texts{"executed"});
    fixture.clock.advance(std::chrono::seconds(60));
    CHECK(call->reports.size() == 2);
    CHECK(fixture.clock.sleepers() == 0);
}

TEST_CASE("how far a tool is that the code calls is reported to the agent's program") {
    Fixture fixture;
    fixture.may_connect.set();
    const auto call = std::make_shared<Call>();
    fixture.tasks.spawn(fixture.execute(call));
    SidecarEnd& end = *fixture.ends.back();
    end.peer.notify<protocol::ExecuteProgress>({end.executing, "web", "read", "2 of 5"});
    end.peer.notify<protocol::ExecuteProgress>({end.executing, "web", "read", std::nullopt});
    end.peer.notify<protocol::ExecuteProgress>({"another", "web", "read", "3 of 5"});
    CHECK(call->reports == Texts{"web, read: 2 of 5"});
    end.answer.set();
}

TEST_CASE("an install that waits for the user's answer is not silent") {
    Fixture fixture;
    fixture.may_connect.set();
    const auto call = std::make_shared<Call>();
    fixture.install("a", call);
    fixture.clock.advance(std::chrono::seconds(5));
    REQUIRE(call->reports.size() == 1);
    CHECK(call->reports[0].starts_with("waits; "));
    fixture.ends.back()->answer.set();
    CHECK(fixture.outcomes == Texts{"a"});
}

TEST_CASE("a question has the line that asks, and its answer how long it holds") {
    Fixture fixture;
    fixture.may_connect.set();
    const auto call = std::make_shared<Call>();
    fixture.install("a", call);
    protocol::Origin origin;
    origin.line = 2;
    origin.text = "tool.run()";
    fixture.ends.back()->origin = origin;
    fixture.ends.back()->until_cell_ends = true;
    CHECK(fixture.elicit() == "allow until the end");
    REQUIRE(call->questions.size() == 1);
    CHECK(call->questions[0].ends_with("\n\nline 3 (reported by the code): tool.run()"));
    fixture.ends.back()->until_cell_ends = false;
    CHECK(fixture.elicit() == "allow");
    fixture.ends.back()->answer.set();
}

TEST_CASE("an execution that is none of the agent's calls is asked about in one that runs, and in none without it") {
    Fixture fixture;
    fixture.may_connect.set();
    const auto call = std::make_shared<Call>();
    fixture.tasks.spawn(fixture.execute(call));
    fixture.ends.back()->execution_id = "of a saved tool";
    CHECK(fixture.elicit() == "allow");
    CHECK(call->questions.size() == 1);
    fixture.ends.back()->answer.set();
    CHECK(fixture.elicit() == "nobody");
    CHECK(call->questions.size() == 1);
}

TEST_CASE("what was wrapped for a terminal is whole in a question, but for a text with spaces in a row") {
    const auto question_for = [](Texts display) {
        Fixture fixture;
        fixture.may_connect.set();
        const auto call = std::make_shared<Call>();
        fixture.install("a", call);
        fixture.ends.back()->display = std::move(display);
        CHECK(fixture.elicit() == "allow");
        fixture.ends.back()->answer.set();
        const std::string& text = call->questions.front();
        return text.substr(text.find("\n\n") + 2);
    };
    CHECK(question_for({"tool send of mail", "body: 2 lines", "  | Dear Ada, the ", "  ↳ meeting is", "  ↳  on Monday",
                        "  | 1"}) == "tool send of mail\nbody: 2 lines\n  | Dear Ada, the meeting is on Monday\n  | 1");
    CHECK(question_for({"to: \"a@exam", "↳ ple.org\"", "cc: \"\""}) == "to: \"a@example.org\"\ncc: \"\"");
    CHECK(question_for({"+  name: \"a", "+  ↳ b\"", "-  name: \"c\"", "-  ↳ d"}) == "+  name: \"ab\"\n-  name: \"c\"d");
    for (const Texts& kept : {Texts{"at: \"a   ", "↳   b\"", "to: \"c\""}, Texts{"at: \"a ", "↳  b\""},
                              Texts{"at: \"a↳ b\"", "to: ↳"}, Texts{"↳ "}, Texts{"", " "}}) {
        CHECK(question_for(kept) == fmt::format("{}", fmt::join(kept, "\n")));
    }
}
