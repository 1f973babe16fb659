#pragma once
// `ClientConnection` is the connection to a language client. Some clients (eglot) write params that are null where
// there are none, which JSON-RPC does not have: they are left out.

#include "base/byte_stream.hpp"
#include "protocol/connection.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace cellgate::cli::lsp {

// The message without params that are null; any other text as it is.
std::string without_null_params(std::string text);

class ClientConnection final : public protocol::Connection {
  public:
    explicit ClientConnection(std::unique_ptr<ByteStream> stream)
        : framed_(std::move(stream), protocol::Framing::content_length) {}

    Task<std::optional<protocol::Frame>> receive() override {
        std::optional<protocol::Frame> frame = co_await framed_.receive();
        if (frame) {
            frame->text = without_null_params(std::move(frame->text));
        }
        co_return frame;
    }
    void send(std::string message) override { framed_.send(std::move(message)); }
    std::size_t queued_bytes() const override { return framed_.queued_bytes(); }
    Task<void> drained(std::size_t below) override { return framed_.drained(below); }
    void close() override { framed_.close(); }

  private:
    protocol::FramedConnection framed_;
};

} // namespace cellgate::cli::lsp
