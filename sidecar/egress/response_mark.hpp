#pragma once
// `ResponseMark` adds the field `connection: close` to the head of a response: the server was asked to close after it,
// so the client must not rely on the connection either. All other bytes of the response pass unchanged.

#include <string>
#include <string_view>

namespace cellgate::egress {

class ResponseMark {
  public:
    // The server's bytes that go to the client now.
    std::string pass(std::string_view bytes);

  private:
    bool passed_ = false; // the field was added, or there is no place for it
    std::string kept_;    // of the status line, or of the head of an interim answer (1xx)
};

} // namespace cellgate::egress
