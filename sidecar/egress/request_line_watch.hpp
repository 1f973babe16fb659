#pragma once
// `RequestLineWatch` finds the first line of an HTTP request ("GET /x HTTP/1.1") in the bytes of a tunnel that was not
// taken for HTTP, since a server may skip the bytes before that line. It reads each byte once, and keeps none.

#include <string_view>

namespace cellgate::egress {

class RequestLineWatch {
  public:
    // Whether such a line ends within `bytes`, which continue those of the last call. The line ends with the version:
    // before these bytes arrive, the server does not know that it is a request.
    bool finds(std::string_view bytes);

  private:
    enum class State { anywhere, blank, h, t, second_t, p, slash, major, dot, minor, behind };

    State next(char c) const;

    State state_ = State::anywhere;
};

} // namespace cellgate::egress
