#pragma once
// $/progress of a request that carried a workDoneToken: it begins here and ends with the object. Without a token,
// nothing is told. Reports are left out while a client does not read.

#include "protocol/messages/lifecycle.hpp"

#include <optional>
#include <string>

namespace cellgate::service {

class Progress {
  public:
    Progress(protocol::Peer& peer, std::optional<RawJson> token, std::string title)
        : peer_(peer), token_(std::move(token)) {
        tell({protocol::ProgressKind::begin, std::move(title), std::nullopt});
    }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress() { tell({protocol::ProgressKind::end, std::nullopt, std::nullopt}); }

    void report(std::string message) {
        constexpr std::size_t most_queued = std::size_t{64} << 10;
        if (peer_.connection().queued_bytes() <= most_queued) {
            tell({protocol::ProgressKind::report, std::nullopt, std::move(message)});
        }
    }

  private:
    void tell(protocol::ProgressValue value) {
        if (token_) {
            const protocol::ProgressParams params{*token_, std::move(value)};
            peer_.notify<protocol::Progress>(params);
        }
    }

    protocol::Peer& peer_;
    std::optional<RawJson> token_;
};

} // namespace cellgate::service
