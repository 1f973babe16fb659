#pragma once
// `main` is the command line: `cellgate SUBCOMMAND …`, with arguments, printing and prompts; all else is the service's
// work. `run`, `call`, `generate` and `demo` are clients of a sidecar in the same process.

namespace cellgate::cli {

// Returns the exit code: 0 for success, 1 for a failure that was explained on stderr, 2 for wrong arguments.
int main(int argc, char** argv);

} // namespace cellgate::cli
