#pragma once
// `Progress` is the $/progress of a request with a workDoneToken: it begins with the object and ends with it. Without a
// token, nothing is sent. Reports are dropped while the client does not read.

#include "protocol/messages/lifecycle.hpp"
#include "protocol/peer.hpp"

#include <optional>
#include <string>

namespace cellgate::service {

// Of a client with more than that unread, progress is left out.
inline constexpr std::size_t max_queued_progress = std::size_t{64} << 10;

class Progress {
  public:
    Progress(protocol::Peer& peer, std::optional<RawJson> token, std::string title)
        : peer_(peer), token_(std::move(token)) {
        send({protocol::ProgressKind::begin, std::move(title), std::nullopt});
    }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress() { send({protocol::ProgressKind::end, std::nullopt, std::nullopt}); }

    void report(std::string message) {
        if (peer_.connection().queued_bytes() <= max_queued_progress) {
            send({protocol::ProgressKind::report, std::nullopt, std::move(message)});
        }
    }

  private:
    void send(protocol::ProgressValue value) {
        if (token_) {
            const protocol::ProgressParams params{*token_, std::move(value)};
            peer_.notify<protocol::Progress>(params);
        }
    }

    protocol::Peer& peer_;
    std::optional<RawJson> token_;
};

} // namespace cellgate::service
