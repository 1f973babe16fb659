#pragma once
// `OutputFlush` sees to it that all output of an execution has come, in a kernel whose idle may overtake it: code that
// prints a mark runs silently after each execution, and what was printed before comes before the mark.

#include "base/clock.hpp"
#include "base/task.hpp"
#include "jupyter/wire.hpp"

#include <cstdint>
#include <string>

namespace cellgate::jupyter {

class OutputFlush {
  public:
    // `print_function` as in ConnectionInfo; empty: the kernel needs no flush.
    explicit OutputFlush(std::string print_function);

    bool is_needed() const { return !print_function_.empty(); }
    // The code to send as the request `msg_id`. Output that comes with this parent is the execution's.
    std::string begin(const std::string& execution, const std::string& msg_id);
    // Returns when the mark has come, or when the kernel has sent nothing for a second: code can have broken the
    // function. `received` counts the kernel's messages.
    Task<void> arrived(Clock& clock, const std::uint64_t& received);
    // Takes the mark out of an output, and names the execution as its parent. False: nothing is left to deliver.
    bool take(WireMessage& message);
    // The kernel is gone: arrived() returns.
    void stop() { changed_.set(); }

  private:
    std::string print_function_;
    std::string mark_;
    std::string execution_;
    std::string msg_id_;
    std::uint64_t awaited_ = 0; // marks
    std::uint64_t seen_ = 0;
    Event changed_;
};

} // namespace cellgate::jupyter
