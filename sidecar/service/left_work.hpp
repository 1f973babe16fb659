#pragma once
// What earlier sidecars of this root have left that ended without a goodbye (a crash, a kill): what was lost with them,
// and the output and results that can still be read.

#include "async/loop.hpp"
#include "base/task.hpp"
#include "protocol/messages/lifecycle.hpp"
#include "store/left_journal.hpp"
#include "store/left_runs.hpp"

#include <memory>
#include <string>
#include <vector>

namespace cellgate::service {

class LeftWork {
  public:
    struct Directories {
        std::string of_root; // the journals of this root's sidecars
        std::string of_all;  // of all roots
    };

    LeftWork(async::Loop& loop, Directories directories);

    // Once, beside everything else: finds what was lost, and removes what is old.
    void look();
    // After look(). For persons: every one of this sidecar hears it, and none of the next.
    Task<std::vector<protocol::LostWork>> lost();
    // Throws Error{execution_not_found}.
    Task<store::LeftExecution> find(std::string execution_id);
    Task<std::shared_ptr<const store::LeftJournal>> journal(store::LeftExecution execution);
    // What has begun is ended.
    Task<void> close() { return tasks_.join(); }

  private:
    Task<void> look_and_sweep();

    async::Loop& loop_;
    Directories directories_;
    bool looked_ = false;
    std::vector<store::LeftRun> untold_;
    Event untold_known_;
    bool told_ = false;
    std::string latest_; // whoever reads one page of a journal reads the next
    std::shared_ptr<const store::LeftJournal> latest_journal_;
    TaskScope tasks_;
};

} // namespace cellgate::service
