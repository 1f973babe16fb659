// Bytes of a server or a client as messages of HTTP/1: a head that is read and written again is the same, and the same
// content comes out of a body, whatever pieces it comes in. The first line of an input is the method of the request.

#include "base/error.hpp"
#include "fuzzing.hpp"
#include "http_head.hpp"
#include "message_body.hpp"

#include <algorithm>
#include <optional>
#include <string>

using namespace cellgate;
using namespace cellgate::egress;
using cellgate::fuzz::require;

namespace {

struct Taken {
    std::string content;
    std::size_t bytes = 0;
    bool ended = false;
    bool operator==(const Taken&) const = default;
};

// Nothing where it is malformed.
std::optional<Taken> take(MessageBody body, std::string_view bytes, std::size_t piece) {
    Taken taken;
    try {
        while (taken.bytes < bytes.size() && !body.ended()) {
            const std::string_view part = bytes.substr(taken.bytes, piece);
            const std::size_t count = body.take(part, &taken.content);
            require(count == part.size() || body.ended(), "all is taken until the end");
            taken.bytes += count;
        }
    } catch (const Error&) {
        return std::nullopt;
    }
    taken.ended = body.ended();
    return taken;
}

void check_body(const MessageBody& body, std::string_view bytes) {
    const std::optional<Taken> whole = take(body, bytes, std::max<std::size_t>(bytes.size(), 1));
    const std::size_t piece = 1 + (bytes.empty() ? 0 : static_cast<unsigned char>(bytes.back()) % 7);
    require(take(body, bytes, piece) == whole, "the same content, whatever pieces it comes in");
    if (whole) {
        require(whole->content.size() <= whole->bytes, "no content but what came");
    }
}

template <class Head>
void check_head(const Head& head, Head (*parse)(std::string_view)) {
    const Head again = parse(to_text(head));
    require(again.fields == head.fields && to_text(again) == to_text(head), "a head that was written reads the same");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const std::string_view method = input.line();
    const std::string_view bytes = input.rest();
    try {
        const std::optional<std::size_t> head_bytes = head_size(bytes);
        const std::string_view text = bytes.substr(0, head_bytes.value_or(0));
        if (head_bytes && text.starts_with("HTTP/")) {
            const ResponseHead head = parse_response_head(text);
            check_head(head, parse_response_head);
            check_body(MessageBody(head, method), bytes.substr(*head_bytes));
        } else if (head_bytes) {
            const RequestHead head = parse_head(text);
            check_head(head, parse_head);
            check_body(MessageBody(head), bytes.substr(*head_bytes));
        }
    } catch (const Error& error) {
        require(!error.message.empty(), "an error says what is wrong");
    }
    return 0;
}
