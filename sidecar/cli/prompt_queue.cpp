#include "prompt_queue.hpp"

#include "base/escape_unprintable.hpp"
#include "prompt_text.hpp"

namespace cellgate::cli {

namespace {

// What code printed before it asked is above the question: Python's kernel sends it a fifth of a second later.
constexpr Duration output_delay = std::chrono::milliseconds(300);

bool means_ended(ErrorCode code) {
    return code == ErrorCode::approval_resolved || code == ErrorCode::approval_not_found ||
           code == ErrorCode::elicitation_not_found;
}

} // namespace

void PromptQueue::add(std::shared_ptr<Prompt> prompt) {
    if (closed_) {
        return;
    }
    waiting_.push_back(std::move(prompt));
    if (!std::exchange(at_work_, true)) {
        tasks_.spawn(ask_all());
    }
}

void PromptQueue::withdraw(const std::string& id) {
    std::erase_if(waiting_, [&](const std::shared_ptr<Prompt>& prompt) { return prompt->id() == id; });
    if (asking_ == id && question_) {
        const std::shared_ptr<CancelState> question = question_;
        question->cancel();
    }
}

Task<void> PromptQueue::ask_all() {
    co_await sleep_for(terminal_.clock(), output_delay);
    printer_.pause();
    TaskScope questions;
    while (!waiting_.empty()) {
        std::shared_ptr<Prompt> prompt = std::move(waiting_.front());
        waiting_.pop_front();
        asking_ = prompt->id();
        question_ = questions.spawn(ask(std::move(prompt)));
        co_await shielded(questions.join());
        asking_.clear();
        question_.reset();
    }
    at_work_ = false;
    printer_.resume();
}

Task<void> PromptQueue::ask(std::shared_ptr<Prompt> prompt) {
    bool shown = false;
    bool answered = false;
    bool withdrawn = false;
    try {
        const Mutex::Lock turn = co_await terminal_.turn();
        terminal_.write(prompt->heading(terminal_.columns()));
        shown = true;
        co_await terminal_.let_read();
        while (!answered) {
            answered = co_await prompt->ask();
        }
    } catch (const Cancelled&) {
        withdrawn = true;
    }
    if (withdrawn && shown) {
        terminal_.write("\n  (the question was withdrawn)\n");
    }
}

Task<bool> PromptQueue::send(Task<void> answer) {
    std::string problem;
    std::string hint;
    bool ended = true;
    // That our own answer resolves it does not withdraw the question.
    const std::string asking = std::exchange(asking_, {});
    try {
        co_await std::move(answer);
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& error) {
        ended = means_ended(error.code);
        problem = error.message;
        hint = ended ? std::string() : error.hint;
    }
    if (!problem.empty()) {
        for (const std::string& words : {problem, hint}) {
            if (!words.empty()) {
                terminal_.write(prompt_lines(escape_unprintable(words), terminal_.columns()));
            }
        }
        asking_ = asking;
    }
    co_return ended;
}

Task<void> PromptQueue::close() {
    closed_ = true;
    waiting_.clear();
    if (const std::shared_ptr<CancelState> question = question_) {
        question->cancel();
    }
    co_await tasks_.join();
}

} // namespace cellgate::cli
