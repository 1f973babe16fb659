#pragma once
// What paths lead to. Looking at one can block for ever (a mount whose server is gone), and code in a kernel chooses
// them: a judgement asks a PathSnapshot, which looks at nothing and notes what it lacks; PathResolver looks, off the loop, and
// the judgement is made again. What takes too long leads nowhere that can be told.

#include "base/clock.hpp"
#include "base/run_blocking.hpp"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::gate {

// The names that a path consists of, without empty ones and "."; ".." is left as it is.
std::vector<std::string> path_components(std::string_view path);

// The absolute path without links, "." and ".."; a relative one is taken from `root`. What is not there resolves to
// where it would be. Nothing when it cannot be told: no rights, a loop, ".." below what is not there, /proc. May block.
std::optional<std::string> resolve_path(std::string_view path, std::string_view root);

// What one judgement knows. A judgement that was made while something was unresolved says nothing.
class PathSnapshot {
  public:
    struct ResolvedPath {
        std::optional<std::string> path; // as resolve_path()
        bool is_directory = false;
    };

    explicit PathSnapshot(std::string root) : root_(std::move(root)) {}
    const std::string& root() const { return root_; }
    // nullptr while it is not known; then it is unresolved. `path`: absolute.
    const ResolvedPath* find(const std::string& path);
    bool is_resolved() const { return unresolved_.empty(); }

  private:
    friend class PathResolver;
    std::string root_;
    std::map<std::string, ResolvedPath> known_;
    std::set<std::string> unresolved_;
};

// Looks for all who wait, one after the other: a path that hangs takes one thread, not all of them.
class PathResolver {
  public:
    PathResolver(Clock& clock, RunBlocking run_blocking) : clock_(clock), run_blocking_(std::move(run_blocking)) {}

    // Finds what is unresolved. Returns at the latest after two seconds.
    Task<void> resolve(PathSnapshot& paths);
    Task<void> close() { return tasks_.join(); }

  private:
    struct Job;
    Task<void> work();

    Clock& clock_;
    RunBlocking run_blocking_;
    std::deque<std::shared_ptr<Job>> jobs_;
    bool working_ = false;
    TaskScope tasks_;
};

} // namespace cellgate::gate
