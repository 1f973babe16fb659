#pragma once
// What was decided lately, so that a person can see also what nobody was asked about, and by which rule. Code can have
// its calls decided as often as it likes: what it floods is the list of those, never that of a person's answers.

#include "gate/gate.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace cellgate::gate {

class Decisions {
  public:
    static constexpr std::size_t most_asked = 100;
    static constexpr std::size_t most_others = 200;
    // Of a payload that is kept; a larger one is left out.
    static constexpr std::size_t most_payload_bytes = std::size_t{8} << 10;

    // `approval_id` of what a person was asked about.
    void add(const Request& request, const Decision& decision, std::optional<std::string> approval_id, WallTime at);
    protocol::PolicyDecisionsResult list() const;

  private:
    struct Entry {
        std::int64_t number = 0;
        WallTime at;
        bool whole = true; // the action has its payload
        protocol::Action action;
        protocol::PastDecision said; // all but the action and what follows from it
    };
    protocol::PastDecision shown(const Entry& entry) const;

    std::int64_t count_ = 0;
    std::deque<Entry> asked_; // oldest first
    std::deque<Entry> others_;
};

} // namespace cellgate::gate
