#include "base/error.hpp"
#include "machine.hpp"
#include "mounts/gpu_mounts.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <sys/sysmacros.h>

using namespace cellgate;
using namespace cellgate::sandbox;

TEST_CASE("of the devices those of graphics cards are found, for computing") {
    const Machine machine;
    const std::string dev = (machine.root / "dev").string();
    std::filesystem::create_directories(dev + "/dri");
    std::filesystem::create_directories(dev + "/nvidia-caps");
    // As the device that swallows everything.
    const auto make = [&dev](const char* name) {
        return ::mknod((dev + "/" + name).c_str(), S_IFCHR | 0666, ::makedev(1, 3)) == 0;
    };
    if (!make("nvidia0")) {
        MESSAGE("only root makes devices");
        return;
    }
    for (const char* name : {"nvidia12", "nvidiactl", "nvidia-uvm", "nvidia-caps/nvidia-cap1", "kfd", "dri/renderD128",
                             "dri/card0", "nvidia", "nvidiax1", "sda", "tty0", "kmsg"}) {
        REQUIRE(make(name));
    }
    machine.write(dev + "/nvidia1", "no device");
    std::filesystem::create_symlink("/dev/mem", dev + "/nvidia2");
    const std::vector<std::string> found = find_gpu_devices(dev);
    std::vector<std::string> names;
    for (const std::string& path : found) {
        names.push_back(path.substr(dev.size() + 1));
    }
    CHECK(names == std::vector<std::string>{"dri/renderD128", "kfd", "nvidia-caps/nvidia-cap1", "nvidia-uvm", "nvidia0",
                                            "nvidia12", "nvidiactl"});
}

TEST_CASE("a graphics card that is not there is an error, and nothing starts without it") {
    MountPlan plan;
    if (!find_gpu_devices("/dev").empty()) {
        CHECK_NOTHROW(add_gpu(plan));
        return;
    }
    CHECK_THROWS_WITH_AS(add_gpu(plan), doctest::Contains("no device of one in /dev"), Error);
}
