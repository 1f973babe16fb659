#pragma once
// `RequestNotTaken` is thrown for a request that the server certainly did not carry out, because it has ended the
// session: the request may be made again in another one. The connection has ended.

#include "base/error.hpp"

namespace cellgate::mcp {

struct RequestNotTaken : Error {
    using Error::Error;
};

} // namespace cellgate::mcp
