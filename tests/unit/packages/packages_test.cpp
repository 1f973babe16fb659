#include "base/error.hpp"
#include "packages/packages.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sys/stat.h>

using namespace cellgate;
using namespace cellgate::packages;

namespace {

namespace fs = std::filesystem;

struct Fixture {
    TempFolder folder;
    std::string base = folder.path;
    store::Directories directories{base + "/state", base + "/config", base + "/runtime", base + "/data"};
    Python python{"/usr/bin/python3", "3.11.2", {}};
    Packages packages{directories, "/home/ada/plan", python};

    std::set<std::string> shown() const { return names(packages.shown()); }
    std::set<std::string> builds() const {
        std::set<std::string> found = names(fs::path(packages.shown()).parent_path());
        found.erase("installed");
        return found;
    }

  private:
    static std::set<std::string> names(const fs::path& folder) {
        std::set<std::string> found;
        for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
            found.insert(entry.path().filename());
        }
        return found;
    }
};

void make(const Packages::Build& build, const std::string& name) {
    const fs::path path = fs::path(build.directory) / "packages" / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "x";
}

} // namespace

TEST_CASE("each install becomes a folder of its own, the newest with the highest number") {
    Fixture place;
    CHECK(place.shown().empty());
    for (const char* name : {"000001", "000002"}) {
        const Packages::Build build = place.packages.begin();
        make(build, "six.py");
        make(build, "six-1.16.0.dist-info/METADATA");
        make(build, "old-2.0-py3.11.egg-info/PKG-INFO");
        make(build, "typing_extensions-4.8.0rc1+x.dist-info/METADATA");
        make(build, "bad\u202e-1.dist-info/METADATA");
        make(build, "bad-1\n2.dist-info/METADATA");
        make(build, "noversion.dist-info/METADATA");
        const std::vector<protocol::InstalledPackage> installed = place.packages.publish(build);
        REQUIRE(installed.size() == 3);
        CHECK(installed[0].name == "old");
        CHECK(installed[0].version == "2.0");
        CHECK(installed[1].name == "six");
        CHECK(installed[1].version == "1.16.0");
        CHECK(installed[2].version == "4.8.0rc1+x");
        Packages::discard(build);
        CHECK(fs::exists(fs::path(place.packages.shown()) / name / "six.py"));
    }
    CHECK(place.shown() == std::set<std::string>{"000001", "000002"});
    CHECK(place.builds().empty());
}

TEST_CASE("an install that is given up changes nothing") {
    Fixture place;
    const Packages::Build build = place.packages.begin();
    make(build, "six.py");
    Packages::discard(build);
    CHECK(place.shown().empty());
    CHECK(place.builds().empty());
}

TEST_CASE("what a crash left is cleared away by the next install, what is under way is not") {
    Fixture place;
    const Packages::Build under_way = place.packages.begin();
    {
        const Packages::Build broken_off = place.packages.begin();
        make(broken_off, "six.py");
    }
    CHECK(place.builds().size() == 2);
    const Packages::Build next = place.packages.begin();
    CHECK(place.builds() ==
          std::set<std::string>{fs::path(under_way.directory).filename(), fs::path(next.directory).filename()});
}

TEST_CASE("what a build puts in the place of its result is not followed") {
    Fixture place;
    const std::string outside = place.base + "/outside";
    fs::create_directory(outside);
    fs::permissions(outside, fs::perms::all);
    const Packages::Build build = place.packages.begin();
    fs::remove_all(build.directory + "/packages");
    fs::create_directory_symlink(outside, build.directory + "/packages");
    CHECK_THROWS_AS(place.packages.publish(build), Error);
    CHECK(fs::status(outside).permissions() == fs::perms::all);
    CHECK(place.shown().empty());
}

TEST_CASE("what is shown is for us alone, whatever a build made of its result") {
    Fixture place;
    const Packages::Build build = place.packages.begin();
    make(build, "six.py");
    fs::permissions(build.directory + "/packages", fs::perms::all);
    place.packages.publish(build);
    CHECK(fs::status(place.packages.shown() + "/000001").permissions() == fs::perms::owner_all);
    struct stat found{};
    REQUIRE(::stat(place.packages.shown().c_str(), &found) == 0);
    CHECK((found.st_mode & 0777) == 0700);
}

TEST_CASE("roots and Pythons do not share what was installed, updates of a Python do") {
    Fixture place;
    const auto shown = [&](const std::string& root, const Python& python) {
        return Packages(place.directories, root, python).shown();
    };
    const std::string here = shown("/home/ada/plan", place.python);
    CHECK(here == place.packages.shown());
    CHECK(here == shown("/home/ada/plan", {"/usr/bin/python3", "3.11.9", {}}));
    CHECK(here != shown("/home/ada/other", place.python));
    CHECK(here != shown("/home/ada/plan", {"/usr/bin/python3", "3.12.1", {}}));
    CHECK(here != shown("/home/ada/plan", {"/opt/pypy/bin/python", "3.11.2", {}}));
    CHECK(shown("/home/ada/plan", {"/opt/x", "../../x", {}}).starts_with(place.directories.data + "/packages/"));
}
