#pragma once
// `RunningCall` is a call of a tool that waits for its result, and the questions that its server asks meanwhile: at
// most 8 wait for the user at a time, and 64 are asked in all; the others are declined. They end with the call.

#include "base/raw_json.hpp"
#include "base/task.hpp"
#include "mcp/call_follower.hpp"

#include <cstddef>
#include <memory>
#include <set>
#include <string>

namespace cellgate::mcp {

class RunningCall {
  public:
    // `follower` may be nullptr: then no user is asked.
    explicit RunningCall(std::shared_ptr<CallFollower> follower) : follower_(std::move(follower)) {}
    RunningCall(const RunningCall&) = delete;
    RunningCall& operator=(const RunningCall&) = delete;

    std::string trace_parent() const { return follower_ ? follower_->trace_parent() : std::string(); }
    bool wants_progress() const { return follower_ && follower_->wants_progress(); }
    void on_progress(const CallProgress& progress) { follower_->on_progress(progress); }

    // The result of elicitation/create. Throws Error{invalid_params} for params that cannot be shown, and Cancelled
    // once the call has ended. Cancelling withdraws the question.
    static Task<RawJson> ask(std::shared_ptr<RunningCall> call, RawJson params);
    // Asks for each page that a server wants to have been visited before the call, and until the user has been there.
    // False if one was not opened. Throws Error{invalid_params} for `data` that names none.
    static Task<bool> ask_for_pages(std::shared_ptr<RunningCall> call, RawJson data);
    // The server reports that the page of this id has done its work.
    void on_page_complete(const std::string& elicitation_id);
    // Withdraws what is asked.
    Task<void> end();

    std::string request_id; // of the request that carries it now, as JSON

  private:
    struct Asked;

    // Sets `task` to what cancels the question.
    Task<ElicitationAnswer> ask_bounded(ElicitationQuestion question, std::shared_ptr<CancelState>* task);
    Task<void> ask_into(std::shared_ptr<Asked> asked, ElicitationQuestion question);
    Task<bool> visit(std::string id, std::string url, std::string message);

    std::shared_ptr<CallFollower> follower_;
    std::size_t asked_ = 0;
    std::size_t waiting_ = 0;
    bool ended_ = false;
    std::set<std::string> complete_; // pages
    std::string confirming_;         // the page whose end the user is asked for
    std::shared_ptr<CancelState> confirming_task_;
    TaskScope questions_;
};

} // namespace cellgate::mcp
