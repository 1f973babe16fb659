#include "until_interrupted.hpp"

#include "async/stream.hpp"
#include "base/sync.hpp"

#include <csignal>
#include <poll.h>
#include <unistd.h>
#include <utility>

namespace cellgate::cli {

namespace {

Task<void> set_on_signal(async::Loop* loop, int signal, Event* ended) {
    co_await async::wait_for_signal(*loop, signal);
    ended->set();
}

Task<bool> as_bool(Task<void> body) {
    co_await std::move(body);
    co_return true;
}

} // namespace

Task<void> until_interrupted(async::Loop* loop, Task<void> body) {
    Event interrupted;
    TaskScope signals;
    signals.spawn(set_on_signal(loop, SIGINT, &interrupted));
    signals.spawn(set_on_signal(loop, SIGTERM, &interrupted));
    co_await finally(unless(&interrupted, as_bool(std::move(body))), cancel_and_join(signals));
}

bool is_output_closed() {
    pollfd output{STDOUT_FILENO, 0, 0};
    return ::poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

} // namespace cellgate::cli
