#pragma once
// `RequestClock` limits the time that a connection has for its next request: at its end the connection is shut. Private
// to the module.

#include "uv_handle.hpp"

#include <cstdint>
#include <sys/socket.h>

namespace cellgate::async {

struct RequestClock {
    uv_timer_t timer{}; // adopted
    int fd = -1;

    void start(unsigned seconds) {
        uv_timer_start(
            &timer, [](uv_timer_t* handle) { ::shutdown(owner_of<RequestClock>(handle)->fd, SHUT_RDWR); },
            std::uint64_t{1000} * seconds, 0);
    }
    void stop() { uv_timer_stop(&timer); }
};

} // namespace cellgate::async
