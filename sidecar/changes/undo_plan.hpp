#pragma once
// `UndoPlan` is what an undo is about to do. It is on the disk, in a file, from before the first change of a file until
// after the last, so that a process that finds it can complete the undo. Blocks; throws Error{store_failed}.

#include <optional>
#include <string>
#include <vector>

namespace cellgate::changes {

struct UndoPlan {
    std::string before;
    std::string after;
    std::string temporary;          // the name of each new file until it is complete
    std::vector<std::string> paths; // that are restored

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("before", self.before);
        visit("after", self.after);
        visit("temporary", self.temporary);
        visit("paths", self.paths);
    }
};

std::optional<UndoPlan> load_plan(const std::string& path);
void save_plan(const std::string& path, const UndoPlan& plan);
void remove_plan(const std::string& path);

} // namespace cellgate::changes
