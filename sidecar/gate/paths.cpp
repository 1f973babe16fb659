#include "paths.hpp"

#include "base/log.hpp"
#include "base/sync.hpp"

#include <climits>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace cellgate::gate {

namespace {

constexpr Duration time_limit = std::chrono::seconds(2);

PathSnapshot::ResolvedPath inspect(const std::string& path) {
    PathSnapshot::ResolvedPath found;
    found.path = resolve_path(path, "/");
    std::error_code error;
    found.is_directory = found.path && std::filesystem::is_directory(*found.path, error);
    return found;
}

} // namespace

std::vector<std::string> path_components(std::string_view path) {
    std::vector<std::string> parts;
    while (!path.empty()) {
        const std::size_t end = std::min(path.find('/'), path.size());
        if (end > 0 && path.substr(0, end) != ".") {
            parts.emplace_back(path.substr(0, end));
        }
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return parts;
}

std::optional<std::string> resolve_path(std::string_view path, std::string_view root) {
    constexpr int max_links = 40;
    std::vector<std::size_t> ends; // of the components of `resolved`, so that ".." knows where to cut
    std::string resolved;
    const std::string absolute = path.starts_with('/') ? std::string(path) : fmt::format("{}/{}", root, path);
    std::vector<std::string> first = path_components(absolute);
    std::deque<std::string> rest(first.begin(), first.end());
    int links = 0;
    bool missing = false;
    const auto go_up = [&] {
        if (!ends.empty()) {
            ends.pop_back();
            resolved.resize(ends.empty() ? 0 : ends.back());
        }
    };
    while (!rest.empty()) {
        const std::string part = std::move(rest.front());
        rest.pop_front();
        if (part == "..") {
            if (missing) {
                return std::nullopt;
            }
            go_up();
            continue;
        }
        resolved += "/" + part;
        ends.push_back(resolved.size());
        if (missing) {
            continue;
        }
        struct stat found{};
        if (resolved == "/proc") {
            return std::nullopt; // its links mean something else to every process
        }
        if (::lstat(resolved.c_str(), &found) != 0) {
            if (errno != ENOENT) {
                return std::nullopt;
            }
            missing = true;
        } else if (S_ISLNK(found.st_mode)) {
            std::array<char, PATH_MAX> target{};
            const ssize_t length = ::readlink(resolved.c_str(), target.data(), target.size());
            if (length <= 0 || length == static_cast<ssize_t>(target.size()) || ++links > max_links) {
                return std::nullopt;
            }
            const std::string_view text(target.data(), static_cast<std::size_t>(length));
            if (text.front() == '/') {
                ends.clear();
                resolved.clear();
            } else {
                go_up();
            }
            const std::vector<std::string> more = path_components(text);
            rest.insert(rest.begin(), more.begin(), more.end());
        }
    }
    return resolved.empty() ? "/" : resolved;
}

const PathSnapshot::ResolvedPath* PathSnapshot::find(const std::string& path) {
    const auto found = known_.find(path);
    if (found == known_.end()) {
        unresolved_.insert(path);
        return nullptr;
    }
    return &found->second;
}

// Shared with the thread that inspects the paths: it goes on after every waiter has given up.
struct PathResolver::Job {
    std::vector<std::string> paths;
    std::vector<PathSnapshot::ResolvedPath> found;
    bool abandoned = false;
    Event done;
};

Task<void> PathResolver::resolve(PathSnapshot& paths) {
    const auto job = std::make_shared<Job>();
    job->paths.assign(paths.unresolved_.begin(), paths.unresolved_.end());
    jobs_.push_back(job);
    if (!std::exchange(working_, true)) {
        tasks_.spawn(work());
    }
    const Instant deadline = clock_.now() + time_limit;
    const bool done = co_await finally(wait_until(clock_, job->done, deadline), abandon(job));
    if (!done) {
        log_warning("a path in the arguments of a call could not be resolved within {} s",
                    std::chrono::duration_cast<std::chrono::seconds>(time_limit).count());
    }
    for (std::size_t i = 0; i < job->paths.size(); ++i) {
        paths.known_[job->paths[i]] = done ? std::move(job->found[i]) : PathSnapshot::ResolvedPath();
    }
    paths.unresolved_.clear();
}

Task<void> PathResolver::abandon(std::shared_ptr<Job> job) {
    job->abandoned = true;
    co_return;
}

Task<void> PathResolver::work() {
    while (!jobs_.empty()) {
        const std::shared_ptr<Job> job = std::move(jobs_.front());
        jobs_.pop_front();
        if (job->abandoned) {
            continue;
        }
        std::function<void()> look = [job] {
            for (const std::string& path : job->paths) {
                job->found.push_back(inspect(path));
            }
        };
        co_await run_blocking_(std::move(look));
        job->done.set();
    }
    working_ = false;
}

} // namespace cellgate::gate
