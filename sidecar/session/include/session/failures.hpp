#pragma once
// What the texts of a failed execution say that was refused: paths, and connections that no proxy saw. They are the
// code's word, and are believed no further than that: what becomes of them is in path_notes.hpp.

#include "base/raw_json.hpp"
#include "protocol/messages/executions.hpp"

#include <deque>
#include <string>
#include <vector>

namespace cellgate::session {

// The last that a cell printed: a few small outputs.
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
    int error = 0;    // of errno: ENOENT also where nobody says what it was
};

// At most four. Of the exception and of those that it came from: the paths of OSErrors ("[Errno 2] No such file or
// directory: 'data.csv'"). Of a command that failed: those that it complained about, and those among its words. Of a
// database that sqlite cannot open or write: the absolute paths that stand in the code in quotes, as sqlite names none.
std::vector<FailedPath> failed_paths(const Failure& failure);

// Whether something connected, or looked up a name, without a proxy.
bool connected_by_itself(const Failure& failure);

} // namespace cellgate::session
