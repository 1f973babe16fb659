#include "jupyter/kernel_client.hpp"

#include "base/escape_unprintable.hpp"
#include "base/log.hpp"
#include "base/names.hpp"
#include "base/sync.hpp"
#include "kernel_messages.hpp"
#include "output_flush.hpp"
#include "output_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace cellgate::jupyter {

namespace {

using namespace std::chrono_literals;

// iopub joins later than shell answers; until it has, each request's messages on it would be lost.
constexpr Duration nudge_interval = 5ms;
// How often to look for the kernel's sockets until it has bound them.
constexpr Duration connect_interval = 2ms;
constexpr Duration first_answer_interval = 2s;
// How long after one half of an execution's end the client probes for the other half.
constexpr Duration half_end_patience = 1s;
// After this many, other coroutines get their turn.
constexpr std::size_t messages_per_turn = 64;
constexpr std::size_t large_message = std::size_t{1} << 20;
constexpr std::size_t bytes_per_turn = std::size_t{4} << 20;
// Bytes read from the kernel ahead of their handling.
constexpr std::size_t max_output_ahead_bytes = std::size_t{4} << 20;

// An execution whose end is awaited. The end has two halves, the reply on shell and the idle on iopub.
struct Pending {
    std::optional<ExecuteReply> reply;
    bool idle = false;
    std::optional<KernelError> shown_error; // from iopub
    std::string probe;                      // msg_id of a later request: messages that it overtakes are lost
    Event changed;
};

// A query, until the kernel has replied or, after a failure, is idle again.
struct PendingQuery {
    std::string reply_type;
    std::optional<std::string> reply;
    bool idle = false;
    bool awaited = true;
    Event changed; // or the kernel is gone
};
using PendingQueries = std::map<std::string, std::shared_ptr<PendingQuery>>;

// The caller that waits for a query.
struct QueryWaiter {
    PendingQueries& queries;
    std::string msg_id;
    ~QueryWaiter() {
        const auto found = queries.find(msg_id);
        if (found != queries.end()) {
            found->second->awaited = false;
            if (found->second->idle) {
                queries.erase(found);
            }
        }
    }
};

using Pendings = std::map<std::string, std::shared_ptr<Pending>>;

struct Registration {
    Pendings& pendings;
    const std::string& msg_id;
    ~Registration() { pendings.erase(msg_id); }
};

} // namespace

struct KernelClient::Impl {
    Impl(async::Loop& loop_in, Clock& clock_in, const ConnectionInfo& connection, KernelListener& listener_in)
        : loop(loop_in), clock(clock_in), listener(listener_in), key(connection.key), session(random_id()),
          shell(loop, async::ZmqType::dealer, session, max_wire_bytes),
          control(loop, async::ZmqType::dealer, session, max_wire_bytes),
          iopub(loop, async::ZmqType::sub, {}, max_wire_bytes),
          // The kernel asks the identity that sent the code.
          stdin_socket(loop, async::ZmqType::dealer, session, max_wire_bytes), flush(connection.print_function),
          receivers([this](std::exception_ptr error) { fail(std::move(error)); }) {
        if (connection.kernel_keeps_output) {
            iopub.leave_with_sender(max_output_ahead_bytes);
        }
        receivers.spawn(connect(connection));
        receivers.spawn(receive(&iopub, &Impl::on_iopub));
        receivers.spawn(receive(&shell, &Impl::on_shell));
        receivers.spawn(receive(&stdin_socket, &Impl::on_stdin));
        receivers.spawn(receive(&control, &Impl::on_control));
    }

    // Connects to each socket once the kernel has bound it, in this order. Earlier messages are queued. A kernel binds
    // all of them at about the same time, long before it answers, so one look at a time is enough.
    Task<void> connect(ConnectionInfo connection) {
        const std::array<std::pair<Channel, async::ZmqSocket*>, 4> awaited = {{{Channel::shell, &shell},
                                                                               {Channel::control, &control},
                                                                               {Channel::iopub, &iopub},
                                                                               {Channel::stdin_, &stdin_socket}}};
        for (const auto& [channel, socket] : awaited) {
            std::optional<KernelSocket> opened = open_socket(connection, channel);
            while (!opened) {
                co_await sleep_for(loop.clock(), connect_interval);
                opened = open_socket(connection, channel);
            }
            socket->connect(opened->endpoint());
            opened_sockets.push_back(std::move(*opened));
        }
    }

    using Handler = void (Impl::*)(WireMessage message);

    Task<void> receive(async::ZmqSocket* socket, Handler handler) {
        WireReader reader(key);
        std::size_t messages = 0;
        std::size_t bytes = 0;
        while (true) {
            async::ZmqMessage frames = co_await socket->receive();
            ++received;
            std::size_t size = 0;
            for (const std::string& frame : frames) {
                size += frame.size();
            }
            bytes += size;
            // Reading, checking and delivering a large message each take long enough for one turn.
            const bool large = size >= large_message;
            if (large) {
                co_await loop.yield();
            }
            std::optional<WireMessage> message = read(reader, std::move(frames));
            if (large) {
                co_await loop.yield();
            }
            if (message) {
                (this->*handler)(std::move(*message));
            }
            if (++messages >= messages_per_turn || bytes >= bytes_per_turn) {
                messages = 0;
                bytes = 0;
                co_await loop.yield();
            }
        }
    }

    std::optional<WireMessage> read(WireReader& reader, async::ZmqMessage frames) {
        try {
            return reader.read(std::move(frames));
        } catch (const Error& error) {
            drop(error.message);
            return std::nullopt;
        }
    }

    // A hostile kernel can send any number of these: only the first and every power of two are logged.
    void drop(const std::string& why) {
        if (std::has_single_bit(++dropped)) {
            log_warning("dropped a message of the kernel ({} so far): {}", dropped, escape_unprintable(why));
        }
    }

    std::string send(async::ZmqSocket& socket, std::string_view type, std::string_view content,
                     std::string msg_id = random_id(), std::string_view parent = "{}") {
        const Header header{std::move(msg_id), std::string(type)};
        socket.send(encode_message(key, header, parent, content, session));
        return header.msg_id;
    }

    Pending* pending_of(const std::string& parent) {
        const auto found = pendings.find(parent);
        return found == pendings.end() ? nullptr : found->second.get();
    }
    Pending* probing_with(const std::string& parent) {
        for (const auto& [msg_id, pending] : pendings) {
            if (!parent.empty() && pending->probe == parent) {
                return pending.get();
            }
        }
        return nullptr;
    }

    void on_iopub(WireMessage message) {
        if (!iopub_heard) {
            iopub_heard = true;
            readiness.set();
        }
        if (message.header.msg_type == "status") {
            on_status(message);
        } else if (const std::optional<OutputType> type = output_type(message.header.msg_type);
                   type && flush.take(message)) {
            on_output(*type, message);
        }
    }

    void on_status(const WireMessage& message) {
        std::string state;
        try {
            state = read_execution_state(message.content);
        } catch (const Error& error) {
            drop(message.problem.empty() ? error.message : message.problem);
            return;
        }
        if (state != "idle") {
            return;
        }
        if (const auto found = queries.find(message.parent_id); found != queries.end()) {
            found->second->idle = true;
            found->second->changed.set();
            if (!found->second->awaited) {
                queries.erase(found);
            }
            return;
        }
        Pending* pending = pending_of(message.parent_id);
        if (pending == nullptr) {
            pending = probing_with(message.parent_id);
        }
        if (pending != nullptr) {
            pending->idle = true;
            pending->changed.set();
        }
    }

    void on_output(OutputType type, const WireMessage& message) {
        std::string problem = message.problem;
        if (problem.empty()) {
            try {
                Output output = read_output(type, message.content);
                Pending* pending = type == OutputType::error ? pending_of(message.parent_id) : nullptr;
                if (pending != nullptr) {
                    pending->shown_error = read_error(message.content);
                }
                listener.on_output(message.parent_id, std::move(output));
                return;
            } catch (const Error& error) {
                problem = error.message;
            }
        }
        drop(problem);
        listener.on_output(message.parent_id,
                           notice(fmt::format("an output of type {} was dropped: {}", message.header.msg_type,
                                              escape_unprintable(problem))));
    }

    void on_shell(WireMessage message) {
        if (const auto found = queries.find(message.parent_id); found != queries.end()) {
            if (message.header.msg_type == found->second->reply_type) {
                found->second->reply = std::move(message.content);
                found->second->changed.set();
                queries.erase(found);
            }
        } else if (message.header.msg_type == "execute_reply") {
            Pending* pending = pending_of(message.parent_id);
            if (pending == nullptr || pending->reply) {
                return;
            }
            try {
                pending->reply = read_execute_reply(message.content);
                pending->changed.set();
            } catch (const Error& error) {
                drop(message.problem.empty() ? error.message : message.problem);
            }
        } else if (message.header.msg_type == "kernel_info_reply") {
            on_kernel_info(message);
        }
    }

    void on_kernel_info(const WireMessage& message) {
        Pending* pending = probing_with(message.parent_id);
        if (pending != nullptr && !pending->reply) {
            pending->reply = lost_reply(std::move(pending->shown_error));
            pending->changed.set();
        }
        if (info) {
            return;
        }
        try {
            info = read_kernel_info(message.content);
            readiness.set();
        } catch (const Error& error) {
            drop(message.problem.empty() ? error.message : message.problem);
        }
    }

    void on_stdin(WireMessage message) {
        if (message.header.msg_type != "input_request") {
            return;
        }
        InputRequest request;
        try {
            request = read_input_request(message.content);
        } catch (const Error& error) {
            drop(message.problem.empty() ? error.message : message.problem);
            return;
        }
        request.id = ++last_prompt;
        request.parent = std::move(message.parent_id);
        prompt_header = std::move(message.header_text);
        listener.on_input_request(std::move(request));
    }

    void on_control(WireMessage) {} // Replies to interrupt and shutdown: their effect is what counts.

    void fail(std::exception_ptr error) {
        if (failure) {
            return;
        }
        failure = std::move(error);
        readiness.set();
        flush.stop();
        const Pendings all = pendings;
        for (const auto& [msg_id, pending] : all) {
            pending->changed.set();
        }
        for (const auto& [msg_id, pending] : queries) {
            pending->changed.set();
        }
    }

    void check_alive() const {
        if (failure) {
            std::rethrow_exception(failure);
        }
    }

    async::Loop& loop;
    Clock& clock;
    KernelListener& listener;
    std::string key;
    std::string session;
    std::vector<KernelSocket> opened_sockets; // as long as the sockets may connect to them again
    async::ZmqSocket shell;
    async::ZmqSocket control;
    async::ZmqSocket iopub;
    async::ZmqSocket stdin_socket;

    Pendings pendings;
    PendingQueries queries;
    OutputFlush flush;
    std::optional<KernelInfoReply> info;
    bool iopub_heard = false;
    Event readiness;
    std::exception_ptr failure;
    std::uint64_t last_prompt = 0;
    std::optional<std::string> prompt_header; // of a prompt that has no answer yet
    std::uint64_t received = 0;
    std::uint64_t dropped = 0;
    TaskScope receivers;
};

KernelClient::KernelClient(async::Loop& loop, Clock& clock, const ConnectionInfo& connection, KernelListener& listener)
    : impl_(std::make_unique<Impl>(loop, clock, connection, listener)) {}

KernelClient::~KernelClient() = default;

Task<KernelInfoReply> KernelClient::wait_ready(Instant deadline) {
    Impl& impl = *impl_;
    while (true) {
        impl.check_alive();
        if (impl.info && impl.iopub_heard) {
            co_return *impl.info;
        }
        const Instant now = impl.clock.now();
        if (now >= deadline) {
            throw Error(ErrorCode::kernel_start_failed,
                        impl.info ? "the kernel answers, but its output channel (iopub) sends nothing"
                        : impl.opened_sockets.empty()
                            ? "the kernel did not make the sockets that its connection file names"
                            : "the kernel did not answer in time");
        }
        impl.send(impl.shell, "kernel_info_request", "{}");
        impl.readiness.reset();
        const Duration interval = impl.info ? nudge_interval : first_answer_interval;
        co_await wait_until(impl.clock, impl.readiness, std::min(deadline, now + interval));
    }
}

Task<ExecuteReply> KernelClient::execute(ExecuteRequest request) {
    Impl& impl = *impl_;
    impl.check_alive(); // Before anything is sent: the sockets may be closed.
    const auto pending = std::make_shared<Pending>();
    if (!impl.pendings.emplace(request.msg_id, pending).second) {
        throw Error(ErrorCode::execution_exists, fmt::format("the execution {} runs already", request.msg_id));
    }
    const Registration registration{impl.pendings, request.msg_id};
    impl.send(impl.shell, "execute_request", execute_request_content(request), request.msg_id);
    Duration patience = half_end_patience;
    while (!pending->reply || !pending->idle) {
        impl.check_alive();
        pending->changed.reset();
        if (!pending->reply && !pending->idle) {
            co_await pending->changed.wait();
            continue;
        }
        const bool other_half = co_await wait_until(impl.clock, pending->changed, impl.clock.now() + patience);
        if (!other_half) {
            // One half has arrived and the other has not. Each socket keeps its order: when the answer to a later
            // request arrives first, the missing half is lost (dropped, or never sent).
            pending->probe = impl.send(impl.shell, "kernel_info_request", "{}");
            patience *= 2;
        }
    }
    if (impl.flush.is_needed()) {
        ExecuteRequest after{
            .msg_id = random_id(), .code = {}, .silent = true, .store_history = false, .allow_stdin = false};
        after.code = impl.flush.begin(request.msg_id, after.msg_id);
        impl.send(impl.shell, "execute_request", execute_request_content(after), after.msg_id);
        co_await impl.flush.arrived(impl.clock, impl.received);
    }
    ExecuteReply reply = std::move(*pending->reply);
    if (reply.error && !pending->shown_error && !reply.error->was_printed) {
        reply.outputs.push_back(error_output(*reply.error));
    }
    co_return reply;
}

Task<std::string> KernelClient::ask(KernelQuery query, Instant deadline) {
    Impl& impl = *impl_;
    impl.check_alive();
    const auto pending = std::make_shared<PendingQuery>();
    pending->reply_type = query.type + "_reply";
    const std::string msg_id = impl.send(impl.shell, query.type + "_request", query.content);
    impl.queries.emplace(msg_id, pending);
    const QueryWaiter attention{impl.queries, msg_id};
    while (!pending->reply) {
        impl.check_alive();
        pending->changed.reset();
        const bool changed = co_await wait_until(impl.clock, pending->changed, deadline);
        if (!changed && pending->idle) {
            throw Error(ErrorCode::unsupported, "the kernel failed to answer");
        }
        if (!changed) {
            throw Error(ErrorCode::busy, "the kernel did not answer in time", "ask again later, or interrupt it");
        }
        if (pending->idle) {
            deadline = std::min(deadline, impl.clock.now() + half_end_patience); // the reply comes on another socket
        }
    }
    co_return std::move(*pending->reply);
}

std::size_t KernelClient::unanswered() const {
    return impl_->queries.size();
}

void KernelClient::reply_input(std::uint64_t id, std::optional<std::string> value) {
    if (id != impl_->last_prompt || !impl_->prompt_header) {
        return;
    }
    const std::string parent = std::move(*impl_->prompt_header);
    impl_->prompt_header.reset();
    // A lone ^D means end of file in Jupyter.
    const std::string content = input_reply_content(std::move(value).value_or("\x04"));
    impl_->send(impl_->stdin_socket, "input_reply", content, random_id(), parent);
}

void KernelClient::interrupt() {
    impl_->send(impl_->control, "interrupt_request", "{}");
}

void KernelClient::request_shutdown(bool restart) {
    impl_->send(impl_->control, "shutdown_request", shutdown_request_content(restart));
}

void KernelClient::fail(std::exception_ptr error) {
    impl_->fail(std::move(error));
}

std::uint64_t KernelClient::received() const {
    return impl_->received;
}
std::uint64_t KernelClient::dropped() const {
    return impl_->dropped;
}

Task<void> KernelClient::close() {
    co_await cancel_and_join(impl_->receivers);
    impl_->shell.close();
    impl_->control.close();
    impl_->iopub.close();
    impl_->stdin_socket.close();
}

} // namespace cellgate::jupyter
