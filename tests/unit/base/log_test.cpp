#include "base/error.hpp"
#include "base/log.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>

using namespace cellgate;

namespace {

std::string text_of(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

// The log of this process is given back, so that later tests log as before.
struct Folder {
    Folder() {
        std::string name = "/tmp/log-XXXXXX";
        path = ::mkdtemp(name.data());
    }
    ~Folder() {
        ::dup2(stderr_before, STDERR_FILENO);
        ::close(stderr_before);
        set_log_level(LogLevel::warning);
        std::filesystem::remove_all(path);
    }
    std::string path;
    int stderr_before = ::dup(STDERR_FILENO);
};

} // namespace

TEST_CASE("a log in a file has times, takes what stderr gets, and is bounded") {
    const Folder folder;
    const std::string path = folder.path + "/log";
    log_to_file(path);
    log_warning("first {}", 1);
    ::write(STDERR_FILENO, "from elsewhere\n", 15);
    const std::string text = text_of(path);
    CHECK(text.find("Z cellgate: warning: first 1\n") == 24 - 1);
    CHECK(text.find("from elsewhere\n") != std::string::npos);

    const std::string line(1000, 'x');
    for (int i = 0; i < 4000; ++i) {
        log_warning("{} {}", i, line);
    }
    const auto size = std::filesystem::file_size(path) + std::filesystem::file_size(path + ".1");
    CHECK(size < 2 * max_log_file_bytes + 4096);
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 2);
    CHECK(text_of(path).find("warning: 3999 x") != std::string::npos);
    CHECK((std::filesystem::status(path).permissions() & std::filesystem::perms::all) ==
          (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
    CHECK_THROWS_AS(log_to_file(folder.path + "/none/log"), Error);
}
