#include "execution_count.hpp"

#include <utility>

namespace cellgate::jupyter {

void ExecutionCount::replied(std::int64_t number) {
    rises_ = last_ != 0 && number == last_ + 1;
    last_ = number;
}

Fate ExecutionCount::fate(std::int64_t number, bool heard, bool counts) {
    const std::int64_t before = std::exchange(last_, number);
    const bool was_counted = rises_ && number == before + 1;
    const bool is_as_before = rises_ && number == before;
    rises_ = was_counted || is_as_before;
    if (number < before) {
        return Fate::unknown; // another process than the one that was asked, or it began again at 1
    }
    if (heard || (counts && was_counted)) {
        return Fate::ran;
    }
    return counts && is_as_before ? Fate::not_arrived : Fate::unknown;
}

} // namespace cellgate::jupyter
