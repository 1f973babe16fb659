#pragma once
// `Failure` is what a failed execution left to read, and `FailureCauses` is what a language's reader found in it
// (language_support.hpp). The texts come from the code and are not trusted; path_notes.hpp verifies the paths.

#include "base/raw_json.hpp"
#include "protocol/messages/executions.hpp"

#include <deque>
#include <optional>
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

// A module that code imported and that is not there.
struct MissingModule {
    std::string name;                  // "pandas"
    std::string text;                  // "there is no module pandas"
    std::vector<std::string> packages; // that would install it, as packages/install takes them; none: it is generated
};

struct FailureCauses {
    std::vector<FailedPath> paths;          // that may have been refused
    bool bypassed_proxy = false;            // it tried to connect, or to look up a name, without the proxy
    std::vector<protocol::Note> notes = {}; // what the kernel's own words leave out
    std::optional<MissingModule> missing = {};
};

} // namespace cellgate::session
