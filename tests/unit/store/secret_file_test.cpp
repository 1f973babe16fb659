#include "base/error.hpp"
#include "store/secret_file.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace cellgate;
using namespace cellgate::store;

namespace {

std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

void keep(const SecretFile& file, const std::string& text) {
    file.replace([&](const std::optional<std::string>&) { return text; });
}

struct Kept {
    TempFolder folder;
    std::string directory = (folder.path / "secrets").string();
    SecretFile file{directory, "it", "it is lost"};
};

} // namespace

TEST_CASE("a secret is read as it was kept, and is not in the file") {
    Kept kept;
    CHECK_FALSE(kept.file.read());
    keep(kept.file, "the secret");
    CHECK(kept.file.read() == "the secret");
    CHECK(SecretFile(kept.directory, "it", "").read() == "the secret");
    for (const auto& each : std::filesystem::directory_iterator(kept.directory)) {
        CAPTURE(each.path());
        CHECK(bytes_of(each.path()).find("the secret") == std::string::npos);
        struct stat status{};
        REQUIRE(::stat(each.path().c_str(), &status) == 0);
        CHECK((status.st_mode & 0777) == 0600);
    }
}

TEST_CASE("the same text is kept in other bytes each time") {
    Kept kept;
    keep(kept.file, "same");
    const std::string first = bytes_of(kept.file.path());
    keep(kept.file, "same");
    CHECK(bytes_of(kept.file.path()) != first);
}

TEST_CASE("a change sees what was kept, and makes another version") {
    Kept kept;
    CHECK(kept.file.version() == SecretFile::Version{});
    keep(kept.file, "one");
    const SecretFile::Version before = kept.file.version();
    const SecretFile::Version made =
        kept.file.replace([](const std::optional<std::string>& text) { return text.value() + " two"; });
    CHECK(kept.file.read() == "one two");
    CHECK_FALSE(made == before);
    CHECK(made == kept.file.version());
}

TEST_CASE("one byte that is changed, anywhere, is noticed") {
    Kept kept;
    keep(kept.file, "x");
    const std::string whole = bytes_of(kept.file.path());
    for (std::size_t at = 0; at < whole.size(); ++at) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ 1);
        std::ofstream(kept.file.path(), std::ios::binary) << damaged;
        CHECK_FALSE(kept.file.read());
    }
    for (std::size_t length = 0; length < whole.size(); ++length) {
        std::ofstream(kept.file.path(), std::ios::binary) << whole.substr(0, length);
        CHECK_FALSE(kept.file.read());
    }
    std::ofstream(kept.file.path(), std::ios::binary) << whole;
    CHECK(kept.file.read() == "x"); // the control
}

TEST_CASE("without its key it is as if it were not there, and a new one is made") {
    Kept kept;
    keep(kept.file, "old");
    std::filesystem::remove(kept.file.path() + ".key");
    CHECK_FALSE(kept.file.read());
    keep(kept.file, "new");
    CHECK(kept.file.read() == "new");
}

TEST_CASE("what others could have written, and a link, is not used") {
    Kept kept;
    keep(kept.file, "x");
    ::chmod(kept.file.path().c_str(), 0666);
    CHECK_FALSE(kept.file.read());
    ::chmod(kept.file.path().c_str(), 0600);
    CHECK(kept.file.read() == "x");
    std::filesystem::rename(kept.file.path(), kept.directory + "/elsewhere");
    std::filesystem::create_symlink("elsewhere", kept.file.path());
    CHECK_FALSE(kept.file.read());
}

TEST_CASE("a process that is killed while it keeps things leaves the old or the new") {
    Kept kept;
    keep(kept.file, std::string(1000, 'a'));
    for (int round = 0; round < 20; ++round) {
        const pid_t child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            for (;;) {
                keep(kept.file, std::string(1000, 'b'));
                keep(kept.file, std::string(1000, 'c'));
            }
        }
        // However far it came: it is killed at another moment each time.
        ::usleep(static_cast<useconds_t>(500 + round * 137));
        ::kill(child, SIGKILL);
        int status = 0;
        ::waitpid(child, &status, 0);
        const std::optional<std::string> found = kept.file.read();
        REQUIRE(found);
        CHECK(found->size() == 1000);
        CHECK(found->find_first_not_of(found->front()) == std::string::npos);
    }
    keep(kept.file, "after");
    CHECK(kept.file.read() == "after");
}
