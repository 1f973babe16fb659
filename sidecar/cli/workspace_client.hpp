#pragma once
// `WorkspaceClient` is a client of the workspace's sidecar, over a stream that daemon::join_workspace() gave: it comes,
// asks, and leaves. It must outlive its run.

#include "async/loop.hpp"
#include "base/sync.hpp"
#include "protocol/messages/lifecycle.hpp"
#include "protocol/messages/policy.hpp"
#include "protocol/peer.hpp"

#include <memory>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>

namespace cellgate::cli {

class WorkspaceClient {
  public:
    // `name`: how the client calls itself.
    WorkspaceClient(async::Loop& loop, std::unique_ptr<ByteStream> stream, std::string name = "cellgate command line")
        : loop_(loop), name_(std::move(name)),
          peer_(std::make_shared<protocol::FramedConnection>(std::move(stream), protocol::Framing::content_length),
                protocol::Dialect::editor) {}

    async::Loop& loop() { return loop_; }
    // It is one of those who can answer approvals: it hears of all that wait, before the first answer that `body` gets,
    // and of all that come. Before run().
    template <class OnRequested, class OnResolved>
    void answer_approvals(OnRequested on_requested, OnResolved on_resolved) {
        answers_approvals_ = true;
        peer_.on_notification<protocol::ApprovalRequested>(std::move(on_requested));
        peer_.on_notification<protocol::ApprovalResolved>(std::move(on_resolved));
    }
    // Before run().
    template <class Method, class Handler>
    void on_notification(Handler handler) {
        peer_.on_notification<Method>(std::move(handler));
    }
    // Opens the conversation, awaits `body`, and leaves, whichever way that ended. Once.
    Task<void> run(Task<void> body) {
        tasks_.spawn(read_all());
        co_await finally(greet_and(std::move(body)), end());
    }
    // After run(): the sidecar ended it, or the connection.
    bool was_cut() const { return was_cut_; }
    // As run(), for one question.
    template <class Method>
    Task<typename Method::Result> ask(typename Method::Params params = {}) {
        std::optional<typename Method::Result> result;
        co_await run(call_into<Method>(std::move(params), &result));
        co_return std::move(*result);
    }

    // In the body of run():
    // Until the sidecar ends, or stop_waiting() is called.
    Task<void> wait() { return until_set(over_); }
    void stop_waiting() { over_.set(); }
    template <class Method>
    Task<typename Method::Result> call(typename Method::Params params = {}) {
        return peer_.call<Method>(std::move(params));
    }

  private:
    Task<void> greet_and(Task<void> body) {
        protocol::InitializeParams params;
        params.client_info = {name_, CELLGATE_VERSION};
        params.process_id.value = ::getpid();
        params.capabilities.approvals = answers_approvals_;
        co_await peer_.call<protocol::Initialize>(std::move(params));
        const Empty nothing;
        peer_.notify<protocol::Initialized>(nothing);
        co_await std::move(body);
        peer_.notify<protocol::Exit>(nothing);
    }
    Task<void> read_all() {
        co_await peer_.run();
        over_.set();
    }
    template <class Method>
    Task<void> call_into(typename Method::Params params, std::optional<typename Method::Result>* result) {
        *result = co_await call<Method>(std::move(params));
    }

    Task<void> end() {
        was_cut_ = peer_.closed();
        peer_.close();
        co_await tasks_.join();
    }

    async::Loop& loop_;
    const std::string name_;
    protocol::Peer peer_;
    bool answers_approvals_ = false;
    bool was_cut_ = false;
    Event over_;
    TaskScope tasks_;
};

} // namespace cellgate::cli
