#pragma once
// What was decided lately, so that a user can see also what nobody was asked about, and by which rule. Code can have
// its calls decided, or ask and withdraw, as often as it likes: what it floods is the list of those, never that of a
// user's answers.

#include "gate/gate.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::gate {

class Decisions {
  public:
    static constexpr std::size_t max_answered = 100;
    static constexpr std::size_t max_others = 200;
    // Of a payload that is kept, and of its display; a larger one is left out.
    static constexpr std::size_t max_payload_bytes = std::size_t{8} << 10;
    static constexpr std::size_t max_display_bytes = std::size_t{32} << 10;
    // Of a list, as JSON: half for each kind. Those that do not fit count as forgotten.
    static constexpr std::size_t max_list_bytes = std::size_t{8} << 20;

    // `approval_id` of what a user was asked about.
    void add(const Request& request, const Decision& decision, std::optional<std::string> approval_id, WallTime at);
    protocol::PolicyDecisionsResult list() const;

  private:
    struct Entry {
        WallTime at;
        bool whole = true; // the action has its payload
        protocol::Action action;
        protocol::PastDecision said; // all but the time, the action and what follows from it
    };
    static protocol::PastDecision shown(const Entry& entry);
    static void add_newest(const std::deque<Entry>& entries, std::vector<protocol::PastDecision>& list);

    std::int64_t count_ = 0;
    std::deque<Entry> answered_; // oldest first
    std::deque<Entry> others_;
};

} // namespace cellgate::gate
