#pragma once
// `RequestBody` is the parser that finds the end of a request's body. Bytes behind the end are not part of the request
// that was judged, and are not passed on.

#include "http_head.hpp"

#include <cstdint>

namespace cellgate::egress {

class RequestBody {
  public:
    // Throws Error{invalid_request} for a head with several lengths, or with an unknown transfer coding.
    explicit RequestBody(const RequestHead& head);

    // How many bytes at the beginning of `bytes` belong to it; the next call goes on behind them. Throws
    // Error{invalid_request} for malformed chunks.
    std::size_t take(std::string_view bytes);
    bool ended() const { return state_ == State::ended; }

  private:
    enum class State { counted, size_line, chunk, chunk_end, trailer, ended };

    std::size_t take_line(std::string_view bytes); // into line_
    void end_of_line();

    State state_ = State::ended;
    std::uint64_t left_ = 0; // of the body, or of the chunk
    std::string line_;
    std::size_t trailer_bytes_ = 0;
};

} // namespace cellgate::egress
