// The answers that a security key confirms.

#include "base/enum_name.hpp"
#include "base/hash.hpp"
#include "base/json_codec.hpp"
#include "base/sync.hpp"
#include "gate/question_lines.hpp"
#include "gate_impl.hpp"

#include <fmt/format.h>

namespace cellgate::gate {

namespace {

// Each of them takes some lines of the text, which the record keeps with each.
constexpr std::size_t max_confirmed = Gate::max_pending_per_session;

// Sets `settled` once one of the requests is.
Task<void> watch(PendingRequestPtr entry, std::shared_ptr<Event> settled) {
    co_await entry->settled.wait();
    settled->set();
}

} // namespace

std::string confirmation_text(const protocol::ApprovalRespondParams& params, const Answer& answer) {
    std::string text = "cellgate approval\n";
    for (const Answer::One& one : answer.each) {
        text += fmt::format("id {}\n", one.entry->approval.approval_id);
    }
    text += fmt::format("decision allow\nscope {}\n", enum_name(*params.scope));
    if (params.rule) {
        text += fmt::format("rule {}\n", sha256(to_json(*params.rule)));
    }
    for (const Answer::One& one : answer.each) {
        std::string shown;
        for (const std::string& line : question_lines(one.entry->approval)) {
            shown += line + "\n";
        }
        text += fmt::format("payload {}\nshown {}\n",
                            payload_hash(one.edited ? *one.edited : one.entry->request.action), sha256(shown));
    }
    return text;
}

Task<CheckedAnswer> Gate::Impl::confirmed(std::shared_ptr<Impl> self, const protocol::ApprovalRespondParams* params,
                                          CheckedAnswer checked) {
    if (self->options.confirmer == nullptr) {
        throw Error(ErrorCode::not_confirmed, "expected a security key to confirm the answer, found none");
    }
    if (checked.answer.each.size() > max_confirmed) {
        throw Error(ErrorCode::not_confirmed,
                    fmt::format("expected at most {} approvals in an answer that is confirmed, "
                                "found {}",
                                max_confirmed, checked.answer.each.size()),
                    "answer fewer at a time");
    }
    const std::string text = confirmation_text(*params, checked.answer);
    const auto settled = std::make_shared<Event>();
    TaskScope watching;
    for (const Answer::One& one : checked.answer.each) {
        watching.spawn(watch(one.entry, settled));
    }
    checked.lock.reset();
    Task<protocol::Confirmation> confirming = self->options.confirmer->confirm(text);
    std::optional<protocol::Confirmation> confirmation =
        co_await finally(unless(settled.get(), std::move(confirming)), cancel_and_join(watching));
    self->refresh();
    CheckedAnswer again = co_await take_turn(self, params);
    if (!confirmation || confirmation_text(*params, again.answer) != text) {
        throw Error(ErrorCode::not_confirmed, "what was to be confirmed has changed meanwhile", "answer it again");
    }
    again.answer.confirmation = std::move(confirmation);
    co_return again;
}

} // namespace cellgate::gate
