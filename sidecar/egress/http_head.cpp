#include "http_head.hpp"

#include "base/error.hpp"
#include "base/escape_unprintable.hpp"
#include "base/http_token.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cellgate::egress {

namespace {

constexpr std::size_t max_fields = 200;

[[noreturn]] void refuse_head(std::string_view what) {
    throw Error(ErrorCode::invalid_request, fmt::format("expected a plain HTTP/1 request, found {}", what));
}

bool is_control(char c) {
    return static_cast<unsigned char>(c) < ' ' || c == '\x7f';
}

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return result;
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
        text.remove_prefix(1);
    }
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
        text.remove_suffix(1);
    }
    return text;
}

// The next line, without its end.
std::string_view take_line(std::string_view& text) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos || end == 0 || text[end - 1] != '\r') {
        refuse_head("a line that does not end in CR LF");
    }
    const std::string_view line = text.substr(0, end - 1);
    text.remove_prefix(end + 1);
    if (std::any_of(line.begin(), line.end(), [](char c) { return is_control(c) && c != '\t'; })) {
        refuse_head("a control character");
    }
    return line;
}

void parse_request_line(std::string_view line, RequestHead& head) {
    const std::size_t first = line.find(' ');
    const std::size_t second = first == std::string_view::npos ? first : line.find(' ', first + 1);
    if (second == std::string_view::npos || line.find_first_of(" \t", second + 1) != std::string_view::npos) {
        refuse_head(fmt::format("the line '{}'", escape_unprintable(line.substr(0, 100))));
    }
    head.method = line.substr(0, first);
    head.target = line.substr(first + 1, second - first - 1);
    const std::string_view version = line.substr(second + 1);
    if (!is_http_token(head.method) || head.target.empty() || head.target.find_first_of("\t#") != std::string::npos) {
        refuse_head(fmt::format("the line '{}'", escape_unprintable(line.substr(0, 100))));
    }
    if (version != "HTTP/1.1" && version != "HTTP/1.0") {
        refuse_head(fmt::format("the version '{}'", escape_unprintable(version.substr(0, 100))));
    }
    head.minor_version = version.back() - '0';
}

// Whether `name` is one of the comma-separated `list`.
bool lists(std::string_view list, std::string_view name) {
    while (!list.empty()) {
        const std::size_t comma = std::min(list.find(','), list.size());
        if (lower(trimmed(list.substr(0, comma))) == name) {
            return true;
        }
        list.remove_prefix(std::min(comma + 1, list.size()));
    }
    return false;
}

bool is_of_the_connection(const RequestHead& head, std::string_view name) {
    constexpr std::array hop_by_hop = {"connection", "keep-alive",         "proxy-connection", "proxy-authorization",
                                       "te",         "proxy-authenticate", "upgrade",          "http2-settings"};
    const auto names_it = [name](const auto& field) {
        return field.first == "connection" && lists(field.second, name);
    };
    // Whatever Connection says: the length of the message is ours to know and the server's.
    const bool framing = name == "content-length" || name == "transfer-encoding";
    return std::find(hop_by_hop.begin(), hop_by_hop.end(), name) != hop_by_hop.end() ||
           (!framing && std::any_of(head.fields.begin(), head.fields.end(), names_it));
}

} // namespace

std::optional<std::string> RequestHead::single(std::string_view name) const {
    std::optional<std::string> found;
    for (const auto& [field, value] : fields) {
        if (field == name && std::exchange(found, value)) {
            refuse_head(fmt::format("two fields {}", name));
        }
    }
    return found;
}

std::optional<std::size_t> head_size(std::string_view bytes) {
    constexpr std::string_view empty_line = "\r\n\r\n";
    const std::size_t end = bytes.substr(0, max_head_bytes).find(empty_line);
    if (end != std::string_view::npos) {
        return end + empty_line.size();
    }
    if (bytes.size() >= max_head_bytes) {
        throw Error(ErrorCode::limit_exceeded,
                    fmt::format("expected the head of a request within {} bytes, found more", max_head_bytes));
    }
    return std::nullopt;
}

RequestHead parse_head(std::string_view text) {
    RequestHead head;
    parse_request_line(take_line(text), head);
    for (std::string_view line = take_line(text); !line.empty(); line = take_line(text)) {
        const std::size_t colon = line.find(':');
        const std::string_view name = line.substr(0, colon);
        if (colon == std::string_view::npos || !is_http_token(name)) {
            refuse_head(fmt::format("the field '{}'", escape_unprintable(line.substr(0, 100))));
        }
        if (head.fields.size() == max_fields) {
            refuse_head(fmt::format("more than {} fields", max_fields));
        }
        head.fields.emplace_back(lower(name), trimmed(line.substr(colon + 1)));
    }
    return head;
}

void check_request_line(std::string_view line) {
    RequestHead head;
    parse_request_line(take_line(line), head);
}

std::string head_for_server(const RequestHead& head, std::string_view path, std::string_view host) {
    std::string text = fmt::format("{} {} HTTP/1.{}\r\nhost: {}\r\n", head.method, path, head.minor_version, host);
    for (const auto& [name, value] : head.fields) {
        if (name != "host" && !is_of_the_connection(head, name)) {
            text += fmt::format("{}: {}\r\n", name, value);
        }
    }
    return text + "connection: close\r\n\r\n";
}

} // namespace cellgate::egress
