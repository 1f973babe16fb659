#pragma once
// `require` is the check of every fuzz target: it ends the process, so that the fuzzer keeps the input. `Input` reads
// the target's decisions from the front of an input.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace cellgate::fuzz {

// `what` is the invariant that must hold.
inline void require(bool holds, const char* what) {
    if (!holds) {
        std::fprintf(stderr, "broken: %s\n", what);
        std::abort();
    }
}

class Input {
  public:
    Input(const std::uint8_t* data, std::size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

    std::string_view rest() const { return rest_; }
    // Up to the next line break, or all: seeds stay text.
    std::string_view line() {
        const std::string_view found = rest_.substr(0, rest_.find('\n'));
        rest_.remove_prefix(found.size() < rest_.size() ? found.size() + 1 : rest_.size());
        return found;
    }

  private:
    std::string_view rest_;
};

} // namespace cellgate::fuzz
