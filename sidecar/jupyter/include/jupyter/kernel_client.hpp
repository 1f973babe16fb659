#pragma once
// The client of one running kernel: requests on shell and control, output from iopub, prompts on stdin. Everything that
// the kernel sends is taken at once, however slowly the listener's own readers are, so a kernel never waits for us.
// Messages that are not a kernel's (bad signature, frames, size) are dropped and counted; unknown types are ignored.
// close() must have been awaited before a client goes.

#include "async/loop.hpp"
#include "base/clock.hpp"
#include "base/task.hpp"
#include "jupyter/connection.hpp"
#include "jupyter/output.hpp"
#include "jupyter/question.hpp"
#include "jupyter/wire.hpp"

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace cellgate::jupyter {

struct InputRequest {
    std::uint64_t id = 0; // ours, for reply_input()
    std::string parent;   // the execution that asks, by the kernel's word
    std::string prompt;
    bool password = false;
};

// Where a client delivers, in the order of arrival. `parent` is the msg_id of the request that caused it by the
// kernel's word: it may be an execution that has ended (a thread that prints), or made up. Must outlive the client.
struct KernelListener {
    virtual ~KernelListener() = default;
    virtual void on_output(const std::string& parent, Output output) = 0;
    virtual void on_input_request(InputRequest request) = 0;
};

struct ExecuteRequest {
    std::string msg_id; // the execution's id; never used twice
    std::string code;
    bool silent = false;
    bool store_history = true;
    bool allow_stdin = true;
    // Makes the kernel abort the requests that wait behind an error. ipykernel then also aborts one that is sent in the
    // moment after the error's idle: who queues on this side leaves it off.
    bool stop_on_error = false;
};

enum class ExecuteStatus { ok, error, aborted };

struct ExecuteReply {
    ExecuteStatus status = ExecuteStatus::ok;
    std::int64_t execution_count = 0;
    std::optional<KernelError> error; // when status is error
    bool asks_exit = false;           // the code ends its kernel, which is about to go
    // That came with the reply: a pager's text, the next input, an error that was shown nowhere.
    std::vector<Output> outputs;
};

struct KernelInfoReply {
    std::string implementation; // "ipython"
    std::string implementation_version;
    std::string language;
    std::string language_version;
};

class KernelClient {
  public:
    KernelClient(async::Loop& loop, Clock& clock, const ConnectionInfo& connection, KernelListener& listener);
    ~KernelClient();

    // Asks for kernel_info until both a reply and an iopub message have come: before that, output could be missed.
    // Throws Error{kernel_start_failed} at `deadline`.
    Task<KernelInfoReply> wait_ready(Instant deadline);

    // Returns once the kernel has replied and reported idle for this request: every output of it has been delivered.
    // Cancelling stops the waiting, not the code. Throws what fail() was given.
    Task<ExecuteReply> execute(ExecuteRequest request);

    // The content of the reply. Throws Error{unsupported} when the kernel fails to answer, Error{busy} when it has not
    // at `deadline`, and what fail() was given. Whoever waits or not, a question is unanswered() until the kernel is
    // done.
    Task<std::string> ask(Question question, Instant deadline);
    std::size_t unanswered() const;

    // Answers a prompt; nothing as `value` raises EOFError in the kernel. An answer to any but the latest prompt is
    // dropped, so that it cannot become the answer to another question.
    void reply_input(std::uint64_t id, std::optional<std::string> value);

    void interrupt();
    void request_shutdown(bool restart);

    // Ends all waits, present and future, with `error`: the kernel is gone.
    void fail(std::exception_ptr error);

    // Messages received so far, and of these dropped.
    std::uint64_t received() const;
    std::uint64_t dropped() const;

    Task<void> close();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace cellgate::jupyter
