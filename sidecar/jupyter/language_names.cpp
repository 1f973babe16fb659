#include "jupyter/language_names.hpp"

#include "base/escape_unprintable.hpp"
#include "base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace cellgate::jupyter {

namespace {

constexpr std::pair<std::string_view, std::string_view> hints[] = {
    {"typescript", "Install Deno in the workspace: npm install deno"},
    {"javascript", "Install Deno in the workspace: npm install deno"},
    {"bash", "Install what cellgate's own kernel for bash needs: sudo apt install bash python3-ipykernel"},
    {"r", "Install R's kernel: sudo apt install r-cran-irkernel"},
};

} // namespace

bool same_language(std::string_view one, std::string_view other) {
    return lower(one) == lower(other);
}

bool runs_language(std::string_view spoken, std::string_view wanted) {
    return same_language(spoken, wanted) ||
           (same_language(wanted, "javascript") && same_language(spoken, "typescript"));
}

std::string install_hint(std::string_view language, const std::set<std::string>& installed) {
    for (const auto& [name, hint] : hints) {
        if (same_language(name, language)) {
            return std::string(hint);
        }
    }
    return escape_unprintable(fmt::format("There are kernels for: {}.", fmt::join(installed, ", ")));
}

} // namespace cellgate::jupyter
