#pragma once
// `CutNotices` says what becomes of a connection, each thing once until the connection worked or output came.

#include "base/escape_unprintable.hpp"
#include "reconnect_delay.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace cellgate::jupyter {

class CutNotices {
  public:
    // Empty: it is said already.
    std::string unreachable(const std::string& why) {
        return std::exchange(said_unreachable_, true)
                   ? std::string()
                   : fmt::format("{}. It is tried again until it works", escape_unprintable(why));
    }
    std::string made_again() {
        return std::exchange(said_cut_, true)
                   ? std::string()
                   : "the connection to the kernel was cut and made again. Output, questions and answers that were on "
                     "their way may be lost";
    }

    void forget() { said_unreachable_ = said_cut_ = false; }
    void connected(Instant now) { since_ = now; }
    void cut(Instant now) {
        if (ReconnectDelay::has_worked(now - since_, false)) {
            forget();
        }
    }

  private:
    Instant since_{};
    bool said_unreachable_ = false;
    bool said_cut_ = false;
};

} // namespace cellgate::jupyter
