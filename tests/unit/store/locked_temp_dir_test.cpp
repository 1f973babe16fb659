#include "store/directories.hpp"
#include "store/locked_temp_dir.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace cellgate;
using namespace cellgate::store;

namespace {

namespace fs = std::filesystem;

struct TestDirectory {
    TempFolder folder;
    std::string path = folder.path;
};

// A process that has done `work` when this is made, and lives until it is killed.
class Killable {
  public:
    template <class Work>
    explicit Killable(const Work& work) {
        int done[2]{};
        REQUIRE(::pipe(done) == 0);
        pid_ = ::fork();
        if (pid_ == 0) {
            work();
            ::close(done[1]);
            while (true) {
                ::pause();
            }
        }
        ::close(done[1]);
        char byte = 0;
        CHECK(::read(done[0], &byte, 1) == 0);
        ::close(done[0]);
    }
    Killable(const Killable&) = delete;
    Killable& operator=(const Killable&) = delete;
    ~Killable() { kill(); }

    void kill() {
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
            ::waitpid(pid_, nullptr, 0);
            pid_ = 0;
        }
    }

  private:
    pid_t pid_ = 0;
};

} // namespace

TEST_CASE("a directory of a process that was killed is removed by who makes the next, and no living one's") {
    const TestDirectory place;
    std::ofstream(place.path + "/other") << "x";
    Killable process([&place] {
        // As make_locked_temp_dir does; but the janitor was killed as well.
        const std::string made = make_unique_directory(place.path, "k-");
        static const DirectoryLock lock(made);
        fs::create_directory(made + "/below");
        std::ofstream(made + "/below/file") << "x";
        fs::create_symlink(made, place.path + "/found");
        fs::permissions(made + "/below", fs::perms::none);
    });
    const std::string first = fs::read_symlink(place.path + "/found");
    struct stat found{};
    REQUIRE(::stat(first.c_str(), &found) == 0);
    CHECK((found.st_mode & 0777) == 0700);

    const LockedTempDir second = make_locked_temp_dir(place.path, "k-");
    CHECK(fs::exists(first + "/below"));
    fs::permissions(first, fs::perms::none); // as a cell can
    process.kill();
    const LockedTempDir third = make_locked_temp_dir(place.path, "k-");
    CHECK_FALSE(fs::exists(first));
    CHECK(fs::exists(second.path));
    CHECK(fs::exists(third.path));
    CHECK(fs::exists(place.path + "/other"));
}

TEST_CASE("an entry that only looks like a directory left over from a crash stays") {
    const TestDirectory place;
    fs::create_directories(place.path + "/outside");
    std::ofstream(place.path + "/outside/kept") << "x";
    fs::create_directory_symlink(place.path + "/outside", place.path + "/k-link");
    std::ofstream(place.path + "/k-file") << "x";
    fs::create_directory(place.path + "/d-other");
    fs::create_directory(place.path + "/k-left"); // the control
    const bool others_too = ::geteuid() == 0;     // can be made by root alone
    if (others_too) {
        fs::create_directory(place.path + "/k-anothers");
        REQUIRE(::chown((place.path + "/k-anothers").c_str(), 1001, 1001) == 0);
    }
    const LockedTempDir own = make_locked_temp_dir(place.path, "k-");
    CHECK(fs::exists(place.path + "/outside/kept"));
    CHECK(fs::is_symlink(place.path + "/k-link"));
    CHECK(fs::exists(place.path + "/k-file"));
    CHECK(fs::exists(place.path + "/d-other"));
    CHECK_FALSE(fs::exists(place.path + "/k-left"));
    CHECK(fs::exists(place.path + "/k-anothers") == others_too);
}

TEST_CASE("a directory of a process that was killed is removed at once, without a next one") {
    const TestDirectory place;
    Killable process([&place] {
        static LockedTempDir own = make_locked_temp_dir(place.path, "k-");
        std::ofstream(own.path + "/connection.json") << "key";
        fs::create_symlink(own.path, place.path + "/found");
    });
    const std::string left = fs::read_symlink(place.path + "/found");
    CHECK(fs::exists(left + "/connection.json"));
    process.kill();
    constexpr int max_attempts = 3000;
    for (int looks = 0; fs::exists(left) && looks < max_attempts; ++looks) {
        ::usleep(10'000);
    }
    CHECK_FALSE(fs::exists(left));
}

TEST_CASE("a program that was started meanwhile does not hold the directory") {
    const TestDirectory place;
    LockedTempDir own = make_locked_temp_dir(place.path, "k-");
    const std::string path = own.path;
    int started[2]{};
    REQUIRE(::pipe(started) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(started[1], STDOUT_FILENO);
        ::execl("/bin/sh", "sh", "-c", "echo; exec sleep 1000", nullptr);
        ::_exit(1);
    }
    char byte = 0;
    CHECK(::read(started[0], &byte, 1) == 1);
    own.lock.reset(); // as at the end of this process
    make_locked_temp_dir(place.path, "k-");
    CHECK_FALSE(fs::exists(path));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(started[0]);
    ::close(started[1]);
}

TEST_CASE("makers do not remove a directory that another one is about to lock") {
    const TestDirectory place;
    std::atomic<int> lost = 0;
    std::vector<std::thread> makers;
    for (int maker = 0; maker < 4; ++maker) {
        makers.emplace_back([&] {
            LockedTempDir held = make_locked_temp_dir(place.path, "k-");
            for (int made = 0; made < 500; ++made) {
                LockedTempDir next = make_locked_temp_dir(place.path, "k-");
                lost += fs::exists(held.path) && fs::exists(next.path) ? 0 : 1;
                held = std::move(next); // what was held is left
            }
        });
    }
    for (std::thread& maker : makers) {
        maker.join();
    }
    CHECK(lost == 0);
}
