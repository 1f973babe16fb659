#pragma once
// What a person adds to a sandbox, beside or without a settings file.

#include "base/json_codec.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cellgate::protocol {

struct SandboxAdditions {
    std::optional<std::vector<std::string>> allow_read;
    std::optional<std::vector<std::string>> allow_write;
    std::optional<bool> gpu;
    static constexpr bool closed = true;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("allowRead", self.allow_read);
        visit("allowWrite", self.allow_write);
        visit("gpu", self.gpu);
    }
    bool empty() const { return !allow_read && !allow_write && !gpu; }
};

} // namespace cellgate::protocol
