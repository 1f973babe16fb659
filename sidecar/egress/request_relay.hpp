#pragma once
// `RequestRelay` is a connection whose requests are judged one by one: it reads a request of HTTP/1.1, asks the gate,
// puts in what rules inject, sends it to the server over a connection of its own, and passes the answer on. A
// connection carries requests one after the other, all to one endpoint. What it cannot read it refuses.

#include "base/secret_mask.hpp"
#include "connector.hpp"
#include "injection.hpp"
#include "message_body.hpp"
#include "request_action.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::egress {

struct RelayedClient {
    std::unique_ptr<async::SocketStream> stream; // in plain text, or TLS that ends here
    std::string early;                           // that was read of it
    Endpoint endpoint;                           // that it wants to reach
    ConnectionSource source;
    bool tls = false;
    bool to_proxy = false; // it sends whole URLs, and may want another host next: one request
};

class RequestRelay {
  public:
    RequestRelay(Clock& clock, Connector& connector, RelayedClient client);
    RequestRelay(const RequestRelay&) = delete;
    RequestRelay& operator=(const RequestRelay&) = delete;

    // Until the client or the server ends it. Throws only Cancelled; errors are answered.
    Task<void> run();
    // The execution with which the permission of the present request ends.
    const std::optional<std::string>& execution_id() const { return execution_id_; }

  private:
    struct Judged {
        RequestToJudge request;
        std::vector<protocol::Injection> injections;
        ClearedPlaces cleared;                  // for them
        std::shared_ptr<const SecretMask> mask; // of what was put in; nullptr: nothing
        gate::OutcomeReport outcome;
        bool edited = false;
    };
    // How the answer ended.
    enum class Ended { keep, close, web_socket };

    Task<void> relay();
    // Whether another request may follow.
    Task<bool> serve_next();
    Task<std::optional<RequestHead>> read_head();
    Task<bool> serve(RequestHead head);
    Task<void> read_body(RequestToJudge* request, MessageBody* body, bool expects_continue);
    std::string take_in(MessageBody& body);

    Task<Ended> exchange(Judged* judged, MessageBody* body);
    Task<void> judge(Judged* judged);
    Task<void> put_in_secrets(Judged* judged);
    Task<void> send(Judged* judged, MessageBody* body);
    Task<void> open_server(bool may_reuse);
    Task<ResponseHead> read_response_head(std::shared_ptr<const SecretMask> mask);
    // The first of an answer. A server may end a connection that waits just when a request comes: once more, then.
    Task<ResponseHead> read_answer(Judged* judged);
    Task<Ended> pass_response(Judged* judged);
    Task<void> pass_body(MessageBody* body, bool chunked, std::shared_ptr<const SecretMask> mask);
    Task<void> carry_web_socket();
    Task<void> carry_up(Event* down_ended);
    Task<void> carry_down(Event* ended);
    Task<void> end_carrying(std::shared_ptr<CancelState> down, Event* down_ended);

    // `work`, unless the client goes first.
    Task<std::optional<Ended>> while_client_stays(Task<Ended> work);
    Task<void> watch_client();
    Task<void> stop_watching(std::shared_ptr<CancelState> watching);

    Task<void> to_client(std::string bytes);
    Task<void> to_server(std::string bytes);
    Task<void> close();

    Clock& clock_;
    Connector& connector_;
    std::unique_ptr<async::SocketStream> client_;
    std::string in_; // what was read of the client and not looked at
    Endpoint endpoint_;
    ConnectionSource source_;
    const bool tls_;
    const bool to_proxy_;

    std::unique_ptr<async::SocketStream> server_;
    std::string server_in_;
    std::vector<std::string> server_secrets_; // that it was sent
    bool server_is_reused_ = false;
    Instant server_idle_since_;

    std::optional<std::string> execution_id_;
    bool awaits_answer_ = false; // the server has the request
    bool answering_ = false;     // a part of an answer is with the client
    bool last_request_ = true;   // the client, or we, want no other behind it
    std::int64_t sent_ = 0;      // bytes of the present request, to the server
    std::int64_t received_ = 0;
    Event client_gone_;
    Event watched_;
    TaskScope tasks_;
};

} // namespace cellgate::egress
