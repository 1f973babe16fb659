#pragma once
// `require` is a check of a parameter beyond its type.

#include "base/error.hpp"

#include <string>

namespace cellgate::service {

// Throws Error{invalid_params}; `expectation` names the parameter: "params.fromSeq: expected 0 or more".
inline void require(bool holds, const char* expectation) {
    if (!holds) {
        throw Error(ErrorCode::invalid_params, expectation);
    }
}
inline void require(bool holds, const std::string& expectation) {
    require(holds, expectation.c_str());
}

} // namespace cellgate::service
