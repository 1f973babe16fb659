// The plan as data, and as bubblewrap's options.

#include "base/regular_file.hpp"
#include "launch/bwrap_mounts.hpp"
#include "mounts/mount_plan.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::sandbox;

namespace {

using Kind = Mount::Kind;

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) {
        text += (text.empty() ? "" : " ") + word;
    }
    return text;
}

} // namespace

TEST_CASE("the nearest mount at or above a path decides about it, and the last one for a place wins") {
    MountPlan plan;
    CHECK(plan.at("/home") == nullptr);
    plan.read_only("/home");
    plan.put({.place = "/home/user", .kind = Kind::scratch, .bytes = 1, .mode = 0700});
    plan.read_write("/home/user/project");
    CHECK(plan.at("/home/other")->place == "/home");
    CHECK(plan.shows("/home/other"));
    CHECK_FALSE(plan.shows("/home/user/.ssh"));
    CHECK(plan.at("/home/user/project/a")->writable);
    CHECK_FALSE(plan.at("/home/user2")->place == "/home/user"); // not a part of the name
    plan.hide_file("/home/user/project");
    CHECK(plan.at("/home/user/project/a")->is_hidden());
    CHECK_FALSE(plan.shows("/home/user/project/a"));
    plan.remove("/home/user/project");
    CHECK(plan.at("/home/user/project/a")->kind == Kind::scratch);
}

TEST_CASE("each mount keeps the reason that was set before it") {
    MountPlan plan;
    plan.set_reason({"the workspace"});
    plan.read_write("/w");
    plan.set_reason({"denyWrite[0]", Cause::user});
    plan.read_only("/other");
    CHECK(plan.at("/w")->reason.text == "the workspace");
    plan.forbid_writing("/w/a");
    CHECK(plan.at("/w")->reason.text == "the workspace");
    CHECK(plan.at("/w/a")->reason.text == "denyWrite[0]");
}

TEST_CASE("where writing is forbidden, nothing of the machine below can be written either") {
    MountPlan plan;
    plan.read_write("/w");
    plan.read_write("/w/a/b");
    plan.put({.place = "/w/a/tmp", .kind = Kind::scratch, .bytes = 1, .mode = 0700});
    CHECK(plan.writable_places() == std::vector<std::string>{"/w", "/w/a/b", "/w/a/tmp"});
    plan.forbid_writing("/w/a");
    CHECK(plan.writable_places() == std::vector<std::string>{"/w", "/w/a/tmp"});
    CHECK_FALSE(plan.at("/w/a/b")->writable);
}

TEST_CASE("what is in a hidden directory cannot be reached until a passage is opened") {
    MountPlan plan;
    plan.read_write("/w");
    plan.hide_directory("/w/secret");
    plan.read_write("/w/secret/shown");
    CHECK(plan.writable_places() == std::vector<std::string>{"/w"});
    CHECK(plan.binds_within("/w").size() == 1);
    plan.open_passage("/w/secret");
    CHECK(plan.writable_places() == std::vector<std::string>{"/w", "/w/secret/shown"});
    CHECK(plan.binds_within("/w").size() == 2);
    CHECK(plan.at("/w/secret/other")->is_hidden());
}

TEST_CASE("the folders above a mount in a writable place are pinned, those in a read-only one need not be") {
    MountPlan plan;
    plan.read_write("/w");
    plan.read_only("/w/a/b/.git");
    plan.read_only("/w/fixed");
    plan.hide_file("/w/fixed/c/.env");
    plan.pin_folders("/w");
    CHECK(plan.at("/w/a")->place == "/w/a");
    CHECK(plan.at("/w/a/b")->place == "/w/a/b");
    CHECK(plan.at("/w/a/b")->writable);
    CHECK(plan.at("/w/fixed/c")->place == "/w/fixed");
}

TEST_CASE("bubblewrap mounts parents first, has files by their descriptors, and seals last") {
    MountPlan plan;
    plan.read_only("/w/.git");
    plan.hide_directory("/w/.ssh");
    plan.hide_file("/w/.env");
    plan.put({.place = "/proc", .kind = Kind::proc});
    plan.put({.place = "/dev", .kind = Kind::devices});
    plan.put({.place = "/dev/nvidia0", .kind = Kind::device, .source = "/dev/nvidia0"});
    plan.put({.place = "/tmp", .kind = Kind::scratch, .bytes = 4096, .mode = 01777});
    plan.put({.place = "/bin", .kind = Kind::symlink, .source = "usr/bin"});
    plan.file("localhost", "/etc/hosts");
    plan.put({.place = "/cellgate", .source = "/home/user/packages", .writable = true});
    plan.read_write("/w");
    BwrapMounts mounts = bwrap_mounts(plan, 7);
    CHECK(joined(mounts.arguments) == "--symlink usr/bin /bin "
                                      "--bind /home/user/packages /cellgate "
                                      "--dev /dev "
                                      "--dev-bind /dev/nvidia0 /dev/nvidia0 "
                                      "--perms 0444 --file 7 /etc/hosts "
                                      "--proc /proc "
                                      "--perms 1777 --size 4096 --tmpfs /tmp "
                                      "--bind /w /w "
                                      "--ro-bind /dev/null /w/.env "
                                      "--ro-bind /w/.git /w/.git "
                                      "--perms 0000 --size 4096 --tmpfs /w/.ssh "
                                      "--remount-ro /dev --remount-ro /proc --remount-ro /w/.ssh --remount-ro /");
    REQUIRE(mounts.files.size() == 1);
    const std::string file = "/proc/self/fd/" + std::to_string(mounts.files[0].get());
    CHECK(read_regular_file(file, 100).bytes == "localhost");
}
