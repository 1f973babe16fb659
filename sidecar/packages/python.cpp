#include "packages/python.hpp"

namespace cellgate::packages {

std::optional<Python> python_of(const jupyter::KernelChoice& choice) {
    if (!choice.interpreter) {
        return std::nullopt;
    }
    return Python{choice.interpreter->executable, choice.interpreter->version, jupyter::folders_of(choice)};
}

} // namespace cellgate::packages
