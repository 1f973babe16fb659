#pragma once
// `RefusalLog` makes the log lines about refused connections. Code can cause any number of refusals, so each different
// one is logged in full once; repetitions, and all refusals beyond a limit of different ones, are only counted.

#include "base/host.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace cellgate::egress {

class RefusalLog {
  public:
    // The line about one more refusal; nothing where a later count includes it. A count comes at each power of ten.
    std::optional<std::string> line(const Endpoint& endpoint, const std::string& reason);
    // The last line: the number of refusals without a line.
    std::optional<std::string> last_line() const;

  private:
    std::map<std::string, std::uint64_t> counts_; // by endpoint and reason; "" for all beyond the limit
    std::uint64_t unreported_ = 0;
};

} // namespace cellgate::egress
