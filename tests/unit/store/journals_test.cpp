#include "store/directories.hpp"
#include "store/journal.hpp"
#include "store/journals.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>

#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>

using namespace cellgate;
using namespace cellgate::store;

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t day = 24 * 3600;

struct TestDirectory {
    TempFolder folder;
    std::string path = folder.path;

    std::string root() const {
        fs::create_directories(path + "/root");
        return path + "/root";
    }
    // As a sidecar leaves it that was killed.
    std::string left(const std::string& name, std::int64_t age, std::size_t bytes = 10) const {
        const std::string directory = root() + "/" + name;
        fs::create_directory(directory);
        std::ofstream(directory + "/0.jsonl") << std::string(bytes, 'x');
        grow_old(directory, age);
        return directory;
    }
    static void grow_old(const std::string& directory, std::int64_t age) {
        const timespec time{std::time(nullptr) - age, 0};
        const timespec times[2] = {time, time};
        REQUIRE(::utimensat(AT_FDCWD, directory.c_str(), times, 0) == 0);
    }
};

} // namespace

TEST_CASE("journals are removed with their sidecar") {
    const TestDirectory place;
    std::string directory;
    {
        Journals journals(place.root(), run_inline);
        directory = journals.directory();
        Journal journal(journals, {"a", "s"});
        journal.append(RawJson::parse("{}"), false);
        CHECK_FALSE(fs::is_empty(directory));
    }
    CHECK_FALSE(fs::exists(directory));
}

TEST_CASE("what a crash left is removed when it is old, and kept for a while before") {
    const TestDirectory place;
    const std::string old = place.left("run-old", 8 * day);
    const std::string recent = place.left("run-recent", 2 * day);
    const std::string other = place.left("precious", 8 * day);
    remove_stale_journals(place.path);
    CHECK_FALSE(fs::exists(old));
    CHECK(fs::exists(recent));
    CHECK(fs::exists(other));
}

TEST_CASE("of much that crashes left, the latest is kept") {
    const TestDirectory place;
    const std::string first = place.left("run-1", 3 * day, 600);
    const std::string second = place.left("run-2", 2 * day, 600);
    const std::string third = place.left("run-3", 60, 5000); // it may be about to be locked
    JournalRetention retention;
    retention.kept_bytes = 1000;
    remove_stale_journals(place.path, retention);
    CHECK_FALSE(fs::exists(first));
    CHECK(fs::exists(second));
    CHECK(fs::exists(third));
}

TEST_CASE("journals of a sidecar that lives are not removed, however old") {
    const TestDirectory place;
    const Journals living(place.root(), run_inline);
    TestDirectory::grow_old(living.directory(), 30 * day);
    remove_stale_journals(place.path);
    CHECK(fs::exists(living.directory()));
}

TEST_CASE("removing stale journals does not leave the directory through a link") {
    const TestDirectory place;
    const TempFolder other;
    const std::string elsewhere = other.path;
    fs::create_directory(elsewhere + "/run-precious");
    TestDirectory::grow_old(elsewhere + "/run-precious", 8 * day);
    fs::create_symlink(elsewhere, place.path + "/link");
    fs::create_symlink(elsewhere + "/run-precious", place.root() + "/run-link");
    remove_stale_journals(place.path);
    remove_stale_journals(place.path + "/missing");
    CHECK(fs::exists(elsewhere + "/run-precious"));
}
