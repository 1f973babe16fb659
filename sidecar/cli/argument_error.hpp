#pragma once
// `ArgumentError` is an error of what the user typed: the program ends with 2 for it.

#include "base/error.hpp"

namespace cellgate::cli {

struct ArgumentError : Error {
    using Error::Error;
};

} // namespace cellgate::cli
