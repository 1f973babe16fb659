#include "base/error.hpp"

#include <cstring>
#include <utility>

namespace cellgate {

Error::Error(ErrorCode code_, std::string message_, std::string hint_)
    : code(code_), message(std::move(message_)), hint(std::move(hint_)) {}

Error system_error(ErrorCode code, const std::string& what_failed, int error_number, std::string hint) {
    return Error(code, what_failed + ": " + std::strerror(error_number), std::move(hint));
}

} // namespace cellgate
