#include "chosen_id.hpp"

#include "base/escape_unprintable.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cellgate::cli {

std::string chosen_id(const std::vector<std::string>& ids, const std::string& beginning, std::string_view kind,
                      ErrorCode code) {
    constexpr std::size_t min_length = 4;
    std::vector<std::string> found;
    for (const std::string& id : ids) {
        if (id == beginning) {
            return beginning;
        }
        if (id.starts_with(beginning)) {
            found.push_back(id);
        }
    }
    if (found.size() > 1) {
        throw Error(code,
                    fmt::format("{} {} begin with \"{}\": {}", found.size(), kind, escape_unprintable(beginning),
                                escape_unprintable(fmt::format("{}", fmt::join(found, ", ")))),
                    "type more of the id");
    }
    return found.empty() || beginning.size() < min_length ? beginning : found.front();
}

} // namespace cellgate::cli
