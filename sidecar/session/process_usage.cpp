#include "session/process_usage.hpp"

#include "sandbox/group_usage.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <unistd.h>

namespace cellgate::session {

namespace {

// In /proc/PID/stat, behind the name, which may have any character: "S 1 …"; see proc_pid_stat(5). Counted from there.
constexpr std::size_t parent = 1;
constexpr std::array<std::size_t, 4> processor_times = {11, 12, 13, 14}; // user, system; of children: user, system
constexpr std::size_t resident_pages = 21;

std::vector<std::int64_t> numbers_of(const std::string& stat) {
    std::istringstream words(stat.substr(std::min(stat.rfind(')'), stat.size() - 1) + 1));
    std::vector<std::int64_t> numbers(1); // in place of the state
    std::string state;
    words >> state;
    std::copy(std::istream_iterator<std::int64_t>(words), {}, std::back_inserter(numbers));
    return numbers;
}

} // namespace

ProcessTable ProcessTable::read(const std::string& proc) {
    const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    ProcessTable table;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(proc, error), end; !error && entry != end; entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        int pid = 0;
        if (std::from_chars(name.data(), name.data() + name.size(), pid).ptr != name.data() + name.size()) {
            continue;
        }
        std::ifstream file(entry->path() / "stat");
        std::string stat;
        if (!std::getline(file, stat, '\0')) {
            continue; // it has ended
        }
        const std::vector<std::int64_t> numbers = numbers_of(stat);
        if (numbers.size() <= resident_pages) {
            continue;
        }
        Row& row = table.rows_[pid];
        for (const std::size_t at : processor_times) {
            row.processor_seconds += static_cast<double>(numbers[at]) / ticks;
        }
        row.memory_bytes = static_cast<std::uint64_t>(numbers[resident_pages]) * page;
        table.children_.emplace(static_cast<int>(numbers[parent]), pid);
    }
    return table;
}

ProcessUsage ProcessTable::below(int pid) const {
    ProcessUsage usage;
    std::vector<int> rest{pid};
    while (!rest.empty()) {
        const auto [begin, end] = children_.equal_range(rest.back());
        rest.pop_back();
        for (auto child = begin; child != end; ++child) {
            const Row& row = rows_.at(child->second);
            ++usage.processes;
            usage.processor_seconds += row.processor_seconds;
            usage.memory_bytes += row.memory_bytes;
            rest.push_back(child->second);
        }
    }
    return usage;
}

std::uint64_t ProcessTable::memory_of(int pid) const {
    const auto found = rows_.find(pid);
    return found == rows_.end() ? 0 : found->second.memory_bytes;
}

ProcessUsage ProcessTable::of_kernel(const KernelProcesses& kernel) const {
    ProcessUsage usage = below(kernel.supervisor);
    const sandbox::GroupUsage group = sandbox::read_group_usage(kernel.group_folders);
    usage.memory_bytes = group.memory_bytes.value_or(usage.memory_bytes);
    usage.processor_seconds = group.processor_seconds.value_or(usage.processor_seconds);
    return usage;
}

} // namespace cellgate::session
