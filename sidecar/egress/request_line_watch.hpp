#pragma once
// Looks out for the first line of an HTTP request ("GET /x HTTP/1.1") in what a client sends in a tunnel that was not
// taken for HTTP: a server may read over what stands before it. Looks at each byte once, keeps none.

#include <string_view>

namespace cellgate::egress {

class RequestLineWatch {
  public:
    // Whether such a line ends within `bytes`, which go on where the last ones ended. It ends with the version; the
    // server knows that the line is one only when these bytes arrive.
    bool finds(std::string_view bytes);

  private:
    enum class State { anywhere, blank, h, t, second_t, p, slash, major, dot, minor, behind };

    State next(char c) const;

    State state_ = State::anywhere;
};

} // namespace cellgate::egress
