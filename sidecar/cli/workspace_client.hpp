#pragma once
// `WorkspaceClient` asks the workspace's sidecar one thing, over a stream that daemon::join_workspace() gave, and
// leaves. It must outlive the call.

#include "base/sync.hpp"
#include "protocol/messages/lifecycle.hpp"
#include "protocol/peer.hpp"

#include <memory>
#include <unistd.h>
#include <utility>

namespace cellgate::cli {

class WorkspaceClient {
  public:
    explicit WorkspaceClient(std::unique_ptr<ByteStream> stream)
        : peer_(std::make_shared<protocol::FramedConnection>(std::move(stream), protocol::Framing::content_length),
                protocol::Dialect::editor) {}

    // Once.
    template <class Method>
    Task<typename Method::Result> call(typename Method::Params params = {}) {
        tasks_.spawn(peer_.run());
        co_return co_await finally(ask<Method>(std::move(params)), end());
    }

  private:
    template <class Method>
    Task<typename Method::Result> ask(typename Method::Params asked) {
        protocol::InitializeParams params;
        params.client_info = {"cellgate command line", CELLGATE_VERSION};
        params.process_id.value = ::getpid();
        co_await peer_.call<protocol::Initialize>(std::move(params));
        typename Method::Result result = co_await peer_.call<Method>(std::move(asked));
        const Empty nothing;
        peer_.notify<protocol::Exit>(nothing);
        co_return result;
    }

    Task<void> end() {
        peer_.close();
        co_await tasks_.join();
    }

    protocol::Peer peer_;
    TaskScope tasks_;
};

} // namespace cellgate::cli
