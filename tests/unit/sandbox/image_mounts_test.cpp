// The files of an image around a plan, and its programs.

#include "launch/bwrap_mounts.hpp"
#include "machine.hpp"
#include "mounts/image_mounts.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

using namespace cellgate;
using namespace cellgate::sandbox;

namespace {

namespace fs = std::filesystem;
using Kind = Mount::Kind;

// An image of empty files.
struct ImageFixture {
    ImageFixture() {
        image.root = (machine.root / "image").string();
        image.name = "analysis";
        fs::create_directories(image.root);
    }

    void file(const std::string& place, fs::perms mode = fs::perms::owner_read) const {
        const fs::path path = image.root + place;
        fs::create_directories(path.parent_path());
        std::ofstream(path).close();
        fs::permissions(path, mode);
    }

    void link(const std::string& place, const std::string& target) const {
        fs::create_directories(fs::path(image.root + place).parent_path());
        fs::create_symlink(target, image.root + place);
    }

    std::string source_at(const std::string& place) const {
        const auto mount = plan.mounts().find(place);
        return mount == plan.mounts().end() ? "none" : mount->second.source;
    }

    Machine machine;
    Image image;
    MountPlan plan;
};

} // namespace

TEST_CASE("an image is shown read-only, without what every sandbox has of its own") {
    ImageFixture fixture;
    for (const char* place :
         {"/usr/bin/python3", "/proc/x", "/tmp/x", "/run/x", "/dev/x", "/sys/x", "/.cellgate/x", "/file"}) {
        fixture.file(place);
    }
    fixture.link("/bin", "usr/bin");
    add_image(fixture.plan, fixture.image);
    CHECK(fixture.plan.mounts().size() == 3);
    CHECK(fixture.source_at("/usr") == fixture.image.root + "/usr");
    CHECK_FALSE(fixture.plan.at("/usr")->writable);
    CHECK(fixture.plan.at("/usr")->reason.text == "the image analysis");
    CHECK(fixture.plan.at("/bin")->kind == Kind::symlink);
    CHECK(fixture.source_at("/bin") == "usr/bin");
    CHECK(fixture.source_at("/file") == fixture.image.root + "/file");
}

TEST_CASE("what the plan has stays, and is mounted on what the image has at its place") {
    ImageFixture fixture;
    fixture.file("/etc/passwd");
    fixture.file("/etc/marker");
    fixture.plan.file("ours", "/etc/passwd");
    add_image(fixture.plan, fixture.image);
    CHECK(fixture.plan.at("/etc/passwd")->content == "ours");
    CHECK(fixture.source_at("/etc") == fixture.image.root + "/etc");
    const std::vector<std::string> arguments = bwrap_mounts(fixture.plan, 10).arguments;
    // A file would be made in the image otherwise.
    CHECK(std::find(arguments.begin(), arguments.end(), "--ro-bind-data") != arguments.end());
    CHECK(std::find(arguments.begin(), arguments.end(), "--file") == arguments.end());
}

TEST_CASE("where the image has nothing to mount on, its folder is the sandbox's own, with the image's entries") {
    ImageFixture fixture;
    fixture.file("/home/jovyan/notes");
    fixture.link("/home/link", "jovyan");
    fixture.file("/etc/marker");
    fixture.plan.read_write("/home/ada/plan");
    fixture.plan.file("ours", "/etc/passwd");
    add_image(fixture.plan, fixture.image);
    CHECK(fixture.source_at("/home") == "none");
    CHECK(fixture.source_at("/home/jovyan") == fixture.image.root + "/home/jovyan");
    CHECK(fixture.source_at("/home/link") == "jovyan");
    CHECK(fixture.source_at("/home/ada/plan") == "/home/ada/plan");
    CHECK(fixture.source_at("/etc") == "none");
    CHECK(fixture.source_at("/etc/marker") == fixture.image.root + "/etc/marker");
}

TEST_CASE("a link of the image does not lead what is mounted elsewhere") {
    ImageFixture fixture;
    fixture.file("/data/ada/plan/file");
    fixture.link("/home", "/data");
    fixture.link("/srv/ada", "/data/ada");
    fixture.plan.read_write("/home/ada/plan");
    fixture.plan.read_write("/srv/ada/plan");
    add_image(fixture.plan, fixture.image);
    CHECK(fixture.source_at("/home") == "none");
    CHECK(fixture.source_at("/srv/ada") == "none");
    CHECK(fixture.source_at("/data") == fixture.image.root + "/data");
}

TEST_CASE("a program of the image is found on its own PATH, and its links stay in the image") {
    ImageFixture fixture;
    fixture.image.environment = {{"PATH", "relative:/usr/local/bin:/usr/bin"}};
    fixture.file("/usr/bin/python3.11", fs::perms::owner_all);
    fixture.link("/usr/bin/python3", "/usr/bin/python3.11");
    fixture.file("/usr/local/bin/python3"); // no program
    fixture.link("/usr/bin/out", "/../../../../../../../../../../bin/sh");
    CHECK(find_program(fixture.image, "python3") == "/usr/bin/python3");
    CHECK(find_program(fixture.image, "/usr/bin/python3.11") == "/usr/bin/python3.11");
    CHECK_FALSE(find_program(fixture.image, "/bin/sh"));
    CHECK_FALSE(find_program(fixture.image, "out"));
    CHECK_FALSE(find_program(fixture.image, "usr/bin/python3"));
    CHECK_FALSE(find_program(fixture.image, "python4"));
}
