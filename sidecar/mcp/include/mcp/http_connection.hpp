#pragma once
// `HttpConnection` carries the messages of an MCP client over Streamable HTTP (2025-03-26 to 2026-07-28): each message
// is a POST, whose answer is JSON or a stream of events. In the legacy era it keeps the server's session, reads what
// the server sends by itself, and resumes streams that break. It never sends a request twice, except one that the
// server refused for now (429), which it did not run.

#include "async/http.hpp"
#include "base/clock.hpp"
#include "base/sync.hpp"
#include "mcp/event_stream.hpp"
#include "mcp/http_transport.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::mcp {

// Thrown for `initialize` where the URL takes no POST as MCP has it: the server may speak HTTP+SSE (2024-11-05).
struct NotStreamable : Error {
    using Error::Error;
};

struct ParameterHeader;

class HttpConnection final : public HttpTransport {
  public:
    // `http` and `clock` must outlive it.
    HttpConnection(async::HttpClient& http, Clock& clock, HttpEndpoint endpoint);
    ~HttpConnection() override;

    void send(std::string message) override;
    Task<void> end() override;

  private:
    struct Message;

    Task<void> post(std::shared_ptr<Message> message);
    Task<void> post_once(std::shared_ptr<Message> message);
    Task<std::unique_ptr<async::HttpExchange>> start(std::shared_ptr<Message> message, async::HttpHead* head);
    Task<void> take_answer(std::shared_ptr<Message> message, async::HttpExchange* exchange, async::HttpHead head);
    Task<void> take_events(std::shared_ptr<Message> message, std::unique_ptr<async::HttpExchange> exchange);
    // The events until the stream ends, with what they answer.
    Task<void> read_stream(async::HttpExchange* exchange, EventStream* stream, Message* message);
    Task<std::unique_ptr<async::HttpExchange>> resume(std::string last_id);
    // What the server sends outside of answers.
    Task<void> listen();
    void deliver(std::string text, Message* message);
    // What the result of tools/list asks for in later calls.
    void learn_headers(std::string_view result);
    void fail(const Message& message, std::exception_ptr why);
    async::HttpRequest request(std::string method) const;
    async::HttpRequest request_for(const Message& message) const;

    async::HttpClient& http_;
    Clock& clock_;
    HttpEndpoint endpoint_;
    std::string session_;                                                   // of the legacy era
    std::string version_;                                                   // that was agreed on in the legacy era
    std::map<std::string, std::vector<ParameterHeader>> parameter_headers_; // by the tool, of the modern era
    std::map<std::string, std::shared_ptr<CancelState>> running_;           // requests, by the text of their id
    Mutex order_; // a notification arrives before what follows it
    bool listening_ = false;
};

} // namespace cellgate::mcp
