#pragma once
// `NonInteractiveClient` is the client without a terminal: it denies every approval immediately, and collects the
// command line options that would have allowed the denied actions.

#include "local_sidecar.hpp"

#include <set>
#include <string>
#include <vector>

namespace cellgate::cli {

class NonInteractiveClient {
  public:
    void requested(const protocol::Approval& approval, LocalSidecar& sidecar);
    // The options that would have allowed the denied actions, as text of several lines; empty if nothing was denied.
    std::string advice() const;
    // Must be awaited.
    Task<void> close();

  private:
    Task<void> deny(protocol::Approval approval, LocalSidecar* sidecar);
    Task<std::string> option_for(protocol::Approval approval, LocalSidecar* sidecar);

    std::vector<std::string> options_; // in the order of the denials
    std::set<std::string> known_;
    TaskScope tasks_;
};

} // namespace cellgate::cli
