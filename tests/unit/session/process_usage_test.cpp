#include "session/process_usage.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace cellgate;
using namespace cellgate::session;

namespace {

struct Proc {
    TempFolder folder;

    // Times in ticks, memory in pages.
    void add(int pid, int parent, const std::string& name, int user, int system, int of_children, int pages) const {
        const std::filesystem::path directory = folder.path / std::to_string(pid);
        std::filesystem::create_directory(directory);
        std::ofstream(directory / "stat")
            << fmt::format("{} ({}) S {} 1 1 0 -1 4194304 100 0 0 0 {} {} {} 0 20 0 1 0 1000 123456789 {} "
                           "18446744073709551615 1 1\n",
                           pid, name, parent, user, system, of_children, pages);
    }
};

} // namespace

TEST_CASE("what a kernel's processes use is added up, with those that they started") {
    const Proc proc;
    const double ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    proc.add(10, 1, "cellgate", 999, 999, 999, 50);
    proc.add(11, 10, "bwrap", 1, 2, 0, 3);
    proc.add(12, 11, "a) R 1 (", 100, 20, 30, 1000);
    proc.add(13, 12, "two\nlines", 4, 0, 0, 10);
    proc.add(99, 1, "another", 999, 999, 999, 999);
    std::filesystem::create_directory(proc.folder.path / "self");
    std::filesystem::create_directory(proc.folder.path / "14"); // it has just ended
    const ProcessTable table = ProcessTable::read(proc.folder.path);
    const ProcessUsage usage = table.below(10);
    CHECK(usage.processes == 3);
    CHECK(usage.processor_seconds == doctest::Approx(157 / ticks));
    CHECK(usage.memory_bytes == 1013 * page);
    CHECK(table.memory_of(10) == 50 * page);
    CHECK(table.memory_of(14) == 0);
    CHECK(table.below(14).processes == 0);
}

TEST_CASE("where the control group counts, it is believed") {
    const Proc proc;
    proc.add(11, 10, "bwrap", 100, 0, 0, 3);
    const ProcessTable table = ProcessTable::read(proc.folder.path);
    const TempFolder two;
    const TempFolder memory_of_one;
    const TempFolder time_of_one;
    std::ofstream(two.path / "memory.current") << "5000\n";
    std::ofstream(two.path / "cpu.stat") << "usage_usec 2500000\nuser_usec 1\n";
    std::ofstream(memory_of_one.path / "memory.usage_in_bytes") << "7000\n";
    std::ofstream(time_of_one.path / "cpu.stat") << "nr_periods 0\nnr_throttled 0\n";
    std::ofstream(time_of_one.path / "cpuacct.usage") << "1500000000\n";
    ProcessUsage usage = table.of_kernel({10, {two.path}});
    CHECK(usage.processes == 1);
    CHECK(usage.memory_bytes == 5000);
    CHECK(usage.processor_seconds == doctest::Approx(2.5));
    usage = table.of_kernel({10, {memory_of_one.path, time_of_one.path}});
    CHECK(usage.memory_bytes == 7000);
    CHECK(usage.processor_seconds == doctest::Approx(1.5));
    usage = table.of_kernel({10, {memory_of_one.path, "/gone"}});
    CHECK(usage.memory_bytes == 7000);
    CHECK(usage.processor_seconds == doctest::Approx(100.0 / static_cast<double>(::sysconf(_SC_CLK_TCK))));
}

TEST_CASE("this process is in the table of the machine") {
    CHECK(ProcessTable::read().memory_of(::getpid()) > 0);
}
