#pragma once
// `failed_paths`, `bypassed_proxy` and `missing_module` are parsers of the texts of a failed execution of Python: they
// find refused paths, connections that bypassed the proxy, and what an import did not find.

#include "session/failures.hpp"

#include <optional>
#include <vector>

namespace cellgate::session {

// At most four. From the exception and its causes: the paths of OSErrors ("[Errno 2] No such file or directory:
// 'data.csv'"). From a failed command: the paths in its messages and in its arguments. From a database that sqlite
// cannot open or write: the quoted absolute paths in the code, as sqlite names none.
std::vector<FailedPath> failed_paths(const Failure& failure);

// Whether the code tried to connect, or to look up a name, without the proxy.
bool bypassed_proxy(const Failure& failure);

// Nothing if the execution failed for another reason, or if no package would help: a module of the standard library, or
// a part of a package that is there.
std::optional<MissingModule> missing_module(const Failure& failure);

} // namespace cellgate::session
