#pragma once
// `failed_paths` and `bypassed_proxy` are parsers of the texts of a failed execution of Python: they find refused
// paths, and connections that bypassed the proxy.

#include "session/failures.hpp"

#include <vector>

namespace cellgate::session {

// At most four. From the exception and its causes: the paths of OSErrors ("[Errno 2] No such file or directory:
// 'data.csv'"). From a failed command: the paths in its messages and in its arguments. From a database that sqlite
// cannot open or write: the quoted absolute paths in the code, as sqlite names none.
std::vector<FailedPath> failed_paths(const Failure& failure);

// Whether the code tried to connect, or to look up a name, without the proxy.
bool bypassed_proxy(const Failure& failure);

} // namespace cellgate::session
