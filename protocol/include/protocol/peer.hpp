#pragma once
// `Peer` is one side of a JSON-RPC conversation: typed calls both ways. Every request that arrives gets exactly one
// reply, whatever its handler does; a cancelled one too (-32800 unless the handler made something better of it), except
// in MCP's dialect, where it gets none. Handlers run as tasks of the Peer and start in the order of the messages;
// reading goes on meanwhile. A result that the connection does not take becomes an error, a notification is dropped.
// Owned by the caller that awaits run().

#include "base/json_codec.hpp"
#include "base/task.hpp"
#include "protocol/connection.hpp"
#include "protocol/message.hpp"
#include "protocol/method.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace cellgate::protocol {

enum class Dialect {
    editor, // $/cancelRequest {id}
    mcp,    // notifications/cancelled {requestId}; what was cancelled is not answered
};

class Peer {
  public:
    // `beside`: see Frame.
    using RequestHandler = std::function<Task<RawJson>(RawJson params, std::string beside)>;
    using NotificationHandler = std::function<void(RawJson params)>;

    Peer(std::shared_ptr<Connection> connection, Dialect dialect);

    // `handler`: Task<Result>(Params). Register before run().
    template <class Method, class Handler>
    void on_request(Handler handler) {
        request_handlers_[std::string(Method::name)] = [handler](RawJson params, const std::string&) -> Task<RawJson> {
            return answer<Method>(handler, std::move(params));
        };
    }
    void on_raw_request(std::string method, RequestHandler handler) {
        request_handlers_[std::move(method)] = std::move(handler);
    }
    // `handler`: void(Params).
    template <class Method, class Handler>
    void on_notification(Handler handler) {
        notification_handlers_[std::string(Method::name)] = [handler](RawJson params) {
            handler(from_json<typename Method::Params>(params, "params"));
        };
    }
    // Takes what is no message, which is otherwise answered with an error: for an other side that may print more than
    // messages. The frame's text is empty when it is the framing that is broken.
    void set_on_invalid(std::function<void(const Frame& frame, const Error& why)> handler) {
        on_invalid_ = std::move(handler);
    }
    // Asked before each request and notification; throws Error to refuse it (a notification is then dropped).
    void set_admission(std::function<void(const std::string& method, const RawJson& params)> admit) {
        admit_ = std::move(admit);
    }

    // Throws RemoteError; Error{limit_exceeded} when it is too large to be sent; Error{request_cancelled} after the
    // awaiting task was cancelled (the other side is notified); Error{internal_error} when the connection ends first.
    template <class Method>
    Task<typename Method::Result> call(typename Method::Params params) {
        RawJson raw = to_raw_json(params);
        const RawJson result = co_await call_raw(std::string(Method::name), std::move(raw));
        co_return from_json<typename Method::Result>(result, "result");
    }
    // `sent_as`, if it is not nullptr, is set to the id (JSON) of the request before it is sent.
    Task<RawJson> call_raw(std::string method, RawJson params, std::string* sent_as = nullptr);

    template <class Method>
    void notify(const typename Method::Params& params) {
        // Written in its place: it may be a picture of many megabytes.
        std::string text = notification_start(Method::name);
        append_json(text, params);
        text += notification_end;
        send_notification(Method::name, std::move(text));
    }
    void notify_raw(std::string_view method, const RawJson& params);

    // Ends the call of ours with this id (JSON), if it still waits.
    void fail_call(const std::string& id, std::exception_ptr why);

    // Reads until the connection ends, then cancels what still runs and waits for it.
    Task<void> run();
    // Ends the connection; run() returns.
    void close() { connection_->close(); }
    // The connection has ended: a handler that is cancelled now was not cancelled by the client's wish.
    bool closed() const { return closed_; }
    Connection& connection() { return *connection_; }

  private:
    template <class Method, class Handler>
    static Task<RawJson> answer(Handler handler, RawJson params) {
        auto typed = from_json<typename Method::Params>(params, "params");
        const typename Method::Result result = co_await handler(std::move(typed));
        co_return to_raw_json(result);
    }

    void send_notification(std::string_view method, std::string text);
    void receive(const Frame& frame);
    void answer_with_error(const RawJson& id, const Error& why);
    void answer_with_error(std::string message);
    void dispatch(Message message);
    void on_answer(Message message);
    void on_notification(Message message);
    void on_request(Message message);
    // Throws the error that refuses the request.
    RequestHandler admit_request(const Message& message) const;
    void cancel_incoming(const RawJson& id);
    Task<void> handle(RequestHandler handler, Message message);

    std::shared_ptr<Connection> connection_;
    Dialect dialect_;
    std::map<std::string, RequestHandler> request_handlers_;
    std::map<std::string, NotificationHandler> notification_handlers_;
    std::function<void(const std::string&, const RawJson&)> admit_;
    std::function<void(const Frame&, const Error&)> on_invalid_;
    std::map<std::string, std::shared_ptr<CancelState>> incoming_; // by the text of the id
    std::map<std::string, std::shared_ptr<Deferred<RawJson>>> outgoing_;
    std::int64_t next_id_ = 1;
    bool closed_ = false;
    TaskScope tasks_;
};

} // namespace cellgate::protocol
