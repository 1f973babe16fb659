#pragma once
// `add_image` shows the files of an image around what the plan has already: read-only, and without what every sandbox
// has of its own (/proc, /dev, /tmp). Where the plan and the image have the same place, the plan's stays.

#include "mounts/mount_plan.hpp"
#include "sandbox/image.hpp"

namespace cellgate::sandbox {

// To be called once all else is in the plan.
void add_image(MountPlan& plan, const Image& image);

} // namespace cellgate::sandbox
