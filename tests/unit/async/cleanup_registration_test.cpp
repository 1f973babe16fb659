#include "async/cleanup_registration.hpp"
#include "helpers.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace cellgate;
using namespace cellgate::async;

namespace {

namespace fs = std::filesystem;

// A process that says that it makes `folder`, or does not, and lives until it is killed.
class Maker {
  public:
    Maker(const char* mode, const std::string& folder) {
        int said[2]{};
        REQUIRE(::pipe2(said, O_CLOEXEC) == 0);
        pid_ = ::fork();
        if (pid_ == 0) {
            ::dup2(said[1], STDOUT_FILENO);
            ::execl(ASYNC_FIXTURE, ASYNC_FIXTURE, mode, folder.c_str(), nullptr);
            ::_exit(127);
        }
        ::close(said[1]);
        char byte = 0;
        CHECK(::read(said[0], &byte, 1) == 1);
        ::close(said[0]);
    }
    Maker(const Maker&) = delete;
    Maker& operator=(const Maker&) = delete;
    ~Maker() { kill(); }

    void kill() {
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
            ::waitpid(std::exchange(pid_, 0), nullptr, 0);
        }
    }

  private:
    pid_t pid_ = 0;
};

// Of this process; 0 when there is none.
int janitor() {
    for (const auto& entry : fs::directory_iterator("/proc")) {
        const std::string name = entry.path().filename();
        std::string command;
        std::string stat;
        std::getline(std::ifstream(entry.path() / "cmdline"), command);
        std::getline(std::ifstream(entry.path() / "stat"), stat);
        // pid (name) state parent …: whatever it does just now, unless it has ended.
        const std::string after_name = stat.substr(stat.rfind(')') + 1);
        if (command == std::string("cellgate\0janitor\0", 17) && !after_name.starts_with(" Z ") &&
            after_name.find(" " + std::to_string(::getpid()) + " ") == 2) {
            return std::stoi(name);
        }
    }
    return 0;
}

bool becomes_absent(const std::string& path) {
    constexpr int max_attempts = 3000;
    for (int looks = 0; looks < max_attempts; ++looks) {
        if (!fs::exists(fs::symlink_status(path))) {
            return true;
        }
        ::usleep(10'000);
    }
    return false;
}

// What a hostile kernel may leave in its folder: what its owner may not open, a deep tree, names that are links to what
// is not its own, and more than is looked at in one go.
void fill(const std::string& folder, const std::string& outside) {
    fs::create_directories(folder + "/closed/below");
    std::ofstream(folder + "/closed/below/file") << "x";
    fs::create_directory_symlink(outside, folder + "/link");
    fs::create_directory_symlink(outside, folder + "/closed/link");
    fs::permissions(folder + "/closed", fs::perms::none);
    int at = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY);
    constexpr int depth = 3000;
    for (int level = 0; level < depth; ++level) {
        CHECK(::mkdirat(at, "deep", 0700) == 0);
        const int below = ::openat(at, "deep", O_RDONLY | O_DIRECTORY);
        ::close(at);
        at = below;
    }
    ::close(at);
    for (int file = 0; file < depth; ++file) {
        std::ofstream(folder + "/" + std::to_string(file)) << "x";
    }
    fs::permissions(folder, fs::perms::none);
}

} // namespace

TEST_CASE("the folder of a process that is killed is removed, whatever is in it, and nothing else") {
    const TempFolder directory;
    const std::string outside = directory.at("outside");
    fs::create_directory(outside);
    std::ofstream(outside + "/kept") << "x";
    const std::string folder = directory.at("folder");
    const std::string other = directory.at("other");
    Maker maker("cleanup", folder);
    Maker control("no-cleanup", other);
    fill(folder, outside);
    fill(other, outside);
    maker.kill();
    control.kill();
    CHECK(becomes_absent(folder));
    CHECK(fs::exists(other)); // the control: it was not registered
    CHECK(fs::exists(outside + "/kept"));
}

TEST_CASE("what is exchanged for a link is not followed") {
    const TempFolder directory;
    const std::string outside = directory.at("outside");
    fs::create_directory(outside);
    std::ofstream(outside + "/kept") << "x";
    const std::string folder = directory.at("folder");
    const std::string sibling = directory.at("sibling");
    {
        Maker maker("cleanup", folder);
        Maker last("cleanup", sibling);
        fs::rename(folder, directory.at("moved"));
        fs::create_directory_symlink(outside, folder);
        maker.kill();
    }
    CHECK(becomes_absent(sibling));
    CHECK(fs::exists(outside + "/kept"));
    CHECK(fs::is_symlink(folder));
}

TEST_CASE("a locked folder stays until it is unlocked") {
    const TempFolder directory;
    const std::string held = directory.at("held");
    const std::string free = directory.at("free");
    Maker maker("cleanup", held);
    const int fd = ::open(held.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    REQUIRE(::flock(fd, LOCK_EX) == 0);
    Maker other("cleanup", free);
    maker.kill();
    other.kill();
    CHECK(becomes_absent(free));
    CHECK(fs::exists(held));
    ::close(fd);
    CHECK(becomes_absent(held));
}

TEST_CASE("what its maker lets go of is removed while the maker lives") {
    const TempFolder directory;
    const std::string folder = directory.at("folder");
    {
        const CleanupRegistration registration(CleanupKind::folder, folder);
        fs::create_directory(folder);
        CHECK(fs::exists(folder));
    }
    CHECK(becomes_absent(folder));
}

TEST_CASE("another process clears up where the first was killed") {
    const TempFolder directory;
    {
        const CleanupRegistration kept(CleanupKind::folder, directory.at("kept"));
        fs::create_directory(directory.at("kept"));
        const int first = janitor();
        REQUIRE(first > 0);
        ::kill(first, SIGKILL);
        REQUIRE(wait_for_end(first));
        {
            const CleanupRegistration registration(CleanupKind::folder, directory.at("folder"));
            fs::create_directory(directory.at("folder"));
        }
        CHECK(becomes_absent(directory.at("folder")));
        CHECK(fs::exists(directory.at("kept")));
    }
    CHECK(becomes_absent(directory.at("kept")));
}
