#include "mounts/gpu_mounts.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>

namespace cellgate::sandbox {

namespace {

namespace fs = std::filesystem;

// /dev/dxg is what WSL has.
constexpr std::array<std::string_view, 6> names = {"nvidiactl",      "nvidia-uvm", "nvidia-uvm-tools",
                                                   "nvidia-modeset", "kfd",        "dxg"};
constexpr std::array<const char*, 7> read_by_drivers = {"/sys/bus/pci",      "/sys/class/drm", "/sys/class/kfd",
                                                        "/sys/dev/char",     "/sys/devices",   "/sys/module/amdgpu",
                                                        "/sys/module/nvidia"};

// Whether `name` is `start` and a number.
bool is_numbered(std::string_view name, std::string_view start) {
    return name.size() > start.size() && name.starts_with(start) &&
           std::all_of(name.begin() + static_cast<std::ptrdiff_t>(start.size()), name.end(),
                       [](unsigned char c) { return std::isdigit(c) != 0; });
}

template <class IsOne>
void find_in(const std::string& folder, IsOne is_one, std::vector<std::string>& found) {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        std::error_code ignored;
        const bool device = entry->symlink_status(ignored).type() == fs::file_type::character;
        if (device && is_one(entry->path().filename().string())) {
            found.push_back(entry->path().string());
        }
    }
}

} // namespace

std::vector<std::string> find_gpu_devices(const std::string& dev) {
    std::vector<std::string> found;
    find_in(
        dev,
        [](const std::string& name) {
            return is_numbered(name, "nvidia") || std::find(names.begin(), names.end(), name) != names.end();
        },
        found);
    find_in(dev + "/nvidia-caps", [](const std::string& name) { return is_numbered(name, "nvidia-cap"); }, found);
    find_in(dev + "/dri", [](const std::string& name) { return is_numbered(name, "renderD"); }, found);
    std::sort(found.begin(), found.end());
    return found;
}

void add_gpu(MountPlan& plan) {
    const std::vector<std::string> devices = find_gpu_devices("/dev");
    if (devices.empty()) {
        throw Error(ErrorCode::sandbox_unavailable,
                    "expected a graphics card for the sandbox (gpu), found no device of one in /dev: no /dev/nvidia0, "
                    "/dev/kfd or /dev/dri/renderD128",
                    "Install its driver, or start the session without gpu.");
    }
    plan.set_reason({"the graphics cards of this machine (gpu)"});
    for (const std::string& device : devices) {
        plan.put({.place = device, .kind = Mount::Kind::device, .source = device});
    }
    for (const char* path : read_by_drivers) {
        if (fs::exists(path)) {
            plan.read_only(path);
        }
    }
}

} // namespace cellgate::sandbox
