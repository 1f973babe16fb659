#include "short_queue.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

namespace cellgate::packages {

namespace {

constexpr std::size_t max_waiting = 16;

} // namespace

void require_short_queue(const Mutex& mutex, std::string_view what) {
    if (mutex.waiting() >= max_waiting) {
        throw Error(ErrorCode::limit_exceeded,
                    fmt::format("expected at most {} that wait for {}, found as many already", max_waiting, what),
                    "try again when those have ended");
    }
}

} // namespace cellgate::packages
