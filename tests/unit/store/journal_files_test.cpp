#include "store/directories.hpp"
#include "store/journal_files.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace cellgate;
using namespace cellgate::store;

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t large = std::uint64_t{10} << 20;

struct TestDirectory {
    std::string path = make_unique_directory(fs::temp_directory_path(), "cellgate-test-");
    bool held = false; // what is done off the loop
    Event released;
    int jobs = 0;
    JournalFiles files{path, [this](std::function<void()> work) { return later(std::move(work)); }};

    ~TestDirectory() {
        release();
        TaskScope scope;
        scope.spawn(files.close());
        REQUIRE(scope.running() == 0);
        CHECK_FALSE(fs::exists(path));
    }

    Task<void> later(std::function<void()> work) {
        ++jobs;
        while (held) {
            co_await released.wait();
        }
        work();
    }
    void release() {
        held = false;
        released.set();
        released.reset();
    }
    std::size_t count() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(path), fs::directory_iterator()));
    }
    std::string take() {
        const JournalFiles::File file = files.take();
        REQUIRE(file.fd.valid());
        struct stat status{};
        REQUIRE(::fstat(file.fd.get(), &status) == 0);
        CHECK(status.st_size == 0);
        CHECK((status.st_mode & 07777) == 0600);
        return file.path;
    }
};

} // namespace

TEST_CASE("files are made ahead, in batches, and none is given twice") {
    TestDirectory place;
    std::vector<std::string> taken;
    for (int i = 0; i < 200; ++i) {
        taken.push_back(place.take());
        CHECK(fs::exists(taken.back()));
    }
    CHECK(place.jobs < 20);
    std::sort(taken.begin(), taken.end());
    CHECK(std::adjacent_find(taken.begin(), taken.end()) == taken.end());
}

TEST_CASE("when none is ahead one is made on the spot") {
    TestDirectory place;
    place.held = true;
    for (int i = 0; i < 100; ++i) {
        place.take();
    }
    CHECK(place.jobs == 1);
    CHECK(place.count() == 100);
    place.release();
    CHECK(place.count() > 100);
    const std::size_t before = place.count();
    place.take();
    CHECK(place.count() == before);
}

TEST_CASE("one that was removed before it was taken is not given") {
    TestDirectory place;
    place.take();
    for (const fs::directory_entry& entry : fs::directory_iterator(place.path)) {
        fs::remove(entry);
    }
    CHECK(fs::exists(place.take()));
}

TEST_CASE("without the directory there is the reason, and a later try may succeed") {
    TestDirectory place;
    fs::remove_all(place.path);
    const JournalFiles::File none = place.files.take();
    CHECK_FALSE(none.fd.valid());
    CHECK(none.error == ENOENT);
    fs::create_directory(place.path);
    place.take();
}

TEST_CASE("what is removed goes at once when it is large or much, and never another file") {
    TestDirectory place;
    std::vector<std::string> taken;
    for (int i = 0; i < 100; ++i) {
        taken.push_back(place.take());
    }
    SUBCASE("large") {
        place.files.remove(taken[0], large);
        CHECK_FALSE(fs::exists(taken[0]));
        CHECK(fs::exists(taken[1]));
    }
    SUBCASE("many") {
        for (int i = 0; i < 99; ++i) {
            place.files.remove(taken[i], 10);
        }
        CHECK(std::count_if(taken.begin(), taken.end(), [](const std::string& path) { return fs::exists(path); }) < 20);
        CHECK(fs::exists(taken[99]));
    }
    SUBCASE("what comes while the last batch is worked on") {
        place.held = true;
        place.files.remove(taken[0], large);
        place.files.remove(taken[1], large);
        CHECK(fs::exists(taken[0]));
        place.release();
        CHECK_FALSE(fs::exists(taken[0]));
        CHECK_FALSE(fs::exists(taken[1]));
        CHECK(fs::exists(taken[2]));
    }
    SUBCASE("numbered ones, up to the first that is missing") {
        const std::string stem = place.files.new_stem();
        for (const char* end : {".0", ".1", ".3", ""}) {
            std::ofstream(stem + end) << "x";
        }
        place.files.remove_numbered(stem);
        CHECK_FALSE(fs::exists(stem + ".0"));
        CHECK_FALSE(fs::exists(stem + ".1"));
        CHECK(fs::exists(stem + ".3"));
        CHECK(fs::exists(stem));
    }
}
