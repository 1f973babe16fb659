#include "mounts/system_mounts.hpp"

#include "base/regular_file.hpp"
#include "sandbox/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <unistd.h>

namespace cellgate::sandbox {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_table_bytes = std::size_t{1} << 20;

// Not all of /etc: it holds tokens, keys and names of other machines.
constexpr std::array etc_names = {"alternatives",
                                  "fonts",
                                  "ld.so.cache",
                                  "locale.alias",
                                  "locale.conf",
                                  "localtime",
                                  "matplotlibrc",
                                  "mime.types",
                                  "os-release",
                                  "pki/tls/certs",
                                  "pki/ca-trust/extracted",
                                  "protocols",
                                  "R",
                                  "services",
                                  "ssl/certs",
                                  "ssl/openssl.cnf"};
// /usr/lib/python3.11/sitecustomize.py and the configuration of OpenJDK are links to these.
constexpr std::array etc_prefixes = {"python3", "java-"};

// As it is here: a symlink stays one (time zones are read off the name that /etc/localtime points to).
void add_as_it_is(MountPlan& plan, const fs::path& path) {
    std::error_code error;
    fs::file_status status = fs::symlink_status(path, error);
    if (status.type() == fs::file_type::symlink) {
        fs::path target = fs::read_symlink(path, error);
        fs::path resolved = (path.parent_path() / target).lexically_normal();
        if (plan.shows(resolved.string())) {
            plan.put({.place = path, .kind = Mount::Kind::symlink, .source = target});
            return;
        }
        status = fs::status(path, error);
    }
    const bool small = fs::is_regular_file(status) && fs::file_size(path, error) <= max_table_bytes;
    if (small && ::access(path.c_str(), R_OK) == 0) {
        plan.put({.place = path, .kind = Mount::Kind::copy, .source = path});
    } else if (fs::exists(status)) {
        plan.read_only(path.string());
    }
}

void add_etc(MountPlan& plan) {
    for (const char* name : etc_names) {
        add_as_it_is(plan, fs::path("/etc") / name);
    }
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator("/etc", error)) {
        std::string name = entry.path().filename().string();
        if (std::any_of(etc_prefixes.begin(), etc_prefixes.end(),
                        [&](const char* prefix) { return name.starts_with(prefix); })) {
            add_as_it_is(plan, entry.path());
        }
    }
}

// Code in the sandbox does not learn the users, groups and hosts of this machine.
void add_names(MountPlan& plan, const std::string& home) {
    plan.set_reason({"the sandbox's own: it names no user of this machine"});
    const char* user = ::getuid() == 0 ? "root" : "user";
    plan.file(fmt::format("{}:x:{}:{}::{}:/bin/sh\nnobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n", user,
                          ::getuid(), ::getgid(), home),
              "/etc/passwd");
    plan.file(fmt::format("{}:x:{}:\nnogroup:x:65534:\n", user, ::getgid()), "/etc/group");
    plan.file("passwd: files\ngroup: files\nhosts: files dns\n", "/etc/nsswitch.conf");
    plan.file("127.0.0.1 localhost cellgate\n::1 localhost cellgate\n", "/etc/hosts");
}

// Files such as sys/kernel/core_pattern, with which a program gets run outside, ask for no capability when root writes
// them, only for root's id, which root keeps in here. So all of /proc is read-only, and files that not everybody may
// read are not there at all.
void add_proc(MountPlan& plan) {
    plan.set_reason({"the sandbox's own: its processes only"});
    plan.put({.place = "/proc", .kind = Mount::Kind::proc});
    std::error_code error;
    for (fs::directory_iterator entry("/proc", error), end; !error && entry != end; entry.increment(error)) {
        std::error_code ignored;
        if (entry->is_symlink(ignored) || !entry->is_regular_file(ignored)) {
            continue; // known without a look at it: most are the folders of processes
        }
        const fs::file_status status = entry->symlink_status(ignored);
        const bool for_all = (status.permissions() & fs::perms::others_read) != fs::perms::none;
        const char* path = entry->path().c_str();
        if (!ignored && !for_all && (::access(path, R_OK) == 0 || ::access(path, W_OK) == 0)) {
            plan.hide_file(path);
        }
    }
}

void add_scratch(MountPlan& plan, const std::string& place, std::uint64_t bytes, mode_t mode) {
    plan.put({.place = place, .kind = Mount::Kind::scratch, .bytes = bytes, .mode = mode});
}

// What no sandbox has of the machine or of an image.
void add_own(MountPlan& plan, const std::string& home, std::optional<std::uint64_t> scratch_bytes) {
    add_names(plan, home);
    add_proc(plan);
    plan.set_reason({"the sandbox's own: the harmless devices"});
    plan.put({.place = "/dev", .kind = Mount::Kind::devices});
    plan.set_reason({"the sandbox's own scratch space"});
    add_scratch(plan, "/dev/shm", scratch_bytes.value_or(default_shared_memory_bytes), 01777);
    add_scratch(plan, "/tmp", scratch_bytes.value_or(default_tmp_bytes), 01777);
}

} // namespace

void add_system(MountPlan& plan, const std::string& home, std::optional<std::uint64_t> scratch_bytes) {
    plan.set_reason({"the system's programs and what they need"});
    plan.read_only("/usr");
    for (const char* path : {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}) {
        add_as_it_is(plan, path);
    }
    add_etc(plan);
    add_own(plan, home, scratch_bytes);
    plan.put({.place = "/var/tmp", .kind = Mount::Kind::symlink, .source = "../tmp"});
}

void add_system_of_image(MountPlan& plan, const std::string& home, std::optional<std::uint64_t> scratch_bytes) {
    add_own(plan, home, scratch_bytes);
    add_scratch(plan, "/var/tmp", scratch_bytes.value_or(default_tmp_bytes), 01777); // the image has a folder there
}

void add_home(MountPlan& plan, const std::string& home, std::optional<std::uint64_t> scratch_bytes) {
    plan.set_reason({"the sandbox's own home, empty at the start"});
    add_scratch(plan, home, scratch_bytes.value_or(default_home_bytes), 0700);
}

void add_names_of_the_network(MountPlan& plan) {
    // Copies: the files are often links into /run, which is not shown.
    for (const char* path : {"/etc/resolv.conf", "/etc/hosts"}) {
        plan.file(read_regular_file(path, max_table_bytes).bytes, path);
    }
}

} // namespace cellgate::sandbox
