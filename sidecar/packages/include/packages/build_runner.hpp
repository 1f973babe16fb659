#pragma once
// `BuildRunner` runs programs in the build sandbox (sandbox/build.hpp) and reads what they print, which is hostile.

#include "async/loop.hpp"
#include "async/process.hpp"
#include "base/environment.hpp"
#include "sandbox/build.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::packages {

using TakeLine = std::function<void(const std::string& line)>;

// A program that has ended.
struct BuildOutcome {
    async::ExitStatus status;
    std::string printed; // on stdout, its end
    std::string output;  // the end of stdout, then that of stderr, as clients may see it
    std::string errors;  // on stderr, its end
    std::vector<std::string> layers;
};

class BuildRunner {
  public:
    // `environment`: of this process.
    BuildRunner(async::Loop& loop, Environment environment) : loop_(loop), environment_(std::move(environment)) {}

    // `on_line`: for each line of stdout while it runs, safe to show; may be empty. Throws Error{sandbox_unavailable,
    // config_invalid}. Cancelling ends the program.
    Task<BuildOutcome> run(async::Command command, sandbox::BuildProfile profile, TakeLine on_line);

    const Environment& environment() const { return environment_; }

  private:
    async::Loop& loop_;
    Environment environment_;
};

// The last line that begins with `prefix`, or the last one that is not blank: safe to show, and not long.
std::string last_words(std::string_view text, std::string_view prefix);

} // namespace cellgate::packages
