#pragma once
// `add_system` adds what every sandbox sees of the machine: programs, libraries and the few files of /etc that they
// need; a /proc in which nothing of the machine can be changed; the harmless devices; scratch space with a size.

#include "mounts/mount_plan.hpp"

#include <cstdint>
#include <optional>

namespace cellgate::sandbox {

// `home` is the private home that /etc/passwd names. `scratch_bytes`: how much /tmp, /dev/shm, and below the home, hold
// each.
void add_system(MountPlan& plan, const std::string& home, std::optional<std::uint64_t> scratch_bytes);

// The same but for what is the machine's: of a sandbox whose programs, libraries and files of /etc are an image's.
void add_system_of_image(MountPlan& plan, const std::string& home, std::optional<std::uint64_t> scratch_bytes);

// The private home: empty, writable, with a size.
void add_home(MountPlan& plan, const std::string& home, std::optional<std::uint64_t> scratch_bytes);

// For a sandbox with the machine's network: where its names are looked up.
void add_names_of_the_network(MountPlan& plan);

} // namespace cellgate::sandbox
