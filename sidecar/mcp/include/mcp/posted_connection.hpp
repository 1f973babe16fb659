#pragma once
// `PostedConnection` is the connection of an MCP server whose client posts each message by itself, and takes what
// belongs to a request from a stream of that request's own. On the server's side requests have ids of the connection's:
// clients that share a server may use the same ones.

#include "base/sync.hpp"
#include "protocol/connection.hpp"
#include "protocol/message.hpp"

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace cellgate::mcp {

class PostedConnection final : public protocol::Connection {
  public:
    // What the server sends for one request: notifications and questions, and the answer, with which it ends.
    struct Stream {
        std::deque<std::string> messages;
        bool ended = false; // nothing more comes; without an answer if the request was cancelled or the server ended
        Condition changed;

      private:
        friend class PostedConnection;
        std::string id; // of the request, on the server's side
        RawJson posted_id;
        std::size_t bytes = 0;
    };

    // A request of the client's.
    std::shared_ptr<Stream> post_request(const protocol::Message& request);
    // A notification of the client's, or its answer to a question.
    void post(const protocol::Message& message, std::string text);
    // The next message; nothing once the stream has ended.
    std::optional<std::string> take(Stream& stream);
    // The client no longer takes the request's messages. Its call goes on, unless `cancel`.
    void drop(const std::shared_ptr<Stream>& stream, bool cancel);
    // Which request (its id on the server's side, as Frame::beside has it) the next message that the server sends
    // belongs to.
    void next_belongs_to(std::string id) { next_ = std::move(id); }
    // Whether a client waits for a request's messages.
    bool is_awaited() const { return !streams_.empty(); }

    Task<std::optional<protocol::Frame>> receive() override;
    void send(std::string message) override;
    std::size_t queued_bytes() const override { return queued_bytes_; }
    Task<void> drained(std::size_t below) override;
    void close() override;

  private:
    void push(std::string text, std::string beside = {});
    void push_to(Stream& stream, std::string text);
    void end(const std::shared_ptr<Stream>& stream);
    std::shared_ptr<Stream> find(const std::string& id) const;
    void send_answer(const std::string& id, const std::string& message);
    void send_within_call(const std::string& method, const std::string& id, std::string message);

    std::deque<protocol::Frame> arrived_;
    std::map<std::string, std::shared_ptr<Stream>> streams_; // by the request's id on the server's side
    std::map<std::string, std::string> asked_;               // the server's questions: their ids, and their requests'
    std::string next_;
    std::int64_t next_id_ = 1;
    std::size_t queued_bytes_ = 0;
    bool closed_ = false;
    Condition changed_;
};

} // namespace cellgate::mcp
