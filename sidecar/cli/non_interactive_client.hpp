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
    // The rules that ask about what was denied, and the options that would have allowed the other denied actions, as
    // text of several lines; empty if nothing was denied.
    std::string advice() const;
    // Must be awaited.
    Task<void> close();

  private:
    Task<void> deny(protocol::Approval approval, LocalSidecar* sidecar);
    // The rule by which it is asked about, as `cellgate policy list` shows it; empty if there is none.
    Task<std::string> asking_rule(protocol::Approval approval, LocalSidecar* sidecar);
    Task<std::string> option_for(protocol::Approval approval, LocalSidecar* sidecar);

    std::vector<std::string> options_; // in the order of the denials
    std::set<std::string> known_;
    std::set<std::string> asking_; // rules
    TaskScope tasks_;
};

} // namespace cellgate::cli
