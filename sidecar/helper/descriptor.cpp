#include "descriptor.hpp"

#include <algorithm>

namespace cellgate::helper {

bool close_all_but(std::vector<int> keep, int first) {
    std::sort(keep.begin(), keep.end());
    for (const int kept : keep) {
        if (kept > first && ::close_range(static_cast<unsigned>(first), static_cast<unsigned>(kept) - 1, 0) != 0) {
            return false;
        }
        first = std::max(first, kept + 1);
    }
    return ::close_range(static_cast<unsigned>(first), ~0U, 0) == 0;
}

} // namespace cellgate::helper
