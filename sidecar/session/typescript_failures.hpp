#pragma once
// `causes_of_typescript` reads the errors of Deno's kernel: paths that may have been refused, and what Deno leaves out.

#include "session/failures.hpp"

namespace cellgate::session {

FailureCauses causes_of_typescript(const Failure& failure);

} // namespace cellgate::session
