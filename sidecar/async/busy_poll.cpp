#include "async/busy_poll.hpp"

#include "uv_handle.hpp"

#include <thread>

namespace cellgate::async {

struct BusyPoll::Impl {
    uv_idle_t idle{};        // while it is active the loop polls instead of waiting
    std::uint64_t until = 0; // nanoseconds, as uv_hrtime() counts
};

BusyPoll::BusyPoll(Loop& loop) : impl_(std::make_shared<Impl>()) {
    uv_idle_init(loop.raw(), &impl_->idle);
    adopt(impl_->idle, impl_);
}

BusyPoll::~BusyPoll() {
    close_handle<Impl>(impl_->idle);
}

void BusyPoll::arm() {
    static const bool others_can_run = std::thread::hardware_concurrency() > 1;
    if (!others_can_run) {
        return;
    }
    impl_->until = uv_hrtime() + static_cast<std::uint64_t>(std::chrono::nanoseconds(window).count());
    uv_idle_start(&impl_->idle, [](uv_idle_t* idle) {
        if (uv_hrtime() >= owner_of<Impl>(idle)->until) {
            uv_idle_stop(idle);
        }
    });
}

} // namespace cellgate::async
