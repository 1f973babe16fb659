#include "columns.hpp"
#include "decisions.hpp"
#include "display.hpp"

namespace cellgate::gate {

namespace {

constexpr std::size_t max_reason_columns = 400;

} // namespace

protocol::PastDecision past_decision(const Request& request, const Decision& decision,
                                     const std::optional<std::string>& approval_id) {
    protocol::PastDecision past;
    past.number = decision.action_id;
    past.decision = decision.allowed ? protocol::Verdict::allow : protocol::Verdict::deny;
    past.by = decision.by;
    past.edited = decision.edited ? std::optional(true) : std::nullopt;
    past.rule = decision.rule;
    past.reason = cut_to_line(decision.reason, max_reason_columns);
    past.display = title_lines(decision.action);
    past.approval_id = approval_id;
    past.confirmation = decision.confirmation;
    past.session_id = request.session_id;
    past.execution_id = request.execution_id;
    past.agent = name_of(request.agent);
    past.origin = request.origin;
    if (past.origin) {
        past.origin->uri.reset(); // its length was chosen by the client that ran the cell
        past.origin->text = cut_to_line(past.origin->text, max_source_columns);
    }
    return past;
}

} // namespace cellgate::gate
