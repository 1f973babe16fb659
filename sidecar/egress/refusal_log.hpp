#pragma once
// The lines of the log about connections that were refused. Code can have any number of them refused, so each is told
// in full once; of those like it, and of all where there are too many different ones, there is a count.

#include "base/host.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace cellgate::egress {

class RefusalLog {
  public:
    // The line about one more; nothing where a later count will have it. A count comes at each power of ten.
    std::optional<std::string> line(const Endpoint& endpoint, const std::string& reason);
    // The last line: how many had none.
    std::optional<std::string> last_line() const;

  private:
    std::map<std::string, std::uint64_t> counts_; // by what was refused and why; "" for what is too much
    std::uint64_t untold_ = 0;
};

} // namespace cellgate::egress
