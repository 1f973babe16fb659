#pragma once
// `MessageBody` is the parser that finds the content and the end of a message's body. Bytes behind the end of a request
// are not part of what was judged.

#include "http_head.hpp"

#include <cstdint>

namespace cellgate::egress {

class MessageBody {
  public:
    // Throws Error{invalid_request} for a head with several lengths, or with an unknown transfer coding.
    explicit MessageBody(const RequestHead& head);
    // The same; of the answer to a request with this method.
    MessageBody(const ResponseHead& head, std::string_view method);

    // How many bytes at the beginning of `bytes` belong to it; the next call goes on behind them. The content among
    // them is appended to `content`. Throws Error{invalid_request} for malformed chunks.
    std::size_t take(std::string_view bytes, std::string* content = nullptr);
    bool ended() const { return state_ == State::ended; }
    bool ends_with_connection() const { return state_ == State::until_close; }
    bool is_chunked() const { return chunked_; }
    // What is left of one whose length was given.
    std::uint64_t left() const { return left_; }

  private:
    enum class State { counted, until_close, size_line, chunk, chunk_end, trailer, ended };

    void read_framing(const MessageHead& head, bool is_request);
    std::size_t take_line(std::string_view bytes); // into line_
    void end_of_line();

    State state_ = State::ended;
    bool chunked_ = false;
    std::uint64_t left_ = 0; // of the body, or of the chunk
    std::string line_;
    std::size_t trailer_bytes_ = 0;
};

// One chunk of a body that is chunked.
std::string chunk_of(std::string_view content);

} // namespace cellgate::egress
