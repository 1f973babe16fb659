#pragma once
// `FdReservation` is a number of file descriptors reserved for connections that sandboxed code opens. All reservations
// together get at most half of the process's descriptor limit, so the sidecar keeps the rest for its own work however
// many sessions there are. Used on the loop's thread only.

#include <cstddef>
#include <optional>
#include <utility>

namespace cellgate::async {

class FdReservation {
  public:
    // Nothing when fewer than `count` are left.
    static std::optional<FdReservation> take(std::size_t count);

    FdReservation(FdReservation&& other) noexcept : count_(std::exchange(other.count_, 0)) {}
    FdReservation& operator=(FdReservation&& other) noexcept {
        std::swap(count_, other.count_);
        return *this;
    }
    FdReservation(const FdReservation&) = delete;
    FdReservation& operator=(const FdReservation&) = delete;
    ~FdReservation();

  private:
    explicit FdReservation(std::size_t count) : count_(count) {}
    std::size_t count_;
};

inline constexpr const char* no_descriptor_left =
    "too many connections of all sessions together; try again when some of them have ended";

} // namespace cellgate::async
