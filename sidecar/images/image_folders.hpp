#pragma once
// `ImageFolders` are the folders of unpacked images: `$XDG_DATA_HOME/cellgate/images/<id>`, each with the image's files
// in `root` and the name that it was used by in `name`. A folder is complete from the moment it has that path; a
// session that uses it holds a shared lock on it. All functions block.

#include "base/unique_fd.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cellgate::images {

// Of folders that are not complete, beside the images' (store/locked_temp_dir.hpp).
inline constexpr const char* temporary_prefix = "u-";

struct UnpackedImage {
    std::string id;
    std::string name;
};

class ImageFolders {
  public:
    explicit ImageFolders(std::string folder) : folder_(std::move(folder)) {}

    const std::string& folder() const { return folder_; }
    std::string root_of(const std::string& id) const { return path_of(id) + "/root"; }
    // The lock of a folder that is in use from now on; nothing if there is none.
    std::optional<UniqueFd> use(const std::string& id) const;
    // Makes what was unpacked in `unpacked`/root the image's folder, and removes those of other images that had the
    // name and that nothing uses. Another process may have been quicker: then its folder stays.
    void add(const std::string& unpacked, const UnpackedImage& image) const;
    std::vector<UnpackedImage> all() const;
    // False while something uses it.
    bool remove(const std::string& id) const;

  private:
    std::string path_of(const std::string& id) const { return folder_ + "/" + id; }

    std::string folder_;
};

} // namespace cellgate::images
