#pragma once
// `WireMessage` is a Jupyter message as ZeroMQ frames: signed, with the header parsed and the content kept as text. The
// kernel holds the key, so a valid signature proves only that the bytes come from the kernel's side: every message is
// checked strictly, and the few parsed fields are untrusted.

#include "async/zmq_socket.hpp"
#include "base/raw_json.hpp"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_set>

namespace cellgate::jupyter {

struct Header {
    std::string msg_id;
    std::string msg_type;
};

struct WireMessage {
    Header header;
    std::string parent_id;   // msg_id of the parent header; empty if there is none
    std::string header_text; // as JSON: the parent header of a reply
    // Valid JSON and an object; if `problem` is not empty, the original content was invalid and this is "{}".
    std::string content;
    std::string problem;
};

// The largest message, all frames together.
inline constexpr std::size_t max_wire_bytes = std::size_t{512} << 20;

// The frames of a request to the kernel. `content` and `parent_header` are JSON objects. `identities` go before the
// delimiter.
async::ZmqMessage encode_message(std::string_view key, const Header& header, std::string_view parent_header,
                                 std::string_view content, std::string_view session,
                                 const async::ZmqMessage& identities = {});

// The header of a message that we send, as JSON.
std::string header_text(const Header& header, std::string_view session);
// A message of its parts, each JSON text. Throws Error as WireReader::read does, for a header.
WireMessage read_parts(std::string header, const std::string& parent_header, std::string content);
// JSON text; invalid text inside it becomes U+FFFD. Throws Error{parse_error} for other faults.
std::string repaired_json(std::string text, const JsonLimits& limits);

// `WireReader` reads the messages of one socket.
class WireReader {
  public:
    explicit WireReader(std::string key) : key_(std::move(key)) {}

    // Throws Error for an invalid message: frames, size, signature (wrong or replayed), header. Invalid text inside
    // content (bytes that are not UTF-8, halves of surrogate pairs: Python can print both) becomes U+FFFD.
    WireMessage read(async::ZmqMessage frames);

  private:
    std::string key_;
    std::unordered_set<std::string> seen_;
    std::deque<std::string> seen_order_;
};

} // namespace cellgate::jupyter
