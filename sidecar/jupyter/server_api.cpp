#include "jupyter/server_api.hpp"

#include "base/escape_unprintable.hpp"
#include "base/json_codec.hpp"
#include "base/names.hpp"
#include "base/sync.hpp"
#include "jupyter/wire.hpp"
#include "server_wire.hpp"
#include "truncate_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

namespace cellgate::jupyter {

namespace {

using namespace std::chrono_literals;

// Enterprise Gateway answers a start once the kernel has its ports: up to KERNEL_LAUNCH_TIMEOUT, which is 30 s, or what
// its operator set.
constexpr Duration answer_limit = 120s;
constexpr std::size_t max_answer_bytes = std::size_t{4} << 20;
constexpr std::size_t max_url_bytes = 2048;
constexpr std::size_t max_words = 500;
constexpr int first_failure = 400;
constexpr int first_server_error = 500;
// Jupyter Server answers 500 while it starts a kernel again whose process has ended.
constexpr Duration max_shut_down = 15s;
constexpr Duration before_next_try = 500ms;

struct ServerWords {
    std::optional<std::string> message;
    std::optional<std::string> reason;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("message", self.message);
        visit("reason", self.reason);
    }
};

struct CreatedKernel {
    std::string id;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("id", self.id);
    }
};

struct WantedKernel {
    std::optional<std::string> name; // none: the server's default
    std::optional<Environment> env;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("name", self.name);
        visit("env", self.env);
    }
};

struct SpecFile {
    std::string display_name;
    std::string language;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("display_name", self.display_name);
        visit("language", self.language);
    }
};

struct SpecEntry {
    SpecFile spec;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("spec", self.spec);
    }
};

struct SpecList {
    std::string default_name;
    std::map<std::string, SpecEntry> kernelspecs;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("default", self.default_name);
        visit("kernelspecs", self.kernelspecs);
    }
};

template <class T>
T read_answer(const std::string& body, const std::string& host) {
    try {
        const std::string text = repaired_json(body, {});
        return from_json<T>(text, "answer");
    } catch (const Error& error) {
        throw Error(ErrorCode::kernel_start_failed, fmt::format("expected an answer of a Jupyter server from {}: {}",
                                                                host, escape_unprintable(error.message)));
    }
}

// Of an HTML page, its title: Tornado's error pages have no more.
std::string title_of(const std::string& page) {
    const std::size_t begin = page.find("<title>");
    const std::size_t end = page.find("</title>");
    return begin == std::string::npos || end == std::string::npos || end < begin + 7
               ? std::string()
               : page.substr(begin + 7, end - begin - 7);
}

std::string words_in(const std::string& body) {
    std::string words;
    if (!check_json(body) && json_type(body) == "object") {
        try {
            const auto said = from_json<ServerWords>(body, "answer");
            words = said.message.value_or("");
            if (said.reason && !said.reason->empty() && words.find(*said.reason) == std::string::npos) {
                words += (words.empty() ? "" : ": ") + *said.reason;
            }
        } catch (const Error&) {
            words = body;
        }
    } else {
        words = body.find('<') == std::string::npos ? body : title_of(body);
    }
    return escape_unprintable(truncate_text(words, max_words));
}

// The part of `url` behind "//", up to a slash.
std::string_view authority_of(std::string_view url) {
    url.remove_prefix(std::min(url.find("//") + 2, url.size()));
    return url.substr(0, url.find('/'));
}

} // namespace

std::string server_url(std::string text) {
    const bool web = text.starts_with("http://") || text.starts_with("https://");
    const bool plain = std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f' && c != '\\'; });
    if (!web || !plain || text.size() > max_url_bytes || authority_of(text).empty()) {
        throw Error(ErrorCode::config_invalid,
                    "expected the address of a Jupyter server, such as https://example.org/user/me");
    }
    if (text.find_first_of("?#") != std::string::npos || authority_of(text).find('@') != std::string_view::npos) {
        throw Error(ErrorCode::config_invalid,
                    "expected the address of a Jupyter server without a token in it: addresses are shown and kept",
                    "Give the token by itself: the field `token`, `--token-secret`, or when you are asked for it.");
    }
    while (text.ends_with('/')) {
        text.pop_back();
    }
    return text;
}

std::string server_host(const std::string& url) {
    return std::string(authority_of(url));
}

ServerApi::ServerApi(async::HttpClient& http, Clock& clock, ServerAddress address)
    : http_(http), clock_(clock), address_(std::move(address)), host_(server_host(address_.url)) {}

ServerRefused ServerApi::refusal(std::string_view what_failed, int status, const std::string& body) const {
    const std::string words = words_in(body);
    std::string hint = "Ask who runs the server.";
    if (status == 401 || status == 403) {
        hint = address_.token.empty() ? "The server wants a token: `jupyter server list` shows that of your own server."
                                      : "Look whether the token is the server's, and may start kernels.";
    }
    return ServerRefused(status,
                         fmt::format("the Jupyter server {} {}: {}{}", host_, what_failed, status,
                                     words.empty() ? "" : fmt::format(", \"{}\"", words)),
                         std::move(hint));
}

Task<ServerApi::Answer> ServerApi::exchange(async::HttpRequest request) {
    const std::unique_ptr<async::HttpExchange> exchange = http_.start(std::move(request));
    const async::HttpHead head = co_await exchange->head();
    Answer answer;
    answer.status = head.status;
    while (true) {
        const std::string bytes = co_await exchange->read();
        if (bytes.empty()) {
            co_return answer;
        }
        answer.body += bytes;
        if (answer.body.size() > max_answer_bytes) {
            throw Error(ErrorCode::kernel_start_failed,
                        fmt::format("expected an answer of at most {} bytes from {}", max_answer_bytes, host_));
        }
    }
}

Task<ServerApi::Answer> ServerApi::call(std::string method, std::string path, std::string body) {
    async::HttpRequest request;
    request.method = std::move(method);
    request.url = address_.url + path;
    request.fields.emplace_back("Accept", "application/json");
    if (!body.empty()) {
        request.fields.emplace_back("Content-Type", "application/json");
    }
    if (!address_.token.empty()) {
        request.fields.emplace_back("Authorization", "token " + address_.token);
    }
    request.body = std::move(body);
    std::optional<Answer> answer;
    try {
        answer = co_await with_timeout(clock_, answer_limit, exchange(std::move(request)));
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& error) {
        throw Error(ErrorCode::kernel_start_failed, error.message, "Look whether the server runs and can be reached.");
    }
    if (!answer) {
        throw Error(ErrorCode::kernel_start_failed, fmt::format("the Jupyter server {} did not answer in time", host_));
    }
    co_return std::move(*answer);
}

Task<ServerApi::Answer> ServerApi::require(std::string what, std::string method, std::string path, std::string body) {
    Answer answer = co_await call(std::move(method), std::move(path), std::move(body));
    if (!answer.is_success()) {
        throw refusal(what, answer.status, answer.body);
    }
    co_return answer;
}

Task<std::vector<ServerKernelspec>> ServerApi::kernelspecs() {
    std::string no_body;
    const Answer answer = co_await require("does not list its kernels", "GET", "/api/kernelspecs", std::move(no_body));
    const auto list = read_answer<SpecList>(answer.body, host_);
    std::vector<ServerKernelspec> specs;
    for (const auto& [name, entry] : list.kernelspecs) {
        specs.push_back({name, entry.spec.display_name, entry.spec.language, name == list.default_name});
    }
    const auto is_first = [](const ServerKernelspec& a, const ServerKernelspec& b) {
        return std::pair(!a.is_default, a.name) < std::pair(!b.is_default, b.name);
    };
    std::sort(specs.begin(), specs.end(), is_first);
    co_return specs;
}

// Servers do not say that it is this which they miss: Jupyter Server answers 500.
Task<void> ServerApi::require_kernelspec(std::string wanted) {
    std::vector<std::string> names;
    try {
        const std::vector<ServerKernelspec> specs = co_await kernelspecs();
        for (const ServerKernelspec& spec : specs) {
            names.push_back(escape_unprintable(spec.name));
        }
    } catch (const Cancelled&) {
        throw;
    } catch (const Error&) {
        co_return; // what it refused is the error
    }
    if (std::find(names.begin(), names.end(), wanted) == names.end()) {
        throw Error(ErrorCode::kernel_not_found,
                    fmt::format("the Jupyter server {} has no kernelspec \"{}\"", host_, escape_unprintable(wanted)),
                    names.empty() ? std::string("It has none.") : fmt::format("It has: {}.", fmt::join(names, ", ")));
    }
}

Task<std::string> ServerApi::start(std::string kernelspec, Environment environment) {
    WantedKernel wanted;
    if (!kernelspec.empty()) {
        wanted.name = kernelspec;
    }
    // Gateways start a kernel without the variables of their own as soon as there is an `env`, also an empty one
    // (kernel_gateway/services/kernels/handlers.py, MainKernelHandler.post()).
    if (!environment.empty()) {
        wanted.env = std::move(environment);
    }
    std::string body = to_json(wanted);
    const Answer answer = co_await call("POST", "/api/kernels", std::move(body));
    if (!answer.is_success()) {
        ServerRefused refused = refusal("did not start a kernel", answer.status, answer.body);
        if (!refused.may_want_token() && !kernelspec.empty()) {
            co_await require_kernelspec(std::move(kernelspec));
        }
        throw std::move(refused);
    }
    std::string id = read_answer<CreatedKernel>(answer.body, host_).id;
    if (!is_identifier(id)) { // it becomes a part of addresses
        throw Error(ErrorCode::kernel_start_failed, fmt::format("expected a kernel's id from {}", host_));
    }
    co_return id;
}

Task<void> ServerApi::interrupt(std::string kernel_id) {
    co_await require("did not interrupt the kernel", "POST", "/api/kernels/" + kernel_id + "/interrupt", "{}");
}

Task<void> ServerApi::shut_down(std::string kernel_id) {
    const Instant deadline = clock_.now() + max_shut_down;
    while (true) {
        std::string no_body;
        const Answer answer = co_await call("DELETE", "/api/kernels/" + kernel_id, std::move(no_body));
        if (answer.status < first_failure || answer.status == 404) {
            co_return;
        }
        if (answer.status < first_server_error || clock_.now() >= deadline) {
            throw refusal("did not shut the kernel down", answer.status, answer.body);
        }
        co_await sleep_for(clock_, before_next_try);
    }
}

async::WebSocketRequest ServerApi::channels(const std::string& kernel_id, const std::string& session) const {
    async::WebSocketRequest request;
    request.url = fmt::format("{}/api/kernels/{}/channels?session_id={}", address_.url, kernel_id, session);
    if (!address_.token.empty()) {
        request.fields.emplace_back("Authorization", "token " + address_.token);
    }
    request.protocols = {std::string(server_protocol_v1)};
    request.max_message_bytes = max_wire_bytes;
    return request;
}

} // namespace cellgate::jupyter
