#pragma once
// The field `connection: close` in the head of an answer: the server was asked to close after it, so the client must
// not count on the connection either. All other bytes of the answer pass as they are.

#include <string>
#include <string_view>

namespace cellgate::egress {

class ResponseMark {
  public:
    // What of the server's bytes goes to the client now.
    std::string pass(std::string_view bytes);

  private:
    bool passed_ = false; // the field was added, or there is no place for it
    std::string kept_;    // of the status line, or of the head of an interim answer (1xx)
};

} // namespace cellgate::egress
