#include "async/stream.hpp"
#include "uv_handle.hpp"

#include <fmt/format.h>

namespace cellgate::async {

namespace {

struct SignalWait {
    uv_signal_t handle{};
    Event arrived;
};

struct SignalCloser {
    std::shared_ptr<SignalWait> wait;
    ~SignalCloser() { close_handle<SignalWait>(wait->handle); }
};

} // namespace

Task<void> wait_for_signal(Loop& loop, int signal) {
    auto wait = std::make_shared<SignalWait>();
    uv_signal_init(loop.raw(), &wait->handle);
    adopt(wait->handle, wait);
    const SignalCloser closer{wait};
    const int status = uv_signal_start_oneshot(
        &wait->handle, [](uv_signal_t* handle, int) { owner_of<SignalWait>(handle)->arrived.set(); }, signal);
    if (status != 0) {
        throw uv_error(fmt::format("cannot wait for signal {}", signal), status);
    }
    co_await wait->arrived.wait();
}

} // namespace cellgate::async
