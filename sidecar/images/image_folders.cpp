#include "image_folders.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/names.hpp"
#include "base/regular_file.hpp"
#include "store/directories.hpp"
#include "store/directory_lock.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cellgate::images {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view name_file = "name";
constexpr std::size_t max_name_bytes = 255;

// The files of /etc that each sandbox has its own of: there has to be something to mount them on.
void add_missing_names(const std::string& root) {
    struct stat status{};
    if (::lstat((root + "/etc").c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
        return;
    }
    for (const char* name : {"passwd", "group", "hosts", "nsswitch.conf"}) {
        const UniqueFd made(::open(fmt::format("{}/etc/{}", root, name).c_str(),
                                   O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644));
    }
}

} // namespace

std::optional<UniqueFd> ImageFolders::use(const std::string& id) const {
    UniqueFd folder(::open(path_of(id).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    struct stat locked{};
    struct stat named{};
    // Between the two it may have been removed.
    if (!folder.valid() || ::flock(folder.get(), LOCK_SH | LOCK_NB) != 0 || ::fstat(folder.get(), &locked) != 0 ||
        ::lstat(path_of(id).c_str(), &named) != 0 || locked.st_ino != named.st_ino || locked.st_dev != named.st_dev) {
        return std::nullopt;
    }
    return folder;
}

void ImageFolders::add(const std::string& unpacked, const UnpackedImage& image) const {
    add_missing_names(unpacked + "/root");
    write_new_file(fmt::format("{}/{}", unpacked, name_file), image.name);
    if (::rename(unpacked.c_str(), path_of(image.id).c_str()) != 0 && errno != EEXIST && errno != ENOTEMPTY) {
        throw system_error(ErrorCode::store_failed, fmt::format("cannot make the folder of the image {}", image.name),
                           errno);
    }
    for (const UnpackedImage& each : all()) {
        if (each.name == image.name && each.id != image.id) {
            remove(each.id);
        }
    }
}

std::vector<UnpackedImage> ImageFolders::all() const {
    std::vector<UnpackedImage> images;
    std::error_code error;
    for (fs::directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error)) {
        const std::string id = entry->path().filename();
        const RegularFile name = read_regular_file(entry->path() / name_file, max_name_bytes);
        if (is_identifier(id) && is_image_name(name.bytes)) {
            images.push_back({id, name.bytes});
        }
    }
    return images;
}

bool ImageFolders::remove(const std::string& id) const {
    const store::DirectoryLock lock(path_of(id));
    if (!lock.held()) {
        return false;
    }
    // So that it is never there in part. What a crash leaves of it is removed as other folders with that prefix are.
    const std::string removed = fmt::format("{}/{}{}", folder_, temporary_prefix, random_id());
    if (::rename(path_of(id).c_str(), removed.c_str()) != 0) {
        return false;
    }
    store::remove_tree(removed);
    return true;
}

} // namespace cellgate::images
