#pragma once
// Descriptors for connections that code in sandboxes opens. All of them together get at most half of those that this
// process may have: however many sessions there are, the sidecar has the rest for its own work. On the loop's thread.

#include <cstddef>
#include <optional>
#include <utility>

namespace cellgate::async {

class DescriptorShare {
  public:
    // Nothing when there are not as many left.
    static std::optional<DescriptorShare> take(std::size_t count);

    DescriptorShare(DescriptorShare&& other) noexcept : count_(std::exchange(other.count_, 0)) {}
    DescriptorShare& operator=(DescriptorShare&& other) noexcept {
        std::swap(count_, other.count_);
        return *this;
    }
    DescriptorShare(const DescriptorShare&) = delete;
    DescriptorShare& operator=(const DescriptorShare&) = delete;
    ~DescriptorShare();

  private:
    explicit DescriptorShare(std::size_t count) : count_(count) {}
    std::size_t count_;
};

inline constexpr const char* no_descriptor_left =
    "too many connections of all sessions together; try again when some of them have ended";

} // namespace cellgate::async
