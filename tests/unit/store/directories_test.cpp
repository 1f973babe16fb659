#include "base/error.hpp"
#include "store/directories.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace cellgate;
using namespace cellgate::store;

TEST_CASE("directories follow the XDG variables, and HOME without them") {
    const Directories given = find_directories(
        {{"XDG_STATE_HOME", "/s"}, {"XDG_CONFIG_HOME", "/c"}, {"XDG_RUNTIME_DIR", "/r"}, {"XDG_DATA_HOME", "/d"}});
    CHECK(given.state == "/s/cellgate");
    CHECK(given.config == "/c/cellgate");
    CHECK(given.runtime == "/r/cellgate");
    CHECK(given.data == "/d/cellgate");
    const Directories home = find_directories({{"HOME", "/h"}, {"XDG_STATE_HOME", "relative/is/invalid"}});
    CHECK(home.state == "/h/.local/state/cellgate");
    CHECK(home.config == "/h/.config/cellgate");
    CHECK(home.data == "/h/.local/share/cellgate");
    CHECK(home.runtime.starts_with("/tmp/cellgate-"));
    CHECK_THROWS_AS(find_directories({}), Error);
}

TEST_CASE("a private directory is made with its parents, for us alone") {
    const TempFolder folder;
    const std::string base = folder.path;
    make_private_directory(base + "/a/b");
    struct stat found{};
    REQUIRE(::stat((base + "/a/b").c_str(), &found) == 0);
    CHECK((found.st_mode & 0777) == 0700);
    CHECK_NOTHROW(make_private_directory(base + "/a/b"));

    SUBCASE("one that others can write is refused") {
        ::chmod((base + "/a/b").c_str(), 0777);
        CHECK_THROWS_AS(make_private_directory(base + "/a/b"), Error);
    }
    SUBCASE("a link to one is refused") {
        std::filesystem::create_directory_symlink(base + "/a/b", base + "/link");
        CHECK_THROWS_AS(make_private_directory(base + "/link"), Error);
    }
    SUBCASE("what is wrong with a parent is said with its path") {
        std::ofstream(base + "/file") << "x";
        CHECK_THROWS_WITH_AS(make_private_directory(base + "/file/b/c"),
                             doctest::Contains(("directory " + base + "/file/b: Not a directory").c_str()), Error);
    }
    SUBCASE("a file in its place is refused") {
        std::ofstream(base + "/file") << "x";
        CHECK_THROWS_AS(make_private_directory(base + "/file"), Error);
    }
}

TEST_CASE("removing a tree does not follow links out of it") {
    const TempFolder folder;
    const std::string base = folder.path;
    std::filesystem::create_directories(base + "/outside");
    std::ofstream(base + "/outside/kept") << "x";
    std::filesystem::create_directories(base + "/tree");
    std::filesystem::create_directory_symlink(base + "/outside", base + "/tree/link");
    remove_tree(base + "/tree");
    CHECK_FALSE(std::filesystem::exists(base + "/tree"));
    CHECK(std::filesystem::exists(base + "/outside/kept"));
}

TEST_CASE("a tree that a cell closed is removed") {
    const std::string base = make_unique_directory(std::filesystem::temp_directory_path(), "cellgate-test-");
    std::filesystem::create_directories(base + "/below");
    std::ofstream(base + "/below/file") << "x";
    std::filesystem::permissions(base + "/below", std::filesystem::perms::none);
    std::filesystem::permissions(base, std::filesystem::perms::none);
    remove_tree(base);
    CHECK_FALSE(std::filesystem::exists(base));
}

TEST_CASE("a tree deeper than there are descriptors is removed, and what its owner may not write too") {
    const std::string base = make_unique_directory(std::filesystem::temp_directory_path(), "cellgate-test-");
    const int before = ::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    REQUIRE(::chdir(base.c_str()) == 0);
    for (int depth = 0; depth < 2'000; ++depth) {
        std::ofstream("file") << "x";
        REQUIRE(::mkdir("deeper", 0700) == 0);
        REQUIRE(::chdir("deeper") == 0);
    }
    REQUIRE(::mkdir("closed", 0700) == 0);
    std::ofstream("closed/file") << "x";
    REQUIRE(::chmod("closed", 0) == 0);
    REQUIRE(::fchdir(before) == 0);
    ::close(before);
    rlimit usual{};
    ::getrlimit(RLIMIT_NOFILE, &usual);
    rlimit few = usual;
    few.rlim_cur = 100;
    ::setrlimit(RLIMIT_NOFILE, &few);
    std::error_code error;
    std::filesystem::remove_all(base, error);
    CHECK(error); // the control: it opens each directory on the way
    remove_tree(base);
    ::setrlimit(RLIMIT_NOFILE, &usual);
    CHECK_FALSE(std::filesystem::exists(base));
}
