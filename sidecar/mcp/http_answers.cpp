#include "http_answers.hpp"

#include "base/escape_unprintable.hpp"
#include "base/text.hpp"
#include "failed.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace cellgate::mcp {

namespace {

std::string status_words(int status) {
    constexpr std::array<std::pair<int, std::string_view>, 10> known = {{{400, "Bad Request"},
                                                                         {401, "Unauthorized"},
                                                                         {403, "Forbidden"},
                                                                         {404, "Not Found"},
                                                                         {405, "Method Not Allowed"},
                                                                         {429, "Too Many Requests"},
                                                                         {500, "Internal Server Error"},
                                                                         {502, "Bad Gateway"},
                                                                         {503, "Service Unavailable"},
                                                                         {504, "Gateway Timeout"}}};
    for (const auto& [number, words] : known) {
        if (number == status) {
            return fmt::format("{} {}", number, words);
        }
    }
    return std::to_string(status);
}

} // namespace

std::string media_type(const async::HttpHead& head) {
    const std::string type = head.field("content-type").value_or("");
    return lower(type.substr(0, type.find_first_of("; \t")));
}

Task<std::string> whole_body(async::HttpExchange* exchange, std::size_t max_bytes) {
    std::string body;
    std::string bytes = co_await exchange->read();
    while (!bytes.empty()) {
        body += bytes;
        if (body.size() > max_bytes) {
            throw Error(ErrorCode::limit_exceeded,
                        fmt::format("expected an answer of at most {} bytes, found a longer one", max_bytes));
        }
        bytes = co_await exchange->read();
    }
    co_return body;
}

Error refusal(const async::HttpHead& head, std::string_view body) {
    if (head.status >= 300 && head.status < 400) {
        return failed(fmt::format("the server redirects to {}, which is not followed",
                                  escape_unprintable(head.field("location").value_or("nowhere").substr(0, 200))),
                      "If that is right, name that URL in the configuration.");
    }
    const std::string words = escape_unprintable(body.substr(0, 200));
    return failed(fmt::format("the server answered with HTTP {}{}{}", status_words(head.status),
                              words.empty() ? "" : ": ", words),
                  head.status == 401 ? "It does not take the authorization in the headers of its configuration." : "");
}

} // namespace cellgate::mcp
