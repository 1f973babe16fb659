#pragma once
// `PromptQueue` asks the user at the terminal one question after another, of whatever kind. A `Prompt` is one of them.
// A question that ends elsewhere is withdrawn, also while it is on the screen.

#include "output_printer.hpp"
#include "terminal.hpp"

#include <deque>
#include <memory>
#include <string>

namespace cellgate::cli {

class Prompt {
  public:
    explicit Prompt(std::string id) : id_(std::move(id)) {}
    Prompt(const Prompt&) = delete;
    Prompt& operator=(const Prompt&) = delete;
    virtual ~Prompt() = default;

    const std::string& id() const { return id_; } // unique among all prompts
    virtual std::string heading(std::size_t columns) const = 0;
    // Asks once. Whether the question is answered.
    virtual Task<bool> ask() = 0;

  private:
    std::string id_;
};

class PromptQueue {
  public:
    PromptQueue(Terminal& terminal, OutputPrinter& printer) : terminal_(terminal), printer_(printer) {}

    void add(std::shared_ptr<Prompt> prompt);
    void withdraw(const std::string& id);
    // Sends the answer to the prompt on the screen. Whether that ended the question; an error is shown.
    Task<bool> send(Task<void> answer);
    // Withdraws all; asks nothing any more.
    Task<void> close();

    Terminal& terminal() { return terminal_; }

  private:
    Task<void> ask_all();
    Task<void> ask(std::shared_ptr<Prompt> prompt);

    Terminal& terminal_;
    OutputPrinter& printer_;
    std::deque<std::shared_ptr<Prompt>> waiting_;
    bool closed_ = false;
    bool at_work_ = false; // ask_all() is running
    std::string asking_;   // the id of the prompt on the screen, unless its answer is being sent
    std::shared_ptr<CancelState> question_;
    TaskScope tasks_;
};

} // namespace cellgate::cli
