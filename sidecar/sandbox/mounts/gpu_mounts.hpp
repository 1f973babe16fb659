#pragma once
// `add_gpu` adds the devices of graphics cards, for computing, to a kernel's sandbox: NVIDIA's, AMD's, and the render
// nodes of all others. Not the nodes that drive a screen.

#include "mounts/mount_plan.hpp"

#include <string>
#include <vector>

namespace cellgate::sandbox {

// The character devices of cards in `dev`; sorted, absolute.
std::vector<std::string> find_gpu_devices(const std::string& dev);

// With what drivers read about them in /sys. Throws Error{sandbox_unavailable} where there is none.
void add_gpu(MountPlan& plan);

} // namespace cellgate::sandbox
