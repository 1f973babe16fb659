#pragma once
// `ProcessTable` is the machine's processes at one time, as /proc has them: which one started which, and what each
// uses. Processes of a sandbox are there, too.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cellgate::session {

struct ProcessUsage {
    std::int64_t processes = 0;
    double processor_seconds = 0;   // with those that have ended and were waited for
    std::uint64_t memory_bytes = 0; // resident; what several share counts for each
};

// A kernel's processes, and where else their use is counted.
struct KernelProcesses {
    int supervisor = 0;                     // the process above all of them
    std::vector<std::string> group_folders; // of their control group; may be none
};

class ProcessTable {
  public:
    // Blocks.
    static ProcessTable read(const std::string& proc = "/proc");

    // Those that `pid` started, and those that they did.
    ProcessUsage below(int pid) const;
    // Of this one alone; 0 when it is not there.
    std::uint64_t memory_of(int pid) const;
    // By the control group where it counts, else by the processes. Blocks.
    ProcessUsage of_kernel(const KernelProcesses& kernel) const;

  private:
    struct Row {
        double processor_seconds = 0;
        std::uint64_t memory_bytes = 0;
    };

    std::map<int, Row> rows_;
    std::multimap<int, int> children_;
};

} // namespace cellgate::session
