#pragma once
// `KernelClient` is the client of one running kernel: requests on shell and control, output from iopub, prompts on
// stdin. All messages are read at once, however slow the listener's readers are, so a kernel never waits for the
// sidecar. Invalid messages (bad signature, frames, size) are dropped and counted; unknown types are ignored. close()
// must have been awaited before a client is destroyed.

#include "base/clock.hpp"
#include "base/task.hpp"
#include "jupyter/kernel_query.hpp"
#include "jupyter/kernel_transport.hpp"
#include "jupyter/output.hpp"

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace cellgate::jupyter {

struct InputRequest {
    std::uint64_t id = 0; // ours, for reply_input()
    std::string parent;   // the asking execution according to the kernel
    std::string prompt;
    bool password = false;
};

// `KernelListener` receives a client's messages, in the order of arrival. `parent` is the msg_id of the causing request
// according to the kernel: it may name an execution that has ended (a thread that prints), or be made up. Must outlive
// the client.
struct KernelListener {
    virtual ~KernelListener() = default;
    virtual void on_output(const std::string& parent, Output output) = 0;
    virtual void on_input_request(InputRequest request) = 0;
    // A message of a comm: comm_open, comm_msg or comm_close, with its content, a JSON object.
    virtual void on_comm(const std::string& /*type*/, std::string /*content*/) {}
    // The connection was cut and made again. A server may drop messages until it has joined all channels again.
    virtual void on_reconnected() {}
};

struct ExecuteRequest {
    std::string msg_id; // the execution's id; never used twice
    std::string code;
    bool silent = false;
    bool store_history = true;
    bool allow_stdin = true;
    // Makes the kernel abort the queued requests after an error. ipykernel then also aborts a request sent just after
    // the error's idle, so callers with their own queue leave it off.
    bool stop_on_error = false;
};

enum class ExecuteStatus { ok, error, aborted };

struct ExecuteReply {
    ExecuteStatus status = ExecuteStatus::ok;
    std::int64_t execution_count = 0;
    std::optional<KernelError> error; // when status is error
    bool asks_exit = false;           // the code ends its kernel
    // Outputs of the reply itself: a pager's text, the next input, an error that was not shown otherwise.
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
    // `print_function` as in ConnectionInfo.
    KernelClient(Clock& clock, std::unique_ptr<KernelTransport> transport, KernelListener& listener,
                 std::string print_function = {});
    ~KernelClient();

    // Asks for kernel_info until both a reply and an iopub message have come: before that, output could be missed.
    // Throws Error{kernel_start_failed} at `deadline`.
    Task<KernelInfoReply> wait_ready(Instant deadline);

    // Returns once the kernel has replied and reported idle for this request: all its output has been delivered.
    // Cancelling stops the wait, not the code. Throws the error given to fail().
    Task<ExecuteReply> execute(ExecuteRequest request);

    // The content of the reply. Throws Error{unsupported} when the kernel fails to answer, Error{busy} when it has not
    // at `deadline`, and the error given to fail(). A query counts as unanswered() until the kernel is done with it,
    // even after the caller stopped waiting.
    Task<std::string> ask(KernelQuery query, Instant deadline);
    std::size_t unanswered() const;

    // Answers a prompt; an empty `value` raises EOFError in the kernel. An answer to any but the latest prompt is
    // dropped, so that it cannot answer another prompt.
    void reply_input(std::uint64_t id, std::optional<std::string> value);

    // Sends a message of a comm. `channel`: shell, where it waits for the code that runs, or control.
    void send_comm(Channel channel, std::string_view type, std::string_view content);

    void interrupt();
    void request_shutdown(bool restart);

    // Ends all current and future waits with `error`: the kernel is gone.
    void fail(std::exception_ptr error);

    // The number of messages received so far, and of dropped ones among them.
    std::uint64_t received() const;
    std::uint64_t dropped() const;

    Task<void> close();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace cellgate::jupyter
