#pragma once
// `run_build` runs a program in the sandbox of wrap_build() to its end.

#include "async/loop.hpp"
#include "sandbox/build.hpp"

#include <functional>
#include <string>
#include <vector>

namespace cellgate::sandbox {

struct BuildRun {
    async::ExitStatus status;
    std::string errors; // the end of its stderr
    std::vector<std::string> layers;
};

// `input` is its stdin; `on_output` gets what it prints, as it comes. Cancelling ends the program. Throws what
// wrap_build() throws. `environment` as there; it and `on_output` outlive the task.
Task<BuildRun> run_build(async::Loop& loop, async::Command command, BuildProfile profile,
                         const Environment& environment, std::string input,
                         std::function<void(const std::string& bytes)> on_output);

} // namespace cellgate::sandbox
