#pragma once
// `failed_paths` and `bypassed_proxy` are parsers of a failed execution's texts: they find refused paths, and
// connections that bypassed the proxy. The texts come from the code and are not trusted; path_notes.hpp verifies the
// paths.

#include "base/raw_json.hpp"
#include "protocol/messages/executions.hpp"

#include <deque>
#include <string>
#include <vector>

namespace cellgate::session {

// The last few small outputs that a cell printed.
class LastPrinted {
  public:
    // `body`: an output of nbformat 4, of the type stream.
    void add(const RawJson& body);
    std::string text() const;

  private:
    std::deque<RawJson> bodies_;
};

struct Failure {
    protocol::ExecutionError error;
    std::string code;    // of the cell
    std::string printed; // LastPrinted's text
};

struct FailedPath {
    std::string path; // as it was written; may be relative
    int error = 0;    // of errno: ENOENT also if the text names no error
};

// At most four. From the exception and its causes: the paths of OSErrors ("[Errno 2] No such file or directory:
// 'data.csv'"). From a failed command: the paths in its messages and in its arguments. From a database that sqlite
// cannot open or write: the quoted absolute paths in the code, as sqlite names none.
std::vector<FailedPath> failed_paths(const Failure& failure);

// Whether the code tried to connect, or to look up a name, without the proxy.
bool bypassed_proxy(const Failure& failure);

} // namespace cellgate::session
