#include "http_head.hpp"

#include "base/error.hpp"
#include "base/escape_unprintable.hpp"
#include "base/http_token.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cellgate::egress {

namespace {

constexpr std::size_t max_fields = 200;

[[noreturn]] void refuse_head(std::string_view what) {
    throw Error(ErrorCode::invalid_request, fmt::format("expected a plain HTTP/1 message, found {}", what));
}

bool is_control(char c) {
    return static_cast<unsigned char>(c) < ' ' || c == '\x7f';
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
bool list_has(std::string_view list, std::string_view name) {
    const std::vector<std::string_view> all = split(list, ',');
    return std::any_of(all.begin(), all.end(), [name](std::string_view each) { return lower(trim(each)) == name; });
}

void parse_fields(std::string_view& text, MessageHead& head) {
    for (std::string_view line = take_line(text); !line.empty(); line = take_line(text)) {
        const std::size_t colon = line.find(':');
        const std::string_view name = line.substr(0, colon);
        if (colon == std::string_view::npos || !is_http_token(name)) {
            refuse_head(fmt::format("the field '{}'", escape_unprintable(line.substr(0, 100))));
        }
        if (head.fields.size() == max_fields) {
            refuse_head(fmt::format("more than {} fields", max_fields));
        }
        head.fields.emplace_back(lower(name), trim(line.substr(colon + 1)));
    }
}

std::string with_fields(std::string text, const MessageHead& head) {
    for (const auto& [name, value] : head.fields) {
        text += fmt::format("{}: {}\r\n", name, value);
    }
    return text + "\r\n";
}

} // namespace

std::optional<std::string> MessageHead::single(std::string_view name) const {
    std::optional<std::string> found;
    for (const auto& [field, value] : fields) {
        if (field == name && std::exchange(found, value)) {
            refuse_head(fmt::format("two fields {}", name));
        }
    }
    return found;
}

bool MessageHead::lists(std::string_view name, std::string_view word) const {
    return std::any_of(fields.begin(), fields.end(),
                       [name, word](const auto& field) { return field.first == name && list_has(field.second, word); });
}

void MessageHead::set(std::string_view name, std::string value) {
    erase(name);
    fields.emplace_back(name, std::move(value));
}

void MessageHead::erase(std::string_view name) {
    std::erase_if(fields, [name](const auto& field) { return field.first == name; });
}

void MessageHead::erase_hop_by_hop() {
    constexpr std::array hop_by_hop = {"connection", "keep-alive",         "proxy-connection", "proxy-authorization",
                                       "te",         "proxy-authenticate", "upgrade",          "http2-settings"};
    const MessageHead before = *this;
    std::erase_if(fields, [&](const auto& field) {
        const std::string& name = field.first;
        // Whatever Connection says: the length of the message is ours to know and the server's.
        const bool framing = name == "content-length" || name == "transfer-encoding";
        return std::find(hop_by_hop.begin(), hop_by_hop.end(), name) != hop_by_hop.end() ||
               (!framing && before.lists("connection", name));
    });
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
    parse_fields(text, head);
    return head;
}

ResponseHead parse_response_head(std::string_view text) {
    constexpr std::size_t reason_at = 13; // "HTTP/1.1 200 OK"
    ResponseHead head;
    const std::string_view line = take_line(text);
    const bool is_status =
        line.size() >= reason_at - 1 && (line.starts_with("HTTP/1.1 ") || line.starts_with("HTTP/1.0 "));
    const std::string_view digits = is_status ? line.substr(reason_at - 4, 3) : std::string_view();
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos || digits.front() == '0' ||
        (line.size() >= reason_at && line[reason_at - 1] != ' ')) {
        refuse_head(fmt::format("the line '{}'", escape_unprintable(line.substr(0, 100))));
    }
    head.minor_version = line[7] - '0';
    head.status = std::stoi(std::string(digits));
    head.reason = line.substr(std::min(reason_at, line.size()));
    parse_fields(text, head);
    return head;
}

bool is_one_field(std::string_view a, std::string_view b) {
    const auto as_read = [](char c) { return c == '_' ? '-' : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&as_read](char x, char y) { return as_read(x) == as_read(y); });
}

std::string to_text(const RequestHead& head) {
    return with_fields(fmt::format("{} {} HTTP/1.{}\r\n", head.method, head.target, head.minor_version), head);
}

std::string to_text(const ResponseHead& head) {
    return with_fields(fmt::format("HTTP/1.1 {} {}\r\n", head.status, head.reason), head);
}

std::string authority_of(const Endpoint& endpoint, bool tls) {
    const std::string_view usual = tls ? ":443" : ":80";
    const std::string text = to_string(endpoint);
    return text.ends_with(usual) ? text.substr(0, text.size() - usual.size()) : text;
}

std::string head_for_server(RequestHead head, std::string_view path, std::string_view host) {
    head.erase_hop_by_hop();
    head.erase("host");
    head.fields.emplace(head.fields.begin(), "host", host);
    head.target = path;
    head.set("connection", "close");
    return to_text(head);
}

} // namespace cellgate::egress
