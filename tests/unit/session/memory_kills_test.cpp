#include "memory_kills.hpp"
#include "store/directories.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

using namespace cellgate;

TEST_CASE("the system's count of what it ended for want of memory is read") {
    const std::string folder = store::make_unique_directory(std::filesystem::temp_directory_path(), "cellgate-test-");
    const std::string path = folder + "/vmstat";
    std::ofstream(path) << "nr_free_pages 123\noom_kill 7\nnuma_hit 9\n";
    CHECK(session::memory_kills(path) == 7);
    std::ofstream(path) << "nr_free_pages 123\n";
    CHECK(session::memory_kills(path) == 0);
    CHECK(session::memory_kills(folder + "/missing") == 0);
    store::remove_tree(folder);
}
