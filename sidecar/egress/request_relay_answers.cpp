// The half of RequestRelay from the server to the client.
#include "base/error.hpp"
#include "base/known_secrets.hpp"
#include "base/sync.hpp"
#include "request_relay.hpp"

#include <algorithm>
#include <array>

namespace cellgate::egress {

namespace {

bool is_idempotent(std::string_view method) {
    constexpr std::array<std::string_view, 5> methods = {"GET", "HEAD", "OPTIONS", "PUT", "DELETE"};
    return std::find(methods.begin(), methods.end(), method) != methods.end();
}

bool is_coded(const ResponseHead& head) {
    return std::any_of(head.fields.begin(), head.fields.end(), [](const auto& field) {
        return field.first == "content-encoding" && field.second != "identity";
    });
}

} // namespace

Task<ResponseHead> RequestRelay::read_response_head(std::shared_ptr<const SecretMask> mask) {
    std::optional<std::size_t> size = head_size(server_in_);
    while (!size) {
        const std::string bytes = co_await server_->read();
        if (bytes.empty()) {
            throw Error(ErrorCode::internal_error, "the server ended the connection before its answer");
        }
        received_ += static_cast<std::int64_t>(bytes.size());
        server_in_ += bytes;
        size = head_size(server_in_);
    }
    ResponseHead head = parse_response_head(masked_text(mask, server_in_.substr(0, *size)));
    server_in_.erase(0, *size);
    co_return std::move(head);
}

Task<ResponseHead> RequestRelay::read_answer(Judged* judged) {
    std::optional<ResponseHead> head;
    try {
        head = co_await read_response_head(judged->mask);
    } catch (const Cancelled&) {
        throw;
    } catch (const Error&) {
        if (!server_is_reused_ || received_ > 0 || !is_idempotent(judged->request.head.method)) {
            throw;
        }
    }
    if (!head) {
        co_await open_server(false);
        co_await send(judged, nullptr); // a request that is not complete reuses no connection
        head = co_await read_response_head(judged->mask);
    }
    co_return std::move(*head);
}

Task<RequestRelay::Ended> RequestRelay::pass_response(Judged* judged) {
    constexpr int switching_protocols = 101;
    constexpr int first_final = 200;
    constexpr int first_redirect = 300;
    ResponseHead head = co_await read_answer(judged);
    while (head.status < first_final && head.status != switching_protocols) {
        head = co_await read_response_head(judged->mask); // the client goes on already, or does not wait for it
    }
    co_await connector_.gate().recorded();
    const bool upgraded = head.status == switching_protocols;
    if (upgraded && !judged->request.opens_web_socket) {
        throw Error(ErrorCode::internal_error, "the server changes the protocol, which the request did not ask for");
    }
    if (judged->request.opens_web_socket && head.status >= first_final && head.status < first_redirect) {
        throw Error(ErrorCode::internal_error, "the server opened no WebSocket; another answer was not asked about");
    }
    MessageBody body(head, judged->request.head.method);
    const bool masked = judged->mask && !body.ended() && !upgraded;
    if (masked && is_coded(head)) {
        throw Error(ErrorCode::internal_error, "the server coded its answer, which it was asked not to do; the secrets "
                                               "of the request could not be found in it");
    }
    const bool server_keeps =
        !upgraded && head.minor_version == 1 && !head.lists("connection", "close") && !body.ends_with_connection();
    // How the client learns where the answer ends.
    const bool chunked = masked && judged->request.head.minor_version == 1;
    const bool client_keeps = !last_request_ && (chunked || !body.ends_with_connection()) && (!masked || chunked);
    head.erase_hop_by_hop();
    if (masked) {
        head.erase("content-length");
        head.erase("transfer-encoding");
        if (chunked) {
            head.set("transfer-encoding", "chunked");
        }
    }
    if (upgraded) {
        head.set("connection", "Upgrade");
        head.set("upgrade", "websocket");
    } else if (!client_keeps) {
        head.set("connection", "close");
    }
    answering_ = true;
    std::string text = to_text(head);
    co_await to_client(std::move(text));
    if (upgraded) {
        co_return Ended::web_socket;
    }
    std::shared_ptr<const SecretMask> mask = masked ? judged->mask : nullptr;
    co_await pass_body(&body, chunked, std::move(mask));
    if (server_keeps) {
        server_idle_since_ = clock_.now();
    } else {
        std::exchange(server_, nullptr)->abort();
    }
    co_return client_keeps ? Ended::keep : Ended::close;
}

// Without a mask the bytes pass as they are.
Task<void> RequestRelay::pass_body(MessageBody* body, bool chunked, std::shared_ptr<const SecretMask> mask) {
    MaskedStream masking(mask);
    while (true) {
        std::string content;
        std::string passed;
        if (!server_in_.empty()) {
            const std::size_t count = body->take(server_in_, mask ? &content : nullptr);
            passed = mask ? masking.push(std::move(content)) : server_in_.substr(0, count);
            server_in_.erase(0, count);
        }
        const bool ended = body->ended();
        if (ended && mask) {
            passed += masking.finish();
        }
        if (!passed.empty()) {
            std::string piece = chunked ? chunk_of(passed) : std::move(passed);
            co_await to_client(std::move(piece));
        }
        if (ended) {
            break;
        }
        server_in_ = co_await server_->read();
        received_ += static_cast<std::int64_t>(server_in_.size());
        if (server_in_.empty() && !body->ends_with_connection()) {
            throw Error(ErrorCode::internal_error, "the server ended the connection in the middle of its answer");
        }
        if (server_in_.empty()) {
            if (mask) {
                std::string rest = masking.finish();
                if (!rest.empty()) {
                    rest = chunked ? chunk_of(rest) : rest;
                    co_await to_client(std::move(rest));
                }
            }
            break;
        }
    }
    if (chunked) {
        co_await to_client("0\r\n\r\n");
    }
}

Task<void> RequestRelay::carry_web_socket() {
    Event down_ended;
    std::shared_ptr<CancelState> down = tasks_.spawn(carry_down(&down_ended));
    co_await finally(carry_up(&down_ended), end_carrying(std::move(down), &down_ended));
}

Task<void> RequestRelay::carry_up(Event* down_ended) {
    std::string bytes = std::exchange(in_, {});
    while (!down_ended->is_set()) {
        if (bytes.empty()) {
            std::optional<std::string> read = co_await unless(down_ended, client_->read());
            if (!read || read->empty()) {
                break;
            }
            bytes = std::move(*read);
        }
        std::string piece = std::exchange(bytes, std::string());
        co_await to_server(std::move(piece));
    }
}

Task<void> RequestRelay::end_carrying(std::shared_ptr<CancelState> down, Event* down_ended) {
    server_->abort();
    down->cancel();
    co_await down_ended->wait();
}

Task<void> RequestRelay::carry_down(Event* ended) {
    try {
        std::string bytes = std::exchange(server_in_, {});
        if (bytes.empty()) {
            bytes = co_await server_->read();
        }
        while (!bytes.empty() && !client_->peer_gone()) {
            received_ += static_cast<std::int64_t>(bytes.size());
            co_await to_client(std::move(bytes));
            bytes = co_await server_->read();
        }
    } catch (const Error&) {
        // It ended, in one way or another.
    }
    ended->set();
}

} // namespace cellgate::egress
