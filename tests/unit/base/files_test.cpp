#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>

using namespace cellgate;
namespace fs = std::filesystem;

namespace {

std::size_t entries_of(const fs::path& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

} // namespace

TEST_CASE("a descriptor is closed by its owner, once") {
    UniqueFd first(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    REQUIRE(first.valid());
    const int number = first.get();
    UniqueFd second(std::move(first));
    CHECK_FALSE(first.valid());
    CHECK(::fcntl(number, F_GETFD) >= 0);
    second.reset();
    CHECK(::fcntl(number, F_GETFD) == -1);
    UniqueFd third(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const int released = third.release();
    third.reset();
    CHECK(::fcntl(released, F_GETFD) >= 0);
    ::close(released);
}

TEST_CASE("a file is read whole, a pipe to its end, and what cannot be read has a reason") {
    const TempFolder folder;
    const std::string text = std::string(200'000, 'x') + std::string("\0y", 2);
    std::ofstream(folder.path / "file", std::ios::binary) << text;
    CHECK((read_file(folder.path / "file") == text));
    int pipe[2];
    REQUIRE(::pipe2(pipe, O_CLOEXEC) == 0);
    REQUIRE(write_all(pipe[1], "through a pipe"));
    ::close(pipe[1]);
    CHECK(read_file("/dev/fd/" + std::to_string(pipe[0])) == "through a pipe");
    ::close(pipe[0]);
    CHECK_FALSE(read_file(folder.path / "missing"));
    CHECK(errno == ENOENT);
    CHECK_FALSE(read_file(folder.path));
    CHECK(errno == EISDIR);
}

TEST_CASE("a replaced file is the old one or the new one, and leaves nothing beside it") {
    const TempFolder folder;
    const std::string path = folder.path / "file";
    std::ofstream(path) << "old";
    {
        ReplacementFile file(AT_FDCWD, path + ".", 0600);
        REQUIRE(file.valid());
        CHECK(write_all(file.fd(), "new"));
        CHECK(read_regular_file(path, 100).bytes == "old");
        CHECK(entries_of(folder.path) == 2);
    }
    CHECK(entries_of(folder.path) == 1);
    ReplacementFile file(AT_FDCWD, path + ".", 0600);
    REQUIRE(write_all(file.fd(), "new"));
    CHECK(file.commit(path));
    CHECK(read_regular_file(path, 100).bytes == "new");
    CHECK(entries_of(folder.path) == 1);
    const UniqueFd rest = file.release();
    CHECK(write_all(rest.get(), "er"));
    CHECK(read_regular_file(path, 100).bytes == "newer");
    const ReplacementFile nowhere(AT_FDCWD, (folder.path / "missing/").string(), 0600);
    CHECK_FALSE(nowhere.valid());
}

TEST_CASE("a path is within a folder by whole names") {
    CHECK(is_within("/a/b", "/a"));
    CHECK(is_within("/a", "/a"));
    CHECK(is_within("/a", "/"));
    CHECK_FALSE(is_within("/ab", "/a"));
    CHECK_FALSE(is_within("/", "/a"));
    CHECK_FALSE(is_within("", "/a"));
}

TEST_CASE("a program is looked for in the absolute entries of PATH") {
    const TempFolder folder;
    const fs::path first = folder.path / "first";
    const fs::path second = folder.path / "second";
    fs::create_directories(first / "tool"); // a directory is no program
    fs::create_directories(second);
    std::ofstream(second / "tool") << "#!/bin/sh\n";
    const Environment environment = {{"PATH", ".::" + first.string() + ":relative:" + second.string()}};
    CHECK(search_path(environment) == std::vector<std::string>{first, second});
    CHECK_FALSE(find_program("tool", environment)); // not executable
    ::chmod((second / "tool").c_str(), 0755);
    CHECK(find_program("tool", environment) == (second / "tool").string());
    CHECK_FALSE(find_program("tool", {}));
}
