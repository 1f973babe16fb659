#include "path_inspection.hpp"

#include <functional>

namespace cellgate::session {

namespace {

constexpr Duration inspection_timeout = std::chrono::seconds(1);

// Shared with the thread that inspects.
struct Inspection {
    StartedSandbox sandbox;
    std::vector<FailedPath> paths;
    bool for_user = false;
    std::vector<protocol::Note> notes;
    Event done;
};

Task<void> inspect(async::Loop& loop, std::shared_ptr<Inspection> inspection) {
    std::function<void()> work = [inspection] {
        for (const FailedPath& failed : inspection->paths) {
            if (std::optional<protocol::Note> note = note_of_path(inspection->sandbox, failed, inspection->for_user)) {
                inspection->notes.push_back(std::move(*note));
            }
        }
    };
    co_await loop.run_blocking(std::move(work));
    inspection->done.set();
}

} // namespace

Task<std::vector<protocol::Note>> inspect_paths(async::Loop& loop, TaskScope& tasks, StartedSandbox sandbox,
                                                std::vector<FailedPath> paths, bool for_user) {
    std::vector<protocol::Note> notes;
    if (paths.empty()) {
        co_return notes;
    }
    const auto inspection = std::make_shared<Inspection>();
    inspection->sandbox = std::move(sandbox);
    inspection->paths = std::move(paths);
    inspection->for_user = for_user;
    tasks.spawn(inspect(loop, inspection));
    const Instant deadline = loop.clock().now() + inspection_timeout;
    const bool done = co_await wait_until(loop.clock(), inspection->done, deadline);
    if (done) {
        notes = std::move(inspection->notes);
    }
    co_return notes;
}

} // namespace cellgate::session
