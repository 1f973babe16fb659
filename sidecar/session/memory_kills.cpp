#include "memory_kills.hpp"

#include <fstream>

namespace cellgate::session {

std::uint64_t memory_kills(const std::string& vmstat) {
    std::ifstream file(vmstat);
    std::string name;
    std::uint64_t value = 0;
    while (file >> name >> value) {
        if (name == "oom_kill") {
            return value;
        }
    }
    return 0;
}

} // namespace cellgate::session
