#include "last_messages.hpp"

#include "base/sync.hpp"

namespace cellgate::jupyter {

namespace {

using namespace std::chrono_literals;

// Output counts as delivered after this much silence, or at the latest after settle_timeout.
constexpr Duration quiet = 20ms;
constexpr Duration settle_timeout = 2s;

} // namespace

Task<void> wait_last_messages(Clock& clock, const KernelClient& client) {
    const Instant end = clock.now() + settle_timeout;
    std::uint64_t before = 0;
    do {
        before = client.received();
        co_await sleep_for(clock, quiet);
    } while (client.received() != before && clock.now() < end);
}

} // namespace cellgate::jupyter
