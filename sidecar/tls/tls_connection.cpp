#include "tls_connection.hpp"

#include <climits>
#include <fmt/format.h>

#include <algorithm>

namespace cellgate::tls {

namespace {

constexpr std::size_t record_bytes = std::size_t{16} << 10;
constexpr std::size_t max_read_bytes = std::size_t{256} << 10;
// So much ciphertext is handed on at a time: over 64 KiB, the stream below does not copy it.
constexpr std::size_t piece_bytes = std::size_t{256} << 10;

class Stream final : public TlsStream {
  public:
    explicit Stream(std::shared_ptr<TlsConnection> connection) : connection_(std::move(connection)) {}
    ~Stream() override { connection_->close(); }

    Task<std::string> read() override { return TlsConnection::read(connection_); }
    void write(std::string bytes) override { connection_->write(bytes); }
    std::size_t write_queue_size() const override { return connection_->below().write_queue_size(); }
    Task<void> drained(std::size_t below) override { return connection_->below().drained(below); }
    void close_output() override { connection_->close_output(); }
    bool peer_gone() const override { return connection_->below().peer_gone(); }
    void abort() override { connection_->abort(); }
    void close() override { connection_->close(); }
    bool truncated() const override { return connection_->truncated(); }
    bool wanted_certificate() const override { return connection_->wanted_certificate(); }
    std::string application_protocol() const override {
        const unsigned char* name = nullptr;
        unsigned size = 0;
        OpenSsl::get().SSL_get0_alpn_selected(connection_->ssl(), &name, &size);
        return std::string(reinterpret_cast<const char*>(name), size);
    }
    bool resumed() const override { return OpenSsl::get().SSL_session_reused(connection_->ssl()) != 0; }

  private:
    std::shared_ptr<TlsConnection> connection_;
};

} // namespace

void set_common_options(SSL_CTX* context) {
    const OpenSsl& openssl = OpenSsl::get();
    openssl.SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    openssl.SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, nullptr);
    openssl.SSL_CTX_ctrl(context, SSL_CTRL_MODE, SSL_MODE_RELEASE_BUFFERS, nullptr);
}

TlsConnection::TlsConnection(SSL_CTX* context, std::unique_ptr<async::SocketStream> below, std::optional<Server> server)
    : ssl_(OpenSsl::get().SSL_new(context)), below_(std::move(below)), server_(std::move(server)) {
    const OpenSsl& openssl = OpenSsl::get();
    incoming_ = openssl.BIO_new(openssl.BIO_s_mem());
    outgoing_ = openssl.BIO_new(openssl.BIO_s_mem());
    require_openssl(ssl_ && incoming_ != nullptr && outgoing_ != nullptr, "begin TLS");
    openssl.SSL_set0_rbio(ssl_.get(), incoming_);
    openssl.SSL_set0_wbio(ssl_.get(), outgoing_);
    openssl.SSL_set_ex_data(ssl_.get(), 0, this);
}

TlsConnection::~TlsConnection() = default;

void TlsConnection::keep_session(SSL_SESSION* session) {
    Owned<SSL_SESSION> owned(session);
    if (server_ && OpenSsl::get().SSL_SESSION_is_resumable(session) != 0) {
        server_->roots->members().keep_session(server_->name, std::move(owned));
    }
}

void TlsConnection::feed(std::string_view ciphertext) {
    while (!ciphertext.empty()) {
        const auto size = static_cast<int>(std::min<std::size_t>(ciphertext.size(), INT_MAX));
        require_openssl(OpenSsl::get().BIO_write(incoming_, ciphertext.data(), size) == size, "read TLS");
        ciphertext.remove_prefix(static_cast<std::size_t>(size));
    }
}

void TlsConnection::flush() {
    const OpenSsl& openssl = OpenSsl::get();
    const std::size_t size = openssl.BIO_ctrl_pending(outgoing_);
    if (size == 0) {
        return;
    }
    std::string bytes(size, '\0');
    openssl.BIO_read(outgoing_, bytes.data(), static_cast<int>(size));
    below_->write(std::move(bytes));
}

Task<std::optional<TlsConnection::Failure>> TlsConnection::handshake(std::shared_ptr<TlsConnection> self,
                                                                     std::string early) {
    const OpenSsl& openssl = OpenSsl::get();
    self->feed(early);
    std::optional<Failure> failure;
    while (!failure) {
        openssl.ERR_clear_error();
        const int result = openssl.SSL_do_handshake(self->ssl());
        const int status = openssl.SSL_get_error(self->ssl(), result);
        self->flush(); // also an alert
        if (result == 1) {
            break;
        }
        if (status != SSL_ERROR_WANT_READ) {
            failure = Failure{take_openssl_errors(), false};
            break;
        }
        const std::string ciphertext = co_await self->below_->read();
        if (ciphertext.empty()) {
            failure = Failure{{}, true};
        } else {
            self->feed(ciphertext);
        }
    }
    co_return failure;
}

std::string TlsConnection::decrypt() {
    const OpenSsl& openssl = OpenSsl::get();
    std::string bytes;
    while (bytes.size() < max_read_bytes && !ended_ && !failure_) {
        const std::size_t before = bytes.size();
        bytes.resize(before + record_bytes);
        std::size_t count = 0;
        openssl.ERR_clear_error();
        const int result = openssl.SSL_read_ex(ssl_.get(), bytes.data() + before, record_bytes, &count);
        bytes.resize(before + (result == 1 ? count : 0));
        if (result != 1) {
            stop(result);
            break;
        }
    }
    flush(); // the answer to a new key, an alert
    return bytes;
}

void TlsConnection::stop(int result) {
    const int status = OpenSsl::get().SSL_get_error(ssl_.get(), result);
    if (status == SSL_ERROR_WANT_READ) {
        return;
    }
    if (status == SSL_ERROR_ZERO_RETURN) {
        ended_ = true;
        return;
    }
    failure_ = fmt::format("the TLS connection{} failed: {}", server_ ? " to " + server_->name : "",
                           take_openssl_errors().text);
    if (wanted_certificate_) {
        *failure_ += "; it had asked for a certificate of the client, and there is none";
    }
}

Task<std::string> TlsConnection::read(std::shared_ptr<TlsConnection> self) {
    while (!self->closed_) {
        std::string bytes = self->decrypt();
        if (!bytes.empty()) {
            co_return bytes;
        }
        if (self->failure_) {
            throw Error(ErrorCode::internal_error, *self->failure_);
        }
        if (self->ended_) {
            break;
        }
        const std::string ciphertext = co_await self->below_->read();
        if (ciphertext.empty()) {
            self->truncated_ = !self->closed_;
            self->ended_ = true;
        } else if (!self->closed_) {
            self->feed(ciphertext);
        }
    }
    co_return std::string();
}

void TlsConnection::write(std::string_view bytes) {
    const OpenSsl& openssl = OpenSsl::get();
    while (!bytes.empty() && output_open_ && !below_->peer_gone()) {
        std::size_t written = 0;
        openssl.ERR_clear_error();
        if (openssl.SSL_write_ex(ssl_.get(), bytes.data(), std::min(bytes.size(), record_bytes), &written) != 1) {
            openssl.ERR_clear_error(); // the next read tells why
            break;
        }
        bytes.remove_prefix(written);
        if (openssl.BIO_ctrl_pending(outgoing_) >= piece_bytes) {
            flush();
        }
    }
    flush();
}

void TlsConnection::close_output() {
    if (std::exchange(output_open_, false)) {
        const OpenSsl& openssl = OpenSsl::get();
        openssl.ERR_clear_error();
        openssl.SSL_shutdown(ssl_.get()); // writes close_notify
        openssl.ERR_clear_error();
        flush();
        below_->close_output();
    }
}

void TlsConnection::close() {
    if (!closed_) {
        close_output();
        closed_ = true;
        below_->close();
    }
}

void TlsConnection::abort() {
    output_open_ = false;
    closed_ = true;
    below_->abort();
}

std::unique_ptr<TlsStream> make_tls_stream(std::shared_ptr<TlsConnection> connection) {
    return std::make_unique<Stream>(std::move(connection));
}

} // namespace cellgate::tls
