#pragma once
// `GitProcess` is one running `git`, which its owner writes to and reads from. It has an environment of its own, in
// which no configuration counts but the arguments and that of cellgate's repository. One that makes no progress for 60
// seconds is killed, with its children. Blocks; failures are Error{store_failed} with the end of what git printed.

#include "base/unique_fd.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace cellgate::changes {

struct GitFolders {
    std::string repository;
    std::string workspace; // empty: git gets no work tree
};

class GitProcess {
  public:
    GitProcess(const GitFolders& folders, std::vector<std::string> arguments);
    GitProcess(const GitProcess&) = delete;
    GitProcess& operator=(const GitProcess&) = delete;
    // Kills what still runs.
    ~GitProcess();

    // Git gets it at the latest when something is read. It has to take it all before it prints more than a pipe holds.
    void write(std::string_view bytes);
    // Up to the next `end`, which is left out. Nothing at the end of the output.
    std::optional<std::string> read_until(char end);
    // Fewer only at the end of the output.
    std::string read(std::size_t bytes);
    // Closes the input, and waits for git to end. Throws unless it reports success. What was not read is dropped.
    void finish();
    // What git printed to stderr so far.
    std::string errors() const;

  private:
    void start(const GitFolders& folders, std::vector<std::string>& arguments, int input, int output);
    void flush();
    void wait_for(int fd, short events);
    bool fill(); // false at the end
    [[noreturn]] void fail(const std::string& what) const;
    void kill();

    std::string command_; // for messages
    pid_t pid_ = -1;
    UniqueFd input_;
    UniqueFd output_;
    UniqueFd errors_;
    std::string unsent_;
    std::string buffer_;
    std::size_t position_ = 0; // in the buffer
};

} // namespace cellgate::changes
