#pragma once
// $/progress of a request that carried a workDoneToken: it begins here and ends with the object. Without a token,
// nothing is told.

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
