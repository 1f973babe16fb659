#include "async/http.hpp"

#include "base/escape_unprintable.hpp"
#include "base/http_token.hpp"
#include "base/text.hpp"
#include "http_client_impl.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <unistd.h>

namespace cellgate::async {

namespace {

constexpr long connect_limit_seconds = 30;
constexpr long max_kept_connections = 16;
// CURLOPT_PROTOCOLS by its number: newer headers want its successor, which libcurl before 7.85 does not have.
constexpr auto protocols_option = static_cast<CURLoption>(CURLOPTTYPE_LONG + 181);

struct UrlDelete {
    void operator()(CURLU* url) const { CurlLibrary::get().url_cleanup(url); }
};

Error invalid(std::string_view what) {
    return Error(ErrorCode::invalid_params, std::string(what));
}

std::string part_of(CURLU* url, CURLUPart which, unsigned flags) {
    char* part = nullptr;
    if (CurlLibrary::get().url_get(url, which, &part, flags) != CURLUE_OK) {
        return {};
    }
    std::string text = part;
    CurlLibrary::get().free(part);
    return text;
}

// Where distributions keep the authorities' certificates; libcurl is built for one of them.
const char* authorities() {
    if (const char* chosen = std::getenv("SSL_CERT_FILE"); chosen != nullptr && *chosen != '\0') {
        return chosen;
    }
    for (const char* path :
         {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"}) {
        if (::access(path, R_OK) == 0) {
            return path;
        }
    }
    return nullptr;
}

} // namespace

void require_http_field(const std::string& name, const std::string& value) {
    if (!is_http_token(name) || value.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
        throw invalid(fmt::format("expected a header field in one line, found \"{}\"",
                                  escape_unprintable(std::string_view(name).substr(0, 80))));
    }
}

HttpTarget require_target(const std::string& text) {
    const std::unique_ptr<CURLU, UrlDelete> url(CurlLibrary::get().url());
    const bool parsed = CurlLibrary::get().url_set(url.get(), CURLUPART_URL, text.c_str(), 0) == CURLUE_OK &&
                        text.find('\0') == std::string::npos;
    const std::string scheme = parsed ? part_of(url.get(), CURLUPART_SCHEME, 0) : std::string();
    std::string host = parsed ? part_of(url.get(), CURLUPART_HOST, 0) : std::string();
    if (host.empty() || (scheme != "http" && scheme != "https")) {
        // What was put in for its variables may be secret.
        throw invalid("expected a URL that starts with http:// or https://, and names a host");
    }
    const std::string own_port = part_of(url.get(), CURLUPART_PORT, 0);
    const std::string query = part_of(url.get(), CURLUPART_QUERY, 0);
    std::string authority = own_port.empty() ? host : host + ":" + own_port;
    std::string path = part_of(url.get(), CURLUPART_PATH, 0);
    path += query.empty() ? "" : "?" + query;
    return {std::move(host), part_of(url.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT), std::move(authority),
            std::move(path)};
}

std::optional<std::string> HttpHead::field(std::string_view name) const {
    const auto found =
        std::find_if(fields.begin(), fields.end(), [name](const auto& each) { return each.first == name; });
    return found == fields.end() ? std::nullopt : std::optional(found->second);
}

// ---- What curl calls ------------------------------------------------------------------------------------------------

namespace {

using Transfer = HttpExchange::Transfer;

std::size_t on_head_line(char* bytes, std::size_t size, std::size_t count, void* transfer) {
    return static_cast<Transfer*>(transfer)->take_head_line({bytes, size * count});
}

std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* transfer) {
    return static_cast<Transfer*>(transfer)->take_body({bytes, size * count});
}

template <class Value>
void set_option(const Transfer& transfer, CURLoption option, Value value) {
    CurlLibrary::get().easy_setopt(transfer.easy.get(), option, value);
}

void set_request_options(Transfer& transfer, const HttpRequest& request) {
    set_option(transfer, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    if (request.method != "GET" || !transfer.body.empty()) {
        set_option(transfer, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(transfer.body.size()));
        set_option(transfer, CURLOPT_POSTFIELDS, transfer.body.c_str());
    }
    set_option(transfer, CURLOPT_HTTPHEADER, transfer.fields.get());
    set_option(transfer, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
    set_option(transfer, CURLOPT_HEADERFUNCTION, &on_head_line);
    set_option(transfer, CURLOPT_HEADERDATA, &transfer);
    set_option(transfer, CURLOPT_WRITEFUNCTION, &on_body);
    set_option(transfer, CURLOPT_WRITEDATA, &transfer);
}

} // namespace

std::shared_ptr<Transfer> make_transfer(const std::string& url, const std::vector<std::string>& addresses) {
    auto transfer = std::make_shared<Transfer>();
    const HttpTarget destination = require_target(url);
    transfer->host = destination.host;
    transfer->easy.reset(CurlLibrary::get().easy_init());
    if (!transfer->easy) {
        throw Error(ErrorCode::internal_error, "cannot start an HTTP request");
    }
    if (!addresses.empty()) {
        const std::string entry =
            fmt::format("{}:{}:{}", destination.host, destination.port, fmt::join(addresses, ","));
        transfer->addresses.reset(CurlLibrary::get().slist_append(nullptr, entry.c_str()));
        set_option(*transfer, CURLOPT_RESOLVE, transfer->addresses.get());
    }
    set_option(*transfer, CURLOPT_URL, url.c_str());
    set_option(*transfer, protocols_option, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
    set_option(*transfer, CURLOPT_FOLLOWLOCATION, 0L);
    set_option(*transfer, CURLOPT_NOSIGNAL, 1L);
    set_option(*transfer, CURLOPT_QUICK_EXIT, 1L); // a resolver that does not answer is not waited for
    set_option(*transfer, CURLOPT_CONNECTTIMEOUT, connect_limit_seconds);
    set_option(*transfer, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    set_option(*transfer, CURLOPT_TCP_KEEPALIVE, 1L);
    set_option(*transfer, CURLOPT_USERAGENT, "cellgate/" CELLGATE_VERSION);
    set_option(*transfer, CURLOPT_ERRORBUFFER, transfer->words.data());
    set_option(*transfer, CURLOPT_PRIVATE, transfer.get());
    if (const char* file = authorities()) {
        set_option(*transfer, CURLOPT_CAINFO, file);
    }
    return transfer;
}

void add_head_line(HttpHead& head, std::string_view line) {
    while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) {
        line.remove_suffix(1);
    }
    if (line.starts_with("HTTP/")) {
        head = {};
        const std::size_t blank = std::min(line.find(' '), line.size());
        std::from_chars(line.data() + std::min(blank + 1, line.size()), line.data() + line.size(), head.status);
    } else if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
        head.fields.emplace_back(lower(line.substr(0, colon)), trim(line.substr(colon + 1)));
    }
}

// A head is a status line, fields, and an empty line. Interim ones (1xx) come before it; what follows a body, after it.
std::size_t HttpExchange::Transfer::take_head_line(std::string_view line) {
    const std::size_t size = line.size();
    head_bytes += size;
    if (head_bytes > HttpClient::max_head_bytes) {
        head_too_long = true;
        return 0;
    }
    if (has_head) {
        return size;
    }
    add_head_line(head, line);
    if (line == "\r\n" || line == "\n") {
        has_head = head.status >= 200;
        fresh = has_head;
    }
    return size;
}

std::size_t HttpExchange::Transfer::take_body(std::string_view bytes) {
    if (!unread.empty() && unread.size() + bytes.size() > HttpClient::max_unread_bytes) {
        paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    unread += bytes;
    fresh = true;
    return bytes.size();
}

void HttpExchange::Transfer::end(CURLcode result) {
    ended = true;
    if (result == CURLE_OK) {
        return;
    }
    const std::string why = words[0] != '\0' ? words.data() : CurlLibrary::get().easy_strerror(result);
    if (head_too_long) {
        error = Error(ErrorCode::internal_error,
                      fmt::format("expected the head of an answer within {} bytes, found more, from {}",
                                  HttpClient::max_head_bytes, host));
    } else if (has_head) {
        error = Error(ErrorCode::internal_error,
                      fmt::format("the answer of {} was cut off: {}", host, escape_unprintable(why)));
    } else {
        error = Error(ErrorCode::internal_error, fmt::format("cannot reach {}: {}", host, escape_unprintable(why)));
    }
}

// ---- The loop -------------------------------------------------------------------------------------------------------

void HttpClient::Impl::open() {
    multi = CurlLibrary::get().multi_init();
    if (multi == nullptr) {
        throw Error(ErrorCode::internal_error, "cannot make an HTTP client");
    }
    uv_timer_init(loop.raw(), &timer);
    adopt(timer, shared_from_this());
    CurlLibrary::get().multi_setopt(multi, CURLMOPT_MAXCONNECTS, max_kept_connections);
    CurlLibrary::get().multi_setopt(multi, CURLMOPT_SOCKETDATA, this);
    CurlLibrary::get().multi_setopt(
        multi, CURLMOPT_SOCKETFUNCTION, +[](CURL*, curl_socket_t socket, int what, void* impl, void*) {
            static_cast<Impl*>(impl)->watch(socket, what);
            return 0;
        });
    CurlLibrary::get().multi_setopt(multi, CURLMOPT_TIMERDATA, this);
    CurlLibrary::get().multi_setopt(
        multi, CURLMOPT_TIMERFUNCTION, +[](CURLM*, long milliseconds, void* impl) {
            static_cast<Impl*>(impl)->set_timer(milliseconds);
            return 0;
        });
}

void HttpClient::Impl::close() {
    const std::shared_ptr<Impl> self = shared_from_this();
    while (!transfers.empty()) {
        const std::shared_ptr<Transfer> transfer = transfers.begin()->second;
        remove(transfer);
        transfer->ended = true;
        transfer->error = Error(ErrorCode::internal_error, "the HTTP client has ended");
        news.insert(transfer);
    }
    CurlLibrary::get().multi_cleanup(std::exchange(multi, nullptr));
    for (const auto& [socket, poll] : polls) {
        close_handle<Poll>(poll->handle);
    }
    polls.clear();
    close_handle<Impl>(timer);
    wake();
}

void HttpClient::Impl::add(const std::shared_ptr<Transfer>& transfer) {
    transfers.emplace(transfer->easy.get(), transfer);
    run([this, &transfer] { CurlLibrary::get().multi_add_handle(multi, transfer->easy.get()); });
}

void HttpClient::Impl::remove(const std::shared_ptr<Transfer>& transfer) {
    if (transfers.erase(transfer->easy.get()) != 0) {
        CurlLibrary::get().multi_remove_handle(multi, transfer->easy.get());
    }
}

void HttpClient::Impl::take_ended() {
    int left = 0;
    while (const CURLMsg* message = CurlLibrary::get().multi_info_read(multi, &left)) {
        if (message->msg != CURLMSG_DONE) {
            continue;
        }
        const CURLcode result = message->data.result;
        const std::shared_ptr<Transfer> transfer = transfers.at(message->easy_handle);
        if (!transfer->connects_only || result != CURLE_OK) {
            remove(transfer);
        }
        transfer->end(result);
        news.insert(transfer);
    }
}

void HttpClient::Impl::wake() {
    for (const auto& [easy, transfer] : transfers) {
        if (std::exchange(transfer->fresh, false)) {
            news.insert(transfer);
        }
    }
    for (const std::shared_ptr<Transfer>& transfer : std::exchange(news, {})) {
        transfer->changed.set();
    }
}

void HttpClient::Impl::watch(curl_socket_t socket, int what) {
    const auto found = polls.find(socket);
    if (what == CURL_POLL_REMOVE) {
        if (found != polls.end()) {
            close_handle<Poll>(found->second->handle);
            polls.erase(found);
        }
        return;
    }
    std::shared_ptr<Poll> poll = found == polls.end() ? nullptr : found->second;
    if (!poll) {
        poll = std::make_shared<Poll>();
        poll->socket = socket;
        poll->client = weak_from_this();
        uv_poll_init_socket(loop.raw(), &poll->handle, socket);
        adopt(poll->handle, poll);
        polls.emplace(socket, poll);
    }
    const int events = ((what & CURL_POLL_IN) != 0 ? UV_READABLE : 0) | ((what & CURL_POLL_OUT) != 0 ? UV_WRITABLE : 0);
    uv_poll_start(&poll->handle, events, [](uv_poll_t* handle, int status, int ready) {
        const std::shared_ptr<Poll> owner = owner_of<Poll>(handle);
        const std::shared_ptr<Impl> client = owner->client.lock();
        if (!client || client->multi == nullptr) {
            return;
        }
        int flags = status < 0 ? CURL_CSELECT_ERR : 0;
        flags |= (ready & UV_READABLE) != 0 ? CURL_CSELECT_IN : 0;
        flags |= (ready & UV_WRITABLE) != 0 ? CURL_CSELECT_OUT : 0;
        client->act(owner->socket, flags);
    });
}

void HttpClient::Impl::set_timer(long milliseconds) {
    if (milliseconds < 0) {
        uv_timer_stop(&timer);
        return;
    }
    const auto delay = static_cast<std::uint64_t>(milliseconds);
    uv_timer_start(
        &timer,
        [](uv_timer_t* handle) {
            const std::shared_ptr<Impl> client = owner_of<Impl>(handle);
            if (client->multi != nullptr) {
                client->act(CURL_SOCKET_TIMEOUT, 0);
            }
        },
        delay, 0);
}

// ---- Exchanges ------------------------------------------------------------------------------------------------------

HttpExchange::HttpExchange(std::shared_ptr<Transfer> transfer) : transfer_(std::move(transfer)) {}

HttpExchange::~HttpExchange() {
    if (const std::shared_ptr<HttpClient::Impl> client = transfer_->client.lock(); client && client->multi != nullptr) {
        client->remove(transfer_);
    }
}

Task<HttpHead> HttpExchange::head() {
    const std::shared_ptr<Transfer> transfer = transfer_;
    while (!transfer->has_head && !transfer->ended) {
        transfer->changed.reset();
        co_await transfer->changed.wait();
    }
    if (!transfer->has_head) {
        throw Error(transfer->error.value_or(Error(
            ErrorCode::internal_error, fmt::format("{} ended the connection without an answer", transfer->host))));
    }
    co_return transfer->head;
}

Task<std::string> HttpExchange::read() {
    const std::shared_ptr<Transfer> transfer = transfer_;
    while (transfer->unread.empty()) {
        if (transfer->ended) {
            if (transfer->error) {
                throw Error(*transfer->error);
            }
            co_return std::string();
        }
        transfer->changed.reset();
        co_await transfer->changed.wait();
    }
    std::string bytes = std::exchange(transfer->unread, {});
    if (const std::shared_ptr<HttpClient::Impl> client = transfer->client.lock();
        client && client->multi != nullptr && std::exchange(transfer->paused, false) && !transfer->ended) {
        client->run([&transfer] { CurlLibrary::get().easy_pause(transfer->easy.get(), CURLPAUSE_CONT); });
    }
    co_return bytes;
}

HttpClient::HttpClient(Loop& loop) : impl_(std::make_shared<Impl>(loop)) {
    impl_->open();
}

HttpClient::~HttpClient() {
    impl_->close();
}

std::unique_ptr<HttpExchange> HttpClient::start(HttpRequest request) {
    const std::shared_ptr<HttpExchange::Transfer> transfer = make_transfer(request.url, request.addresses);
    transfer->client = impl_;
    transfer->body = std::move(request.body);
    request.fields.emplace_back("Expect", ""); // curl leaves it out then
    for (const auto& [name, value] : request.fields) {
        require_http_field(name, value);
        // A field without a value is written with a semicolon.
        const std::string line = value.empty() && name != "Expect" ? name + ";" : fmt::format("{}: {}", name, value);
        transfer->fields.reset(CurlLibrary::get().slist_append(transfer->fields.release(), line.c_str()));
    }
    set_request_options(*transfer, request);
    impl_->add(transfer);
    return std::make_unique<HttpExchange>(transfer);
}

} // namespace cellgate::async
