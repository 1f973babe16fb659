#pragma once
// `Images` are images of containers as the systems of sandboxes. podman holds, builds and unpacks them; nothing of it
// runs while a sandbox does. An image's files are unpacked once, as files of this user, without devices and setuid
// bits, into a folder of cellgate's own that has the image's id, and used from there until its name is another image's.
// Nothing is ever fetched from a network here but by build(), when a user says so.

#include "async/loop.hpp"
#include "base/environment.hpp"
#include "sandbox/image.hpp"
#include "store/directories.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace cellgate::images {

using Report = std::function<void(const std::string& text)>; // of what takes long

struct ListedImage {
    std::string name; // podman's; of an image that podman has no longer, as it was used
    std::string id;
    std::uint64_t bytes = 0; // as podman says; 0 where it has it no longer
    bool in_podman = false;
    bool unpacked = false;
};

struct BuildOptions {
    std::string folder; // what the Containerfile may copy from
    std::string file;   // the Containerfile
    std::string tag;
    bool network = false; // also: missing base images are pulled
};

class Images {
  public:
    // All must outlive it; `environment` is the user's.
    Images(async::Loop& loop, const store::Directories& directories, const Environment& environment)
        : loop_(loop), directories_(directories), environment_(environment) {}

    // Cancelling ends what runs, and leaves nothing. Throws Error{config_invalid} for an image that podman does not
    // have, without podman, and with podman's words when that fails.
    Task<std::shared_ptr<const sandbox::Image>> open(std::string name, Report report);

    Task<std::vector<ListedImage>> list();

    // Removes the unpacked files of an image, by its name or the beginning of its id; podman keeps the image. Throws
    // Error{config_invalid} when there are none, and Error{busy} while a session uses them.
    Task<void> remove(std::string name);

    // podman's exit code; what it prints goes to `on_output`. Throws as open().
    Task<int> build(BuildOptions options, std::function<void(const std::string& bytes)> on_output);

  private:
    Task<void> unpack(std::string name, std::string id);

    async::Loop& loop_;
    const store::Directories& directories_;
    const Environment& environment_;
};

} // namespace cellgate::images
