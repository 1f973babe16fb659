#pragma once
// `Decoder` is the reader of messages in a stream of bytes. There are two framings: LSP's `Content-Length` headers for
// editors; one line each for MCP and the tool channel. The bytes may arrive in any pieces. A broken message is reported
// in its place among the messages; after a fault that hides the start of the next message, nothing more comes.

#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

namespace cellgate::protocol {

enum class Framing { content_length, lines };

inline constexpr std::size_t max_message_bytes = std::size_t{64} << 20;

struct Frame {
    std::string text;    // the message, when `problem` is empty
    std::string problem; // "expected a Content-Length header, found none"
    bool fatal = false;  // the stream cannot be read further
    // Why our request of the id `text` (JSON) failed, from a transport that carries each request by itself.
    std::exception_ptr failed = nullptr;
    // The id (JSON) of our request with whose answer it came; empty where the transport cannot tell.
    std::string beside = {};
};

class Decoder {
  public:
    explicit Decoder(Framing framing, std::size_t max_bytes = max_message_bytes)
        : framing_(framing), max_bytes_(max_bytes) {}

    void feed(std::string_view bytes);
    std::optional<Frame> next();
    // Whether bytes of an unfinished message are held: at the end of a stream, one was cut off.
    bool in_message() const { return !dead_ && (start_ < buffer_.size() || body_size_ || skipping_line_); }

  private:
    std::optional<Frame> next_by_headers();
    std::optional<Frame> next_line();
    Frame die(std::string problem);

    Framing framing_;
    std::size_t max_bytes_;
    std::string buffer_;
    std::size_t start_ = 0;   // of what was not given out yet
    std::size_t scanned_ = 0; // where the search for the next separator goes on
    std::optional<std::size_t> body_size_;
    bool skipping_line_ = false;
    bool dead_ = false;
};

// The bytes before and after a message of `size` bytes.
std::string frame_start(Framing framing, std::size_t size);
std::string_view frame_end(Framing framing);

} // namespace cellgate::protocol
