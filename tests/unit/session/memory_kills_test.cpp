#include "memory_kills.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>

#include <fstream>

using namespace cellgate;

TEST_CASE("the system's count of what it ended for want of memory is read") {
    const TempFolder folder;
    const std::string path = folder.path / "vmstat";
    std::ofstream(path) << "nr_free_pages 123\noom_kill 7\nnuma_hit 9\n";
    CHECK(session::memory_kills(path) == 7);
    std::ofstream(path) << "nr_free_pages 123\n";
    CHECK(session::memory_kills(path) == 0);
    CHECK(session::memory_kills(folder.path / "missing") == 0);
}
