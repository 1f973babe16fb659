#include "jupyter/last_messages.hpp"

#include "base/sync.hpp"

namespace cellgate::jupyter {

namespace {

using namespace std::chrono_literals;

// Output counts as delivered after this much silence.
constexpr Duration quiet = 20ms;

} // namespace

Task<void> wait_last_messages(Clock& clock, const KernelClient& client, Duration limit) {
    const Instant end = clock.now() + limit;
    std::uint64_t before = 0;
    do {
        before = client.received();
        co_await sleep_for(clock, quiet);
    } while (client.received() != before && clock.now() < end);
}

} // namespace cellgate::jupyter
