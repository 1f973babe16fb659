#pragma once
// `ArgumentError` is an error of what the user typed: the program ends with 2 for it. `rethrow_of_typed_rule` makes
// one.

#include "base/error.hpp"

namespace cellgate::cli {

struct ArgumentError : Error {
    using Error::Error;
};

// In a handler for `error`, while a rule is read that the user typed: throws it again.
[[noreturn]] inline void rethrow_of_typed_rule(const Error& error) {
    if (error.code == ErrorCode::rule_invalid) {
        throw ArgumentError(error.code, error.message, error.hint);
    }
    throw;
}

} // namespace cellgate::cli
