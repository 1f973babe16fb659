#pragma once
// `ExecutionCount` tells whether a kernel ran a request whose reply was lost, by the number that kernels have for each
// execution. It says so only of a kernel whose number rises by one with each: languages may not count, and another
// client may run code in between. Pure; owned by the kernel's client.

#include <cstdint>
#include <optional>

namespace cellgate::jupyter {

enum class Fate { not_arrived, ran, unknown };

class ExecutionCount {
  public:
    // The number in the reply to a request that counts; 0: it has none.
    void replied(std::int64_t number);

    // What became of the only request since then. `number`: of a reply that came after it, to one that does not count;
    // `heard`: the kernel has begun with it; `counts`: it would have a number.
    Fate fate(std::int64_t number, bool heard, bool counts);

  private:
    std::int64_t last_ = 0;
    bool rises_ = false; // the last two numbers that are known follow each other
};

} // namespace cellgate::jupyter
