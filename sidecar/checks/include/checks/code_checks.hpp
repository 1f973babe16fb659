#pragma once
// `CodeChecks` looks at code without running it: check.py and the language's own programs (Deno, Pyright, shellcheck)
// read it in a sandbox that has no network and shows the workspace read-only.

#include "async/loop.hpp"
#include "base/clock.hpp"
#include "base/environment.hpp"
#include "packages/python.hpp"
#include "protocol/messages/kernels.hpp"
#include "sandbox/build.hpp"
#include "store/directories.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cellgate::checks {

struct CheckRequest {
    std::string language; // as kernelspecs spell it
    std::string code;
    std::vector<std::string> context;                // the code of earlier cells, whose names it may use
    bool has_profile = false;                        // then what is dangerous is an error
    std::optional<std::vector<std::string>> modules; // that the profile offers; nothing: all
    std::optional<packages::Python> python;          // the session's; nothing: the one that a new session would get
    bool types = true;                               // also look at types, which takes a second
};

class CodeChecks {
  public:
    // `environment`: of this process; PATH says where the programs are.
    CodeChecks(async::Loop& loop, const store::Directories& directories, std::string root, Environment environment);

    // Throws Error{unsupported} for a language that has no checker, Error{kernel_not_found} without a Python,
    // Error{sandbox_unavailable}, Error{limit_exceeded} when it takes over half a minute.
    Task<protocol::ValidateResult> check(CheckRequest request);

  private:
    struct Asked;

    Task<packages::Python> find_python() const;
    // Where the programs are that the language's checks use.
    Task<Environment> find_programs(const std::string* language) const;
    Task<Asked> ask(CheckRequest request) const;
    sandbox::BuildProfile profile(const packages::Python& python, const Asked& asked, const std::string& folder) const;
    Task<std::string> run(CheckRequest request);

    async::Loop& loop_;
    const store::Directories& directories_;
    std::string root_;
    Environment environment_;
};

} // namespace cellgate::checks
