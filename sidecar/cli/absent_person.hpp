#pragma once
// Stands in where there is no terminal to ask at: says no to every approval at once, and keeps what the person would
// have to write on the command line to allow it.

#include "local_sidecar.hpp"

#include <set>
#include <string>
#include <vector>

namespace cellgate::cli {

class AbsentPerson {
  public:
    void requested(const protocol::Approval& approval, LocalSidecar& sidecar);
    // What would have allowed what was denied; nothing when nothing was. For a person, several lines.
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
