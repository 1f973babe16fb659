#pragma once
// `PathSnapshot` is the set of resolved paths that one evaluation of the rules uses. Code in a kernel chooses the
// paths, and resolving one can block for ever (a mount whose server is gone). So a snapshot never touches the disk: it
// records the paths that are unresolved, `PathResolver` resolves these off the loop, and the rules are evaluated again.
// A path that does not resolve within two seconds is treated as unresolvable.

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

// The absolute path without links, "." and ".."; a relative one is taken from `root`. A missing file
// resolves to the path that it would have. Nothing when the path is unresolvable: no rights, a loop, ".." below a
// missing folder, /proc. May block.
std::optional<std::string> resolve_path(std::string_view path, std::string_view root);

// An evaluation that met an unresolved path is void, and is repeated once the path is resolved.
class PathSnapshot {
  public:
    struct ResolvedPath {
        std::optional<std::string> path; // as resolve_path()
        bool is_directory = false;
    };

    explicit PathSnapshot(std::string root) : root_(std::move(root)) {}
    const std::string& root() const { return root_; }
    // nullptr while `path`, which is absolute, is unresolved.
    const ResolvedPath* find(const std::string& path);
    bool is_resolved() const { return unresolved_.empty(); }

  private:
    friend class PathResolver;
    std::string root_;
    std::map<std::string, ResolvedPath> known_;
    std::set<std::string> unresolved_;
};

// Resolves for all callers, one after the other: a path that hangs takes one thread, not all of them.
class PathResolver {
  public:
    PathResolver(Clock& clock, RunBlocking run_blocking) : clock_(clock), run_blocking_(std::move(run_blocking)) {}

    // Resolves the unresolved paths. Returns at the latest after two seconds.
    Task<void> resolve(PathSnapshot& paths);
    Task<void> close() { return tasks_.join(); }

  private:
    struct Job;
    static Task<void> abandon(std::shared_ptr<Job> job);
    Task<void> work();

    Clock& clock_;
    RunBlocking run_blocking_;
    std::deque<std::shared_ptr<Job>> jobs_;
    bool working_ = false;
    TaskScope tasks_;
};

} // namespace cellgate::gate
