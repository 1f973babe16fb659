#pragma once
// `Decisions` is the bounded decision history: a user sees there also what was decided without an approval, and by
// which rule. Code can cause as many decisions without an answer as it likes (by calls that rules decide, or that it
// withdraws); these are kept apart, so they cannot push users' answers out of the history.

#include "gate/record_sink.hpp"

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::gate {

// The decision as it is kept: all but the action itself, the time and the outcome.
protocol::PastDecision past_decision(const Request& request, const Decision& decision,
                                     const std::optional<std::string>& approval_id);

class Decisions final : public RecordSink {
  public:
    static constexpr std::size_t max_answered = 100;
    static constexpr std::size_t max_others = 200;
    // A larger payload or display is left out of the history.
    static constexpr std::size_t max_payload_bytes = std::size_t{8} << 10;
    static constexpr std::size_t max_display_bytes = std::size_t{32} << 10;
    // Of a list as JSON: half for each kind. Decisions that do not fit count as forgotten.
    static constexpr std::size_t max_list_bytes = std::size_t{8} << 20;

    void on_decided(const Decision& decision, const protocol::PastDecision& past) override;
    void on_ended(ActionId action, const protocol::Outcome& outcome) override;
    protocol::PolicyDecisionsResult list() const;

  private:
    struct Entry {
        bool whole = true; // the action has its payload
        Action action;
        protocol::PastDecision said; // all but the action and its display
    };
    static protocol::PastDecision shown(const Entry& entry);
    static void add_newest(const std::deque<Entry>& entries, std::vector<protocol::PastDecision>& list);

    ActionId count_ = 0;
    std::deque<Entry> answered_; // oldest first, so by number
    std::deque<Entry> others_;
};

} // namespace cellgate::gate
