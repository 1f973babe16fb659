#include "guarded_calls.hpp"

#include "path_walk.hpp"
#include "process_facts.hpp"
#include "slow_open.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace cellgate::helper {

namespace {

// How a call that must not be made fails: as it does where the file exists and is mounted read-only.
constexpr int kept = EROFS;

void require(bool done) {
    if (!done) {
        throw CallError{errno};
    }
}

// One argument is a folder's descriptor, the next a path.
struct Path {
    int folder;
    std::uint64_t text;
};

class Call {
  public:
    Call(const Caller& caller, const GuardedNames& names) : caller_(caller), names_(names) {}

    void open(const Path& path, int flags, mode_t mode);
    void make_folder(const Path& path, mode_t mode);
    void make_node(const Path& path, mode_t mode, dev_t device);
    void make_symlink(std::uint64_t target, const Path& path);
    void link(const Path& from, const Path& to, int flags);
    void rename(const Path& from, const Path& to, unsigned flags);

  private:
    struct Start {
        std::string text;
        Held folder;
    };
    Start read(const Path& path) const;
    // Before anything is done: that what was read was this caller's.
    void require_waiting() const;
    Place place_to_make(PathWalk& walk, const Start& start) const;
    bool create(const Place& place, int flags, mode_t mode);
    Held terminal() const;
    void reopen(const Held& file, int flags);

    const Caller& caller_;
    const GuardedNames& names_;
};

Call::Start Call::read(const Path& path) const {
    Start start{caller_.text(path.text), {}};
    if (!start.text.starts_with('/')) {
        start.folder = PathWalk(caller_).start(path.folder);
    }
    return start;
}

void Call::require_waiting() const {
    if (!caller_.waits()) {
        throw CallError{ESRCH};
    }
}

Place Call::place_to_make(PathWalk& walk, const Start& start) const {
    Place place = walk.place(start.folder, start.text);
    if (names_.keep(place)) {
        struct stat status{};
        const std::string name = place.name.substr(0, place.name.find('/'));
        const bool exists = ::fstatat(place.folder.descriptor.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
        throw CallError{exists ? EEXIST : kept};
    }
    return place;
}

void Call::open(const Path& path, int flags, mode_t mode) {
    if ((flags & O_DIRECTORY) != 0) {
        throw CallError{EINVAL};
    }
    const Start start = read(path);
    require_waiting();
    PathWalk walk(caller_);
    Place place = walk.place(start.folder, start.text);
    // Whoever makes and removes a file all the time may have it fail.
    constexpr int most_tries = 100;
    for (int tries = 0; tries < most_tries;) {
        const bool exists = place.name == "." || place.name == ".." || place.name == "/";
        if (exists || place.name.ends_with('/')) {
            throw CallError{exists && (flags & O_EXCL) != 0 ? EEXIST : EISDIR};
        }
        Held found;
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
                place = walk.beyond(place, found);
                continue;
            }
            found = walk.follow(std::move(place));
        }
        const bool own_terminal = S_ISCHR(found.status.st_mode) && found.status.st_rdev == makedev(5, 0);
        reopen(own_terminal ? terminal() : std::move(found), flags);
        return;
    }
    throw CallError{ESTALE};
}

// False when the file exists by now.
bool Call::create(const Place& place, int flags, mode_t mode) {
    if (names_.keep(place)) {
        throw CallError{kept};
    }
    ::umask(caller_.umask());
    const Descriptor made(::openat(place.folder.descriptor.get(), place.name.c_str(),
                                   flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (made.get() < 0 && errno == EEXIST && (flags & O_EXCL) == 0) {
        return false;
    }
    require(made.get() >= 0);
    caller_.give(made, flags);
    return true;
}

// What /dev/tty is to the caller: of this process it would be another one.
Held Call::terminal() const {
    const std::optional<dev_t> device = terminal_of(caller_.process());
    if (!device) {
        throw CallError{ENXIO};
    }
    PathWalk walk(caller_);
    Held found = walk.follow(walk.place({}, "/dev/pts/" + std::to_string(minor(*device))));
    if (found.status.st_rdev != *device) {
        throw CallError{ENXIO};
    }
    return found;
}

void Call::reopen(const Held& file, int flags) {
    const mode_t mode = file.status.st_mode;
    if (S_ISDIR(mode)) {
        throw CallError{EISDIR};
    }
    const bool changes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0;
    if (changes && S_ISREG(mode) && names_.keep(file)) {
        throw CallError{kept};
    }
    constexpr unsigned memory_devices = 1; // /dev/null and its like never wait
    const bool may_wait = S_ISFIFO(mode) || (S_ISCHR(mode) && major(file.status.st_rdev) != memory_devices);
    if (may_wait && (flags & O_NONBLOCK) == 0) {
        open_slowly(caller_, file.descriptor, flags);
        return;
    }
    const Descriptor opened(open_again(file.descriptor, flags));
    require(opened.get() >= 0);
    caller_.give(opened, flags);
}

void Call::make_folder(const Path& path, mode_t mode) {
    const Start start = read(path);
    require_waiting();
    PathWalk walk(caller_);
    const Place place = place_to_make(walk, start);
    ::umask(caller_.umask());
    require(::mkdirat(place.folder.descriptor.get(), place.name.c_str(), mode) == 0);
    caller_.answer(0);
}

void Call::make_node(const Path& path, mode_t mode, dev_t device) {
    const Start start = read(path);
    require_waiting();
    PathWalk walk(caller_);
    const Place place = place_to_make(walk, start);
    ::umask(caller_.umask());
    require(::mknodat(place.folder.descriptor.get(), place.name.c_str(), mode, device) == 0);
    caller_.answer(0);
}

void Call::make_symlink(std::uint64_t target, const Path& path) {
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

void Call::link(const Path& from, const Path& to, int flags) {
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
    if (names_.keep(source.folder)) {
        throw CallError{kept};
    }
    require(::linkat(AT_FDCWD, own_link(source.folder.descriptor).c_str(), place.folder.descriptor.get(),
                     place.name.c_str(), AT_SYMLINK_FOLLOW) == 0);
    caller_.answer(0);
}

void Call::rename(const Path& from, const Path& to, unsigned flags) {
    const Start source = read(from);
    const Start target = read(to);
    require_waiting();
    PathWalk source_walk(caller_);
    const Place old_place = source_walk.place(source.folder, source.text);
    PathWalk target_walk(caller_);
    const Place new_place = target_walk.place(target.folder, target.text);
    if (names_.keep(old_place) || names_.keep(new_place)) {
        throw CallError{kept};
    }
    require(::syscall(SYS_renameat2, old_place.folder.descriptor.get(), old_place.name.c_str(),
                      new_place.folder.descriptor.get(), new_place.name.c_str(), flags) == 0);
    caller_.answer(0);
}

void dispatch(const seccomp_data& call, Call& made) {
    const auto& a = call.args;
    const auto number = [&a](std::size_t index) { return static_cast<int>(a[index]); };
    const auto mode = [&a](std::size_t index) { return static_cast<mode_t>(a[index]); };
    const auto here = [&a](std::size_t index) { return Path{AT_FDCWD, a[index]}; };
    const auto in = [&a, number](std::size_t index) { return Path{number(index), a[index + 1]}; };
    switch (call.nr) {
#ifdef SYS_open // what newer architectures left out
    case SYS_open:
        return made.open(here(0), number(1), mode(2));
    case SYS_creat:
        return made.open(here(0), O_CREAT | O_WRONLY | O_TRUNC, mode(1));
    case SYS_mkdir:
        return made.make_folder(here(0), mode(1));
    case SYS_mknod:
        return made.make_node(here(0), mode(1), static_cast<unsigned>(a[2]));
    case SYS_symlink:
        return made.make_symlink(a[0], here(1));
    case SYS_link:
        return made.link(here(0), here(1), 0);
    case SYS_rename:
        return made.rename(here(0), here(1), 0);
#endif
#ifdef SYS_renameat
    case SYS_renameat:
        return made.rename(in(0), in(2), 0);
#endif
    case SYS_openat:
        return made.open(in(0), number(2), mode(3));
    case SYS_mkdirat:
        return made.make_folder(in(0), mode(2));
    case SYS_mknodat:
        return made.make_node(in(0), mode(2), static_cast<unsigned>(a[3]));
    case SYS_symlinkat:
        return made.make_symlink(a[0], in(1));
    case SYS_linkat:
        return made.link(in(0), in(2), number(4));
    case SYS_renameat2:
        return made.rename(in(0), in(2), static_cast<unsigned>(a[4]));
    default:
        throw CallError{ENOSYS}; // the filter asks for no other
    }
}

} // namespace

void make_call(const Caller& caller, const GuardedNames& names) {
    try {
        Call call(caller, names);
        dispatch(caller.call(), call);
    } catch (const CallError& error) {
        caller.answer(error.error);
    }
}

} // namespace cellgate::helper
