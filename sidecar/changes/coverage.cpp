#include "coverage.hpp"

#include <algorithm>

namespace cellgate::changes {

CoverageIndex::CoverageIndex(const Coverage& coverage) {
    for (const std::string& path : coverage.ignored) {
        entries_.push_back({path, "ignored"});
    }
    for (const LeftOut& each : coverage.left_out) {
        entries_.push_back({each.path, each.why});
    }
    std::ranges::sort(entries_, {}, &Entry::path);
}

const CoverageIndex::Entry* CoverageIndex::find(std::string_view path) const {
    const auto found =
        std::ranges::lower_bound(entries_, path, {}, [](const Entry& entry) -> std::string_view { return entry.path; });
    return found != entries_.end() && found->path == path ? &*found : nullptr;
}

std::string_view CoverageIndex::why_left_out(std::string_view path) const {
    const Entry* found = find(path);
    for (std::size_t slash = path.find('/'); !found && slash != std::string_view::npos;
         slash = path.find('/', slash + 1)) {
        found = find(path.substr(0, slash + 1));
    }
    return found ? std::string_view(found->why) : std::string_view();
}

} // namespace cellgate::changes
