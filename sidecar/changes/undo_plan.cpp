#include "undo_plan.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json_codec.hpp"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace cellgate::changes {

namespace {

void flush_folder_of(const std::string& path) {
    const UniqueFd folder(::open(path.substr(0, path.rfind('/') + 1).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder.valid() || ::fsync(folder.get()) != 0) {
        throw system_error(ErrorCode::store_failed, "cannot flush the folder of " + path, errno);
    }
}

} // namespace

std::optional<UndoPlan> load_plan(const std::string& path) {
    const std::optional<std::string> text = read_file(path);
    if (!text && errno != ENOENT) {
        throw system_error(ErrorCode::store_failed, "cannot read " + path, errno);
    }
    return text ? std::optional(from_json<UndoPlan>(*text, "undo")) : std::nullopt;
}

void save_plan(const std::string& path, const UndoPlan& plan) {
    ReplacementFile file(AT_FDCWD, path + ".", 0600);
    if (!file.valid() || !write_all(file.fd(), to_json(plan)) || ::fsync(file.fd()) != 0 || !file.commit(path)) {
        throw system_error(ErrorCode::store_failed, "cannot write " + path, errno);
    }
    flush_folder_of(path);
}

void remove_plan(const std::string& path) {
    if (::unlink(path.c_str()) != 0) {
        throw system_error(ErrorCode::store_failed, "cannot remove " + path, errno);
    }
    flush_folder_of(path);
}

} // namespace cellgate::changes
