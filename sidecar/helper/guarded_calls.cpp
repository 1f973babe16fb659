#include "guarded_calls.hpp"

#include "attribute_calls.hpp"
#include "call.hpp"
#include "path_walk.hpp"
#include "process_facts.hpp"
#include "slow_open.hpp"
#include "socket_calls.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <optional>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace cellgate::helper {

namespace {

class NameCall : public Call {
  public:
    using Call::Call;

    void open(const Path& path, int flags, mode_t mode);
    void make_folder(const Path& path, mode_t mode);
    void make_node(const Path& path, mode_t mode, dev_t device);
    void make_symlink(std::uint64_t target, const Path& path);
    void link(const Path& from, const Path& to, int flags);
    void rename(const Path& from, const Path& to, unsigned flags);
    void remove(const Path& path, int flags);
    void truncate(std::uint64_t path, off_t size);

  private:
    Place place_to_make(PathWalk& walk, const Start& start, bool of_folder = false) const;
    void open_or_make(const Start& start, int flags, mode_t mode);
    void open_found(OpenNode found, int flags);
    bool create(const Place& place, int flags, mode_t mode);
    void make_unnamed(const OpenNode& folder, int flags, mode_t mode);
    OpenNode terminal() const;
    void reopen(const OpenNode& file, int flags);
    void require_free(const Place& place, bool is_kept) const;
};

Place NameCall::place_to_make(PathWalk& walk, const Start& start, bool of_folder) const {
    Place place = walk.place(start.folder, start.text);
    if (of_folder ? policy_.denies_create_of_itself(place) : policy_.denies_create(place)) {
        struct stat status{};
        const std::string name = place.name.substr(0, place.name.find('/'));
        const bool exists = ::fstatat(place.folder.descriptor.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
        throw CallError{exists ? EEXIST : kept};
    }
    return place;
}

void NameCall::open(const Path& path, int flags, mode_t mode) {
    constexpr int unnamed = O_TMPFILE & ~O_DIRECTORY;
    const bool makes_unnamed = (flags & unnamed) != 0;
    const bool makes = (flags & O_CREAT) != 0 && !makes_unnamed;
    if (makes && (flags & O_DIRECTORY) != 0) {
        throw CallError{EINVAL};
    }
    const Start start = read(path);
    require_waiting();
    if (makes) {
        return open_or_make(start, flags, mode);
    }
    PathWalk walk(caller_);
    OpenNode found = find_from(walk, start, (flags & O_NOFOLLOW) == 0);
    if (makes_unnamed) {
        return make_unnamed(found, flags, mode);
    }
    if (S_ISLNK(found.status.st_mode)) {
        throw CallError{ELOOP};
    }
    open_found(std::move(found), flags);
}

void NameCall::open_or_make(const Start& start, int flags, mode_t mode) {
    PathWalk walk(caller_);
    Place place = walk.place(start.folder, start.text);
    // A program that makes and removes the file all the time can make this call fail.
    constexpr int max_tries = 100;
    for (int tries = 0; tries < max_tries;) {
        const bool exists = place.name == "." || place.name == ".." || place.name == "/";
        if (exists || place.name.ends_with('/')) {
            throw CallError{exists && (flags & O_EXCL) != 0 ? EEXIST : EISDIR};
        }
        OpenNode found;
        try {
            found = walk.look(place);
        } catch (const CallError& error) {
            if (error.error != ENOENT) {
                throw;
            }
            if (create(place, flags, mode)) {
                return;
            }
            ++tries;
            continue;
        }
        if ((flags & O_EXCL) != 0) {
            throw CallError{EEXIST};
        }
        if (S_ISLNK(found.status.st_mode)) {
            if ((flags & O_NOFOLLOW) != 0) {
                throw CallError{ELOOP};
            }
            if (!leads_beyond_paths(place.folder, found)) {
                place = walk.follow_link(place, found);
                continue;
            }
            found = walk.follow(std::move(place));
        }
        if (S_ISDIR(found.status.st_mode)) {
            throw CallError{EISDIR};
        }
        return open_found(std::move(found), flags);
    }
    throw CallError{ESTALE};
}

void NameCall::open_found(OpenNode found, int flags) {
    const bool own_terminal = S_ISCHR(found.status.st_mode) && found.status.st_rdev == makedev(5, 0);
    reopen(own_terminal ? terminal() : std::move(found), flags);
}

// Needs no permission for a name: linkat gives it one, and is asked about.
void NameCall::make_unnamed(const OpenNode& folder, int flags, mode_t mode) {
    if (policy_.denies_create(Place{{UniqueFd(::dup(folder.descriptor.get())), folder.status}, "."})) {
        throw CallError{kept};
    }
    ::umask(caller_.umask());
    const UniqueFd made(::open(own_link(folder.descriptor).c_str(), flags | O_CLOEXEC, mode));
    require(made.get() >= 0);
    caller_.give(made, flags);
}

// False when the file exists by now.
bool NameCall::create(const Place& place, int flags, mode_t mode) {
    if (policy_.denies_create(place)) {
        throw CallError{kept};
    }
    ::umask(caller_.umask());
    const UniqueFd made(::openat(place.folder.descriptor.get(), place.name.c_str(),
                                 flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (made.get() < 0 && errno == EEXIST && (flags & O_EXCL) == 0) {
        return false;
    }
    require(made.get() >= 0);
    caller_.give(made, flags);
    return true;
}

// What /dev/tty is to the caller: of this process it would be another one.
OpenNode NameCall::terminal() const {
    const std::optional<dev_t> device = terminal_of(caller_.process());
    if (!device) {
        throw CallError{ENXIO};
    }
    PathWalk walk(caller_);
    OpenNode found = walk.follow(walk.place({}, "/dev/pts/" + std::to_string(minor(*device))));
    if (found.status.st_rdev != *device) {
        throw CallError{ENXIO};
    }
    return found;
}

void NameCall::reopen(const OpenNode& file, int flags) {
    const mode_t mode = file.status.st_mode;
    const bool reads = (flags & O_ACCMODE) != O_WRONLY;
    const bool changes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0;
    if (changes && S_ISDIR(mode)) {
        throw CallError{EISDIR};
    }
    if (reads && policy_.is_hidden(file)) {
        throw CallError{EACCES};
    }
    if (changes && policy_.denies_write(file)) {
        throw CallError{policy_.is_hidden(file) ? EACCES : kept};
    }
    constexpr unsigned first_terminals = 136; // of pseudo-terminals
    constexpr unsigned last_terminals = 143;
    const unsigned kind = major(file.status.st_rdev);
    const bool is_terminal = S_ISCHR(mode) && kind >= first_terminals && kind <= last_terminals;
    if (is_terminal && policy_.hides_terminals() && terminal_of(caller_.process()) != file.status.st_rdev) {
        throw CallError{EACCES};
    }
    constexpr unsigned memory_devices = 1; // /dev/null and its like never wait
    const bool may_wait = S_ISFIFO(mode) || (S_ISCHR(mode) && major(file.status.st_rdev) != memory_devices);
    if (may_wait && (flags & O_NONBLOCK) == 0) {
        open_slowly(caller_, file.descriptor, flags);
        return;
    }
    const UniqueFd opened(open_again(file.descriptor, flags));
    require(opened.get() >= 0);
    caller_.give(opened, flags);
}

void NameCall::make_folder(const Path& path, mode_t mode) {
    const Start start = read(path);
    require_waiting();
    PathWalk walk(caller_);
    const Place place = place_to_make(walk, start, true);
    ::umask(caller_.umask());
    require(::mkdirat(place.folder.descriptor.get(), place.name.c_str(), mode) == 0);
    caller_.answer(0);
}

void NameCall::make_node(const Path& path, mode_t mode, dev_t device) {
    const Start start = read(path);
    require_waiting();
    PathWalk walk(caller_);
    const Place place = place_to_make(walk, start);
    ::umask(caller_.umask());
    require(::mknodat(place.folder.descriptor.get(), place.name.c_str(), mode, device) == 0);
    caller_.answer(0);
}

void NameCall::make_symlink(std::uint64_t target, const Path& path) {
    const std::string text = caller_.text(target);
    if (text.empty()) {
        throw CallError{ENOENT};
    }
    const Start start = read(path);
    require_waiting();
    PathWalk walk(caller_);
    const Place place = place_to_make(walk, start);
    require(::symlinkat(text.c_str(), place.folder.descriptor.get(), place.name.c_str()) == 0);
    caller_.answer(0);
}

void NameCall::link(const Path& from, const Path& to, int flags) {
    if ((flags & ~(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH)) != 0) {
        throw CallError{EINVAL};
    }
    Start source{caller_.text(from.text), {}};
    const bool is_descriptor = source.text.empty() && (flags & AT_EMPTY_PATH) != 0;
    if (is_descriptor || !source.text.starts_with('/')) {
        source.folder = PathWalk(caller_).start(from.folder);
    }
    const Start target = read(to);
    require_waiting();
    if (!is_descriptor) {
        PathWalk walk(caller_);
        Place place = walk.place(source.folder, source.text);
        source.folder = (flags & AT_SYMLINK_FOLLOW) != 0 ? walk.follow(std::move(place)) : walk.look(place);
    }
    PathWalk walk(caller_);
    const Place place = place_to_make(walk, target);
    if (policy_.crosses_rules(source.folder, place)) {
        throw CallError{EXDEV};
    }
    if (policy_.denies_create(source.folder)) {
        throw CallError{kept};
    }
    require(::linkat(AT_FDCWD, own_link(source.folder.descriptor).c_str(), place.folder.descriptor.get(),
                     place.name.c_str(), AT_SYMLINK_FOLLOW) == 0);
    caller_.answer(0);
}

void NameCall::rename(const Path& from, const Path& to, unsigned flags) {
    const Start source = read(from);
    const Start target = read(to);
    require_waiting();
    PathWalk source_walk(caller_);
    const Place old_place = source_walk.place(source.folder, source.text);
    PathWalk target_walk(caller_);
    const Place new_place = target_walk.place(target.folder, target.text);
    require_free(old_place, policy_.denies_create(old_place));
    require_free(new_place, policy_.denies_create(new_place));
    if (policy_.crosses_rules(old_place, new_place)) {
        throw CallError{EXDEV};
    }
    require(::syscall(SYS_renameat2, old_place.folder.descriptor.get(), old_place.name.c_str(),
                      new_place.folder.descriptor.get(), new_place.name.c_str(), flags) == 0);
    caller_.answer(0);
}

void NameCall::require_free(const Place& place, bool is_kept) const {
    if (policy_.is_pinned(place)) {
        throw CallError{EBUSY};
    }
    if (is_kept) {
        throw CallError{kept};
    }
}

void NameCall::remove(const Path& path, int flags) {
    if ((flags & ~AT_REMOVEDIR) != 0) {
        throw CallError{EINVAL};
    }
    const Start start = read(path);
    require_waiting();
    PathWalk walk(caller_);
    const Place place = walk.place(start.folder, start.text);
    walk.look(place); // what is not there is not said to be kept
    require_free(place, policy_.denies_create_of_itself(place));
    require(::unlinkat(place.folder.descriptor.get(), place.name.c_str(), flags) == 0);
    caller_.answer(0);
}

void NameCall::truncate(std::uint64_t path, off_t size) {
    const OpenNode found = find({AT_FDCWD, path}, true);
    if (S_ISDIR(found.status.st_mode)) {
        throw CallError{EISDIR};
    }
    if (policy_.denies_write(found)) {
        throw CallError{policy_.is_hidden(found) ? EACCES : kept};
    }
    rlimit most{}; // the caller's: this process has none
    require(::prlimit(caller_.process(), RLIMIT_FSIZE, nullptr, &most) == 0);
    if (size > 0 && static_cast<rlim_t>(size) > most.rlim_cur) {
        throw CallError{EFBIG};
    }
    require(::truncate(own_link(found.descriptor).c_str(), size) == 0);
    caller_.answer(0);
}

// The calls of older architectures, whose paths start from the working folder. False for a call of another kind.
bool make_old_name_call([[maybe_unused]] const seccomp_data& call, [[maybe_unused]] NameCall& made) {
#ifdef SYS_open
    const auto& a = call.args;
    const CallArguments get(call);
    switch (call.nr) {
    case SYS_open:
        made.open(get.path(0), get.number(1), get.mode(2));
        return true;
    case SYS_creat:
        made.open(get.path(0), O_CREAT | O_WRONLY | O_TRUNC, get.mode(1));
        return true;
    case SYS_mkdir:
        made.make_folder(get.path(0), get.mode(1));
        return true;
    case SYS_mknod:
        made.make_node(get.path(0), get.mode(1), static_cast<unsigned>(a[2]));
        return true;
    case SYS_symlink:
        made.make_symlink(a[0], get.path(1));
        return true;
    case SYS_link:
        made.link(get.path(0), get.path(1), 0);
        return true;
    case SYS_unlink:
        made.remove(get.path(0), 0);
        return true;
    case SYS_rmdir:
        made.remove(get.path(0), AT_REMOVEDIR);
        return true;
    case SYS_rename:
        made.rename(get.path(0), get.path(1), 0);
        return true;
    default:
        return false;
    }
#else
    return false;
#endif
}

// False for a call that is of another kind.
bool make_name_call(const seccomp_data& call, NameCall& made) {
    const auto& a = call.args;
    const CallArguments get(call);
    switch (call.nr) {
#ifdef SYS_renameat
    case SYS_renameat:
        made.rename(get.path_in(0), get.path_in(2), 0);
        return true;
#endif
    case SYS_openat:
        made.open(get.path_in(0), get.number(2), get.mode(3));
        return true;
    case SYS_mkdirat:
        made.make_folder(get.path_in(0), get.mode(2));
        return true;
    case SYS_mknodat:
        made.make_node(get.path_in(0), get.mode(2), static_cast<unsigned>(a[3]));
        return true;
    case SYS_symlinkat:
        made.make_symlink(a[0], get.path_in(1));
        return true;
    case SYS_linkat:
        made.link(get.path_in(0), get.path_in(2), get.number(4));
        return true;
    case SYS_renameat2:
        made.rename(get.path_in(0), get.path_in(2), static_cast<unsigned>(a[4]));
        return true;
    case SYS_unlinkat:
        made.remove(get.path_in(0), get.number(2));
        return true;
    case SYS_truncate:
        made.truncate(a[0], static_cast<off_t>(a[1]));
        return true;
    default:
        return make_old_name_call(call, made);
    }
}

} // namespace

void make_call(const Caller& caller, const AccessPolicy& policy, OwnSockets& own_sockets) {
    try {
        NameCall call(caller, policy);
        if (!make_name_call(caller.call(), call) && !make_attribute_call(caller, policy) &&
            !make_socket_call(caller, policy, own_sockets)) {
            throw CallError{ENOSYS}; // the filter asks for no other
        }
    } catch (const CallError& error) {
        caller.answer(error.error);
    }
}

} // namespace cellgate::helper
