#pragma once
// `HttpClient::Impl` is curl's transfers on the loop, with its sockets and its timer; `HttpExchange::Transfer` is one
// of them. Private to the module.

#include "async/http.hpp"
#include "curl_library.hpp"
#include "uv_handle.hpp"

#include <array>
#include <map>
#include <set>

namespace cellgate::async {

struct EasyDelete {
    void operator()(CURL* easy) const { CurlLibrary::get().easy_cleanup(easy); }
};
struct ListDelete {
    void operator()(curl_slist* list) const { CurlLibrary::get().slist_free_all(list); }
};

// curl's callbacks only keep what comes; those who wait are woken once curl has returned.
struct HttpExchange::Transfer {
    std::weak_ptr<HttpClient::Impl> client;
    std::unique_ptr<CURL, EasyDelete> easy;
    std::unique_ptr<curl_slist, ListDelete> fields;
    std::unique_ptr<curl_slist, ListDelete> addresses; // of the host, as CURLOPT_RESOLVE has them
    std::array<char, CURL_ERROR_SIZE> words{};
    std::string host;
    std::string body; // of the request; curl reads it in place
    std::size_t head_bytes = 0;
    HttpHead head;
    bool has_head = false;
    std::string unread;
    bool paused = false;
    bool ended = false;
    bool head_too_long = false;
    std::optional<Error> error;
    Event changed;

    bool connects_only = false; // it stays curl's until its stream is closed (http_stream.hpp)

    std::size_t take_head_line(std::string_view line);
    std::size_t take_body(std::string_view bytes);
    void end(CURLcode result);
    bool fresh = false; // something came since those who wait were woken
};

struct HttpClient::Impl : std::enable_shared_from_this<HttpClient::Impl> {
    // Of one of curl's sockets.
    struct Poll {
        uv_poll_t handle{};
        curl_socket_t socket = -1;
        std::weak_ptr<Impl> client;
    };

    explicit Impl(Loop& loop_) : loop(loop_) {}

    void open();
    void close();
    void add(const std::shared_ptr<HttpExchange::Transfer>& transfer);
    void remove(const std::shared_ptr<HttpExchange::Transfer>& transfer);
    // Runs `action` of curl's; then takes the transfers that have ended, and wakes who waits.
    template <class Action>
    void run(const Action& action) {
        const std::shared_ptr<Impl> self = shared_from_this();
        action();
        take_ended();
        wake();
    }
    void take_ended();
    void wake();
    void watch(curl_socket_t socket, int what);
    void set_timer(long milliseconds);
    void act(curl_socket_t socket, int events) {
        run([this, socket, events] {
            int running = 0;
            CurlLibrary::get().multi_socket_action(multi, socket, events, &running);
        });
    }

    Loop& loop;
    CURLM* multi = nullptr;
    uv_timer_t timer{};
    std::map<curl_socket_t, std::shared_ptr<Poll>> polls;
    std::map<CURL*, std::shared_ptr<HttpExchange::Transfer>> transfers;
    std::set<std::shared_ptr<HttpExchange::Transfer>> news;
};

struct HttpTarget {
    std::string host;
    std::string port;      // that of the scheme, if the URL has none
    std::string authority; // as a Host field has it
    std::string path;      // with the query
};

// Both throw Error{invalid_params}: for another scheme or a broken URL; for a field that would break a request.
HttpTarget require_target(const std::string& url);
void require_http_field(const std::string& name, const std::string& value);

// Takes a status line, which begins a new head, or a field.
void add_head_line(HttpHead& head, std::string_view line);

// A transfer to the host of `url`, with what all of them have in common. Throws Error{invalid_params}.
std::shared_ptr<HttpExchange::Transfer> make_transfer(const std::string& url,
                                                      const std::vector<std::string>& addresses);

} // namespace cellgate::async
