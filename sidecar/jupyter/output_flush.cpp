#include "output_flush.hpp"

#include "base/names.hpp"
#include "base/sync.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cellgate::jupyter {

namespace {

using namespace std::chrono_literals;

constexpr Duration silence = 1s;
constexpr Duration patience = 10s; // with a kernel that prints all the time

} // namespace

OutputFlush::OutputFlush(std::string print_function) : print_function_(std::move(print_function)), mark_(random_id()) {}

std::string OutputFlush::begin(const std::string& execution, const std::string& msg_id) {
    execution_ = execution;
    msg_id_ = msg_id;
    awaited_ = seen_ + 1;
    return fmt::format("{}(\"{}\")", print_function_, mark_);
}

Task<void> OutputFlush::arrived(Clock& clock, const std::uint64_t& received) {
    const Instant deadline = clock.now() + patience;
    while (seen_ < awaited_ && clock.now() < deadline) {
        const std::uint64_t before = received;
        changed_.reset();
        const bool changed = co_await wait_until(clock, changed_, std::min(deadline, clock.now() + silence));
        if (changed || received == before) {
            co_return;
        }
    }
}

bool OutputFlush::take(WireMessage& message) {
    if (!is_needed()) {
        return true;
    }
    if (message.header.msg_type == "stream") {
        std::string& content = message.content;
        bool marked = false;
        for (std::size_t at = content.find(mark_); at != std::string::npos; at = content.find(mark_, at)) {
            content.erase(at, mark_.size());
            ++seen_;
            changed_.set();
            marked = true;
        }
        if (marked && content.find(R"("text":"")") != std::string::npos) {
            return false;
        }
    }
    if (message.parent_id == msg_id_) {
        message.parent_id = execution_;
        return message.header.msg_type != "error"; // the flush's own
    }
    return true;
}

} // namespace cellgate::jupyter
