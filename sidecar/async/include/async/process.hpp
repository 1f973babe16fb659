#pragma once
// `Process` is a child process. Each runs under `cellgate supervise` (helper/supervise.hpp): when the sidecar ends in
// any way, the child and all its descendants end too, whatever they did to escape (setsid, ignored signals, double
// forks).

#include "async/loop.hpp"
#include "base/byte_stream.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::async {

struct Command {
    std::vector<std::string> argv;                  // argv[0] is looked up in PATH of `environment` when it has no '/'
    std::map<std::string, std::string> environment; // all of it: nothing is inherited
    std::string cwd;                                // empty: the present one
    // Descriptors that the child gets at the given numbers (3 and up), in addition to stdio. Duplicated; the caller
    // keeps its own.
    std::map<int, int> descriptors;
    std::vector<std::string> groups; // folders of control groups that it joins before it runs
    // The number at which the child gets the read end of a pipe that closes when the supervisor ends. The child then
    // has to end all its descendants and itself. Without it, the system kills only the child itself when the supervisor
    // is killed, which is unsafe for a program that is setting up others.
    std::optional<int> lifeline_fd = {};
    bool stderr_to_stdout = false; // both are read as its stdout, in the order of printing; stderr_tail() is empty then
};

struct ExitStatus {
    int code = 0;                 // when signal is 0
    int signal = 0;               // what killed it, or 0
    std::string describe() const; // "exit code 3", "signal 9 (SIGKILL)"
    bool success() const { return code == 0 && signal == 0; }
};

class Process {
  public:
    ~Process(); // kills what still runs

    int pid() const;     // the supervisor's
    ByteStream& stdio(); // read() is the child's stdout, write() its stdin
    void close_stdin();
    // The last bytes (at most 64 KiB) of the child's stderr so far. It is always drained, so it never blocks the child.
    std::string stderr_tail() const;
    // Once the child and all its descendants have ended. May be awaited by many, at any time.
    Task<ExitStatus> exited();
    bool has_exited() const;
    void terminate(); // SIGTERM to the child's own process
    void kill();      // ends the child and all descendants, now
    // Closes stdin, waits up to `grace`, SIGTERM, waits up to `grace`, kills. Returns when all have ended.
    Task<void> stop(Duration grace);

  private:
    friend std::unique_ptr<Process> start_process(Loop& loop, Command command);
    struct Impl;
    explicit Process(std::shared_ptr<Impl> impl);
    std::shared_ptr<Impl> impl_;
};

// Throws Error{internal_error}: "cannot start X: No such file or directory".
std::unique_ptr<Process> start_process(Loop& loop, Command command);

} // namespace cellgate::async
