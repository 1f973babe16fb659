#include "keep_alive.hpp"

#include <fmt/format.h>

#include <chrono>

namespace cellgate::agent {

namespace {

constexpr Duration between_status_reports = std::chrono::seconds(5);

} // namespace

Task<void> report_status(Clock& clock, std::shared_ptr<mcp::ToolCall> call, CallStatus status) {
    const Instant begun = clock.now();
    while (true) {
        co_await sleep_for(clock, between_status_reports);
        std::string text;
        try {
            text = co_await status();
        } catch (const Cancelled&) {
            throw;
        } catch (const Error&) {
            // The call itself hears of it.
        }
        if (!text.empty()) {
            const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(clock.now() - begun);
            call->report(fmt::format("{} ({} s)", text, seconds.count()));
        }
    }
}

} // namespace cellgate::agent
