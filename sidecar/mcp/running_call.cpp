#include "running_call.hpp"

#include "base/sync.hpp"
#include "elicitation_wire.hpp"

#include <fmt/format.h>

#include <utility>

namespace cellgate::mcp {

namespace {

constexpr std::size_t max_waiting = 8;
constexpr std::size_t max_asked = 64;
constexpr std::size_t max_pages_visited = 8; // before one call
constexpr std::size_t max_complete = 64;

Task<void> until_done(Event* done) {
    co_await done->wait();
}

} // namespace

struct RunningCall::Asked {
    Event done;
    ElicitationAnswer answer;
    std::exception_ptr error;
};

Task<RawJson> RunningCall::ask(std::shared_ptr<RunningCall> call, RawJson params) {
    ElicitationQuestion question = read_question(params);
    std::shared_ptr<CancelState> task;
    const ElicitationAnswer answer = co_await call->ask_bounded(std::move(question), &task);
    co_return answer_result(answer);
}

Task<ElicitationAnswer> RunningCall::ask_bounded(ElicitationQuestion question, std::shared_ptr<CancelState>* task) {
    ElicitationAnswer declined;
    if (!follower_) {
        co_return declined;
    }
    if (ended_ || waiting_ >= max_waiting || asked_ >= max_asked) {
        follower_->on_not_asked(fmt::format(
            "the tool server asks too much: at most {} questions at a time, and {} in a call", max_waiting, max_asked));
        co_return declined;
    }
    ++asked_;
    ++waiting_;
    const auto asked = std::make_shared<Asked>();
    *task = questions_.spawn(ask_into(asked, std::move(question)));
    std::exception_ptr cancelled;
    try {
        co_await asked->done.wait();
    } catch (const Cancelled&) {
        cancelled = std::current_exception();
    }
    if (cancelled) {
        (*task)->cancel();
        co_await shielded(until_done(&asked->done));
        std::rethrow_exception(cancelled);
    }
    if (asked->error) {
        std::rethrow_exception(asked->error);
    }
    co_return asked->answer;
}

Task<void> RunningCall::ask_into(std::shared_ptr<Asked> asked, ElicitationQuestion question) {
    try {
        asked->answer = co_await follower_->ask(std::move(question));
    } catch (const Error&) {
        asked->error = std::current_exception();
    }
    --waiting_;
    asked->done.set();
}

Task<bool> RunningCall::ask_for_pages(std::shared_ptr<RunningCall> call, RawJson data) {
    std::vector<PageToVisit> pages = read_pages(data);
    if (pages.size() > max_pages_visited) {
        throw Error(ErrorCode::invalid_params,
                    fmt::format("expected at most {} pages, found {}", max_pages_visited, pages.size()));
    }
    for (PageToVisit& page : pages) {
        const bool visited =
            co_await call->visit(std::move(page.elicitation_id), std::move(page.url), std::move(page.message));
        if (!visited) {
            co_return false;
        }
    }
    co_return true;
}

Task<bool> RunningCall::visit(std::string id, std::string url, std::string message) {
    ElicitationQuestion open;
    open.message = std::move(message);
    open.url = std::move(url);
    std::shared_ptr<CancelState> task;
    ElicitationAnswer answer = co_await ask_bounded(std::move(open), &task);
    if (answer.action != ElicitationAction::accept) {
        co_return false;
    }
    if (complete_.contains(id)) {
        co_return true;
    }
    // The server's word that the page has done its work also ends this question.
    ElicitationQuestion done;
    done.message = "When what the page asked for is done, accept: then the tool is called again.";
    done.requested_schema = RawJson::checked(R"({"type":"object","properties":{}})");
    confirming_ = id;
    try {
        answer = co_await ask_bounded(std::move(done), &confirming_task_);
    } catch (const Cancelled&) {
        if (!complete_.contains(id)) {
            throw;
        }
    }
    confirming_.clear();
    co_return answer.action == ElicitationAction::accept;
}

void RunningCall::on_page_complete(const std::string& elicitation_id) {
    if (complete_.size() < max_complete) {
        complete_.insert(elicitation_id);
    }
    if (!confirming_.empty() && confirming_ == elicitation_id && confirming_task_) {
        const std::shared_ptr<CancelState> task = confirming_task_;
        task->cancel();
    }
}

Task<void> RunningCall::end() {
    ended_ = true;
    co_await cancel_and_join(questions_);
}

} // namespace cellgate::mcp
