#include "launch/gvisor_bundle.hpp"

#include "base/error.hpp"
#include "base/json.hpp"

#include <fmt/format.h>

namespace cellgate::sandbox {

namespace {

constexpr const char* bundle_folder = "/.cellgate/bundle";
constexpr const char* state_folder = "/.cellgate/runsc";   // with a socket by which runsc is controlled
constexpr const char* runtime_file = "/.cellgate/runtime"; // an image has none
constexpr const char* helper_file = "/.cellgate/helper";
constexpr std::uint64_t state_bytes = 16ULL << 20;

Json tmpfs_of_gvisor(const std::string& place, std::uint64_t bytes, mode_t mode, bool writable) {
    return Json{{"destination", place},
                {"type", "tmpfs"},
                {"source", "tmpfs"},
                {"options", Json::array({"nosuid", "nodev", fmt::format("size={}", bytes),
                                         fmt::format("mode={:o}", mode), writable ? "rw" : "ro"})}};
}

// Scratch space in gVisor's own memory: quicker than bubblewrap's, and with the same size. What has mounts of the plan
// below it stays bubblewrap's.
Json own_mounts(const MountPlan& plan) {
    Json mounts = Json::array({Json{{"destination", "/proc"}, {"type", "proc"}, {"source", "proc"}}});
    for (const char* place : {"/dev/shm", "/tmp"}) {
        const Mount* scratch = plan.at(place);
        if (scratch != nullptr && scratch->kind == Mount::Kind::scratch && plan.places_below(place).empty()) {
            mounts.push_back(tmpfs_of_gvisor(place, scratch->bytes, scratch->mode, true));
        }
    }
    mounts.push_back(tmpfs_of_gvisor(state_folder, 4096, 0, false));
    return mounts;
}

// Its kernel has namespaces of its own.
Json gvisor_namespaces() {
    Json all = Json::array();
    for (const char* type : {"pid", "network", "ipc", "uts", "mount"}) {
        all.push_back(Json{{"type", type}});
    }
    return all;
}

std::string bundle_text(const MountPlan& plan, const RuntimeCommand& command) {
    Json environment = Json::array();
    for (const auto& [name, value] : command.environment) {
        environment.push_back(name + "=" + value);
    }
    std::vector<std::string> argv = {helper_file, "enter", "-1"};
    argv.insert(argv.end(), command.argv.begin(), command.argv.end());
    const Json bundle = {{"ociVersion", "1.0.0"},
                         {"process",
                          {{"user", {{"uid", 0}, {"gid", 0}}},
                           {"args", argv},
                           {"env", environment},
                           {"cwd", command.cwd},
                           {"capabilities", Json::object()},
                           {"noNewPrivileges", true}}},
                         {"root", {{"path", "/"}, {"readonly", false}}}, // its mounts say what is
                         {"hostname", "cellgate"},
                         {"mounts", own_mounts(plan)},
                         {"linux", {{"namespaces", gvisor_namespaces()}}}};
    try {
        return bundle.dump();
    } catch (const Json::exception&) {
        throw Error(ErrorCode::config_invalid, "an argument, a variable or the folder of the command is not UTF-8",
                    "The gVisor launcher needs texts that are: use another launcher, or change it.");
    }
}

} // namespace

std::vector<std::string> add_gvisor_bundle(MountPlan& plan, const std::string& runsc, int helper,
                                           const RuntimeCommand& command) {
    plan.set_reason({"what the gVisor launcher needs"});
    plan.file(bundle_text(plan, command), fmt::format("{}/config.json", bundle_folder));
    plan.put({.place = helper_file,
              .kind = Mount::Kind::copy,
              .source = fmt::format("/proc/self/fd/{}", helper),
              .mode = 0555});
    plan.put({.place = state_folder, .kind = Mount::Kind::scratch, .bytes = state_bytes, .mode = 0700});
    plan.hide_directory("/sys"); // where runsc mounts its own
    // runsc makes namespaces, which is done by writing there; bubblewrap itself keeps the machine's settings read-only.
    plan.put({.place = "/proc", .kind = Mount::Kind::proc, .writable = true});
    // Not rootless as it is meant elsewhere: all rights over the namespaces around it are there, and no more users. The
    // files are shared with programs outside, so they are looked at each time, and sockets in them are the machine's.
    plan.put({.place = runtime_file, .source = runsc});
    return {runtime_file,
            fmt::format("--root={}", state_folder),
            "--rootless",
            "--network=none",
            "--ignore-cgroups",
            "--host-uds=all",
            "--overlay2=none",
            "--file-access=shared",
            "run",
            "--bundle",
            bundle_folder,
            "cellgate"};
}

} // namespace cellgate::sandbox
