#include "jupyter/kernel_client.hpp"

#include "base/escape_unprintable.hpp"
#include "base/log.hpp"
#include "base/names.hpp"
#include "base/sync.hpp"
#include "cut_notices.hpp"
#include "execution_count.hpp"
#include "kernel_messages.hpp"
#include "output_flush.hpp"
#include "output_reader.hpp"
#include "pending_requests.hpp"

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
constexpr Duration first_answer_interval = 2s;
// How long after one half of an execution's end the client probes for the other half.
constexpr Duration half_end_patience = 1s;

} // namespace

struct KernelClient::Impl final : TransportListener {
    Impl(Clock& clock_in, std::unique_ptr<KernelTransport> transport_in, KernelListener& listener_in,
         std::string print_function)
        : clock(clock_in), transport(std::move(transport_in)), listener(listener_in), flush(std::move(print_function)) {
        connected.set();
        transport->start(*this);
    }

    void on_message(Channel channel, WireMessage message) override {
        ++received;
        switch (channel) {
        case Channel::iopub:
            on_iopub(std::move(message));
            break;
        case Channel::shell:
            on_shell(std::move(message));
            break;
        case Channel::stdin_:
            on_stdin(std::move(message));
            break;
        default:
            break; // Replies to interrupt and shutdown: their effect is what counts.
        }
    }

    void on_invalid(const std::string& why) override {
        ++received;
        drop(why);
    }

    void on_output_lost(const std::string& parent, const std::string& why) override {
        listener.on_output(parent, notice(why));
    }

    void on_cut() override {
        connected.reset();
        was_cut = true;
        notices.cut(clock.now());
    }

    void on_unreachable(const std::string& why) override { tell_running(notices.unreachable(why)); }

    // Requests wait for the answer to this one: until a server has joined all channels again, it may drop messages.
    void on_connected() override {
        notices.connected(clock.now());
        greeting = send(Channel::shell, "kernel_info_request", "{}");
        if (!std::exchange(was_cut, false)) {
            return;
        }
        listener.on_reconnected();
        tell_running(notices.made_again());
        for (const auto& [msg_id, pending] : pendings) {
            pending->probe = greeting;
            pending->was_cut = true;
        }
        for (const auto& [msg_id, pending] : queries) {
            pending->was_cut = true;
        }
    }

    void tell_running(const std::string& text) {
        for (auto each = pendings.begin(); !text.empty() && each != pendings.end(); ++each) {
            listener.on_output(each->first, notice(text));
        }
    }

    void on_failed(std::exception_ptr error) override { fail(std::move(error)); }

    // A hostile kernel can send any number of these: only the first and every power of two are logged.
    void drop(const std::string& why) {
        if (std::has_single_bit(++dropped)) {
            log_warning("dropped a message of the kernel ({} so far): {}", dropped, escape_unprintable(why));
        }
    }

    // What `read` makes of its content. An invalid one is dropped.
    template <class T>
    std::optional<T> valid(const WireMessage& message, T (*read)(std::string_view content)) {
        try {
            return read(message.content);
        } catch (const Error& error) {
            drop(message.problem.empty() ? error.message : message.problem);
            return std::nullopt;
        }
    }

    std::string send(Channel channel, std::string_view type, std::string_view content, std::string msg_id = random_id(),
                     std::string_view parent = "{}") {
        const Header header{std::move(msg_id), std::string(type)};
        transport->send(channel, header, parent, content);
        return header.msg_id;
    }

    Pending* pending_of(const std::string& parent) {
        const auto found = pendings.find(parent);
        return found == pendings.end() ? nullptr : found->second.get();
    }

    std::vector<std::shared_ptr<Pending>> probing_with(const std::string& parent) {
        std::vector<std::shared_ptr<Pending>> probing;
        for (const auto& [msg_id, pending] : pendings) {
            if (!parent.empty() && pending->probe == parent) {
                probing.push_back(pending);
            }
        }
        return probing;
    }

    void on_iopub(WireMessage message) {
        if (!iopub_heard) {
            iopub_heard = true;
            readiness.set();
        }
        if (Pending* pending = pending_of(message.parent_id)) {
            pending->heard = true;
        }
        if (message.header.msg_type == "status") {
            on_status(message);
        } else if (const std::optional<OutputType> type = output_type(message.header.msg_type);
                   type && flush.take(message)) {
            on_output(*type, message);
        } else if (!type && message.header.msg_type.starts_with("comm_")) {
            listener.on_comm(message.header.msg_type, std::move(message.content));
        }
    }

    void on_status(const WireMessage& message) {
        if (valid(message, read_execution_state) != "idle") {
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
        if (Pending* pending = pending_of(message.parent_id)) {
            pending->idle = true;
            pending->changed.set();
            return;
        }
        for (const std::shared_ptr<Pending>& pending : probing_with(message.parent_id)) {
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
                notices.forget();
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
            if (message.header.msg_type == found->second->query.type + "_reply") {
                found->second->reply = std::move(message.content);
                found->second->changed.set();
                queries.erase(found);
            }
        } else if (message.header.msg_type == "execute_reply") {
            Pending* pending = pending_of(message.parent_id);
            if (pending == nullptr || pending->reply) {
                return;
            }
            pending->reply = valid(message, read_execute_reply);
            if (pending->reply && pending->counts) {
                count.replied(pending->reply->execution_count);
            }
            pending->changed.set();
        } else if (message.header.msg_type == "kernel_info_reply") {
            on_kernel_info(message);
        }
    }

    void on_kernel_info(const WireMessage& message) {
        for (const std::shared_ptr<Pending>& pending : probing_with(message.parent_id)) {
            if (!pending->reply) {
                pending->is_lost = pending->was_cut;
                if (!pending->is_lost) {
                    pending->reply = lost_reply(std::move(pending->shown_error));
                }
                pending->changed.set();
            }
        }
        if (message.parent_id == greeting) {
            notices.forget();
            ask_again();
            connected.set();
        }
        if (info) {
            return;
        }
        info = valid(message, read_kernel_info);
        readiness.set();
    }

    // What was on its way when the connection was cut.
    void ask_again() {
        for (auto each = queries.begin(); each != queries.end();) {
            PendingQuery& pending = *each->second;
            if (pending.was_cut && !pending.awaited) {
                each = queries.erase(each);
                continue;
            }
            if (std::exchange(pending.was_cut, false)) {
                pending.idle = false;
                send(Channel::shell, pending.query.type + "_request", pending.query.content, each->first);
            }
            ++each;
        }
    }

    Task<std::string> ask(KernelQuery query, std::optional<Instant> deadline) {
        co_await wait_until(clock, connected, deadline);
        check_alive();
        const auto pending = std::make_shared<PendingQuery>();
        pending->query = std::move(query);
        const std::string msg_id = send(Channel::shell, pending->query.type + "_request", pending->query.content);
        queries.emplace(msg_id, pending);
        const QueryWaiter attention{queries, msg_id};
        while (!pending->reply) {
            check_alive();
            pending->changed.reset();
            const std::optional<Instant> until =
                pending->lacks_reply() ? std::min(deadline.value_or(Instant::max()), clock.now() + half_end_patience)
                                       : deadline;
            const bool changed = co_await wait_until(clock, pending->changed, until);
            if (!changed && pending->lacks_reply()) {
                throw Error(ErrorCode::unsupported, "the kernel failed to answer");
            }
            if (!changed && deadline && clock.now() >= *deadline) {
                throw Error(ErrorCode::busy, "the kernel did not answer in time", "ask again later, or interrupt it");
            }
        }
        co_return std::move(*pending->reply);
    }

    // Ends an execution that a cut has lost, or sends it again if it certainly did not arrive. Requests keep their
    // order over a cut: under the same session Jupyter Server goes on with the same ZeroMQ sockets
    // (ZMQChannelsHandler.open()). Where it makes others, what came over those before is read before the second request
    // on these: a ROUTER takes turns between its peers, and the first request was kernel_info.
    Task<void> settle(std::shared_ptr<Pending> pending, std::string msg_id, std::string content) {
        std::int64_t number = 0;
        try {
            KernelQuery nothing = code_query("");
            const std::string reply = co_await ask(std::move(nothing), std::nullopt);
            number = read_execute_reply(reply).execution_count;
        } catch (const Cancelled&) {
            throw;
        } catch (const Error&) {
            check_alive();
        }
        pending->is_lost = false;
        if (pending->reply) {
            co_return;
        }
        const Fate fate = count.fate(number, pending->heard, pending->counts);
        if (fate != Fate::not_arrived) {
            pending->reply = fate == Fate::ran ? reply_lost_in_cut(std::move(pending->shown_error)) : unknown_fate();
            pending->idle = true;
            co_return;
        }
        pending->was_cut = false;
        pending->idle = false;
        pending->probe.clear();
        send(Channel::shell, "execute_request", content, msg_id);
    }

    void on_stdin(WireMessage message) {
        if (message.header.msg_type != "input_request") {
            return;
        }
        std::optional<InputRequest> request = valid(message, read_input_request);
        if (!request) {
            return;
        }
        request->id = ++last_prompt;
        request->parent = std::move(message.parent_id);
        prompt_header = std::move(message.header_text);
        listener.on_input_request(std::move(*request));
    }

    void fail(std::exception_ptr error) {
        if (failure) {
            return;
        }
        failure = std::move(error);
        readiness.set();
        connected.set();
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

    Clock& clock;
    std::unique_ptr<KernelTransport> transport;
    KernelListener& listener;

    Pendings pendings;
    PendingQueries queries;
    OutputFlush flush;
    ExecutionCount count;
    std::optional<KernelInfoReply> info;
    bool iopub_heard = false;
    Event connected; // requests can be sent
    bool was_cut = false;
    CutNotices notices;
    std::string greeting; // msg_id of the first request over the connection
    Event readiness;
    std::exception_ptr failure;
    std::uint64_t last_prompt = 0;
    std::optional<std::string> prompt_header; // of a prompt that has no answer yet
    std::uint64_t received = 0;
    std::uint64_t dropped = 0;
};

KernelClient::KernelClient(Clock& clock, std::unique_ptr<KernelTransport> transport, KernelListener& listener,
                           std::string print_function)
    : impl_(std::make_unique<Impl>(clock, std::move(transport), listener, std::move(print_function))) {}

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
                                  : impl.transport->silence());
        }
        impl.send(Channel::shell, "kernel_info_request", "{}");
        impl.readiness.reset();
        const Duration interval = impl.info ? nudge_interval : first_answer_interval;
        co_await wait_until(impl.clock, impl.readiness, std::min(deadline, now + interval));
    }
}

Task<ExecuteReply> KernelClient::execute(ExecuteRequest request) {
    Impl& impl = *impl_;
    co_await until_set(impl.connected);
    impl.check_alive(); // Before anything is sent: the sockets may be closed.
    const auto pending = std::make_shared<Pending>();
    if (!impl.pendings.emplace(request.msg_id, pending).second) {
        throw Error(ErrorCode::execution_exists, fmt::format("the execution {} runs already", request.msg_id));
    }
    const Registration registration{impl.pendings, request.msg_id};
    pending->counts = request.store_history && !request.silent;
    const std::string content = execute_request_content(request);
    impl.send(Channel::shell, "execute_request", content, request.msg_id);
    Duration patience = half_end_patience;
    while (!pending->reply || !pending->idle) {
        impl.check_alive();
        if (pending->is_lost) {
            co_await impl.settle(pending, request.msg_id, content);
            continue;
        }
        pending->changed.reset();
        if (!pending->reply && !pending->idle) {
            co_await pending->changed.wait();
            continue;
        }
        const bool other_half = co_await wait_until(impl.clock, pending->changed, impl.clock.now() + patience);
        if (!other_half) {
            // One half has arrived and the other has not. Each socket keeps its order: when the answer to a later
            // request arrives first, the missing half is lost (dropped, or never sent).
            pending->probe = impl.send(Channel::shell, "kernel_info_request", "{}");
            patience *= 2;
        }
    }
    if (impl.flush.is_needed()) {
        ExecuteRequest after{
            .msg_id = random_id(), .code = {}, .silent = true, .store_history = false, .allow_stdin = false};
        after.code = impl.flush.begin(request.msg_id, after.msg_id);
        impl.send(Channel::shell, "execute_request", execute_request_content(after), after.msg_id);
        co_await impl.flush.arrived(impl.clock, impl.received);
    }
    ExecuteReply reply = std::move(*pending->reply);
    if (reply.error && !pending->shown_error && !reply.error->was_printed) {
        reply.outputs.push_back(error_output(*reply.error));
    }
    co_return reply;
}

Task<std::string> KernelClient::ask(KernelQuery query, Instant deadline) {
    return impl_->ask(std::move(query), deadline);
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
    impl_->send(Channel::stdin_, "input_reply", content, random_id(), parent);
}

void KernelClient::send_comm(Channel channel, std::string_view type, std::string_view content) {
    impl_->send(channel, type, content);
}

void KernelClient::interrupt() {
    impl_->send(Channel::control, "interrupt_request", "{}");
}

void KernelClient::request_shutdown(bool restart) {
    impl_->send(Channel::control, "shutdown_request", shutdown_request_content(restart));
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
    co_await impl_->transport->close();
}

} // namespace cellgate::jupyter
