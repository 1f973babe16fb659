#include "async/fd_reservation.hpp"

#include <sys/resource.h>

namespace cellgate::async {

namespace {

std::size_t taken = 0; // in the whole process

} // namespace

std::optional<FdReservation> FdReservation::take(std::size_t count) {
    rlimit most{};
    ::getrlimit(RLIMIT_NOFILE, &most);
    if (taken + count > most.rlim_cur / 2) {
        return std::nullopt;
    }
    taken += count;
    return FdReservation(count);
}

FdReservation::~FdReservation() {
    taken -= count_;
}

} // namespace cellgate::async
