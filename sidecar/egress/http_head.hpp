#pragma once
// `RequestHead` and `ResponseHead` are the heads of HTTP/1 messages. They are read as strictly as RFC 9112 allows: a
// head that two readers could take for different ones (folded lines, bare line feeds, repeated lengths, blanks before a
// colon) is refused.

#include "base/host.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cellgate::egress {

inline constexpr std::size_t max_head_bytes = std::size_t{64} << 10;

struct MessageHead {
    int minor_version = 1;                                   // of HTTP/1
    std::vector<std::pair<std::string, std::string>> fields; // names in lower case, in order

    // The value of a field that may occur once. Throws Error{invalid_request} when it is repeated.
    std::optional<std::string> single(std::string_view name) const;
    // Whether a field of this name lists the word: "close" of Connection.
    bool lists(std::string_view name, std::string_view word) const;
    void set(std::string_view name, std::string value); // in the place of all fields of the name
    void erase(std::string_view name);
    // Removes what concerns one connection alone. What tells how long the message is stays.
    void erase_hop_by_hop();
};

struct RequestHead : MessageHead {
    std::string method;
    std::string target;
};

struct ResponseHead : MessageHead {
    int status = 0;
    std::string reason;
};

// Where the head at the beginning of `bytes` ends, or nothing yet. Throws Error{limit_exceeded} when it is too large.
std::optional<std::size_t> head_size(std::string_view bytes);

// `text` is a head with its empty line. Throws Error{invalid_request} with what is wrong.
RequestHead parse_head(std::string_view text);

ResponseHead parse_response_head(std::string_view text);

// Whether some servers take both names, in lower case, for one: they read _ as -.
bool is_one_field(std::string_view a, std::string_view b);

// As it is sent, with its empty line.
std::string to_text(const RequestHead& head);
std::string to_text(const ResponseHead& head);

// As a Host field has it: without the port that is usual.
std::string authority_of(const Endpoint& endpoint, bool tls);

// As it goes to the server at `host` ("example.org:8080", as a URL names it): for `path`, without what concerns this
// connection alone, and asking the server to close it afterwards.
std::string head_for_server(RequestHead head, std::string_view path, std::string_view host);

} // namespace cellgate::egress
