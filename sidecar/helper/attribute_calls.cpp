#include "attribute_calls.hpp"

#include "call.hpp"
#include "slow_open.hpp"

#include <array>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

namespace cellgate::helper {

namespace {

constexpr long call_fchmodat2 = 452; // newer than the system's headers

using Times = std::array<timespec, 2>;

class AttributeCall : public Call {
  public:
    using Call::Call;

    // What is changed: of a path, or of a descriptor. Throws when it may not be.
    OpenNode file(const Path& path, bool follow, bool may_be_empty = false) const {
        return allowed(find(path, follow, may_be_empty));
    }
    OpenNode file(int descriptor) const {
        if (descriptor < 0) {
            throw CallError{EBADF};
        }
        OpenNode held = PathWalk(caller_).start(descriptor);
        require_waiting();
        return allowed(std::move(held));
    }

    void set_mode(const OpenNode& file, mode_t mode) const {
        if (S_ISLNK(file.status.st_mode)) {
            throw CallError{EOPNOTSUPP};
        }
        done(::chmod(own_link(file.descriptor).c_str(), mode));
    }
    void set_owner(const OpenNode& file, uid_t user, gid_t group) const {
        done(::fchownat(file.descriptor.get(), "", user, group, AT_EMPTY_PATH));
    }
    // Without times: now.
    void set_times(const OpenNode& file, const Times* times) const {
        done(static_cast<int>(::syscall(SYS_utimensat, file.descriptor.get(), "",
                                        times == nullptr ? nullptr : times->data(), AT_EMPTY_PATH)));
    }
    void set_attribute(const OpenNode& file, std::uint64_t name, std::uint64_t value, std::size_t size,
                       int flags) const {
        require_not_link(file);
        if (size > max_attribute_bytes) {
            throw CallError{E2BIG};
        }
        const std::string text = caller_.text(name);
        const std::string bytes = size == 0 ? "" : caller_.bytes(value, size);
        require_waiting();
        done(::setxattr(own_link(file.descriptor).c_str(), text.c_str(), bytes.data(), bytes.size(), flags));
    }
    void remove_attribute(const OpenNode& file, std::uint64_t name) const {
        require_not_link(file);
        const std::string text = caller_.text(name);
        require_waiting();
        done(::removexattr(own_link(file.descriptor).c_str(), text.c_str()));
    }

    // The array at `address`.
    template <class Value>
    std::array<Value, 2> two(std::uint64_t address) const {
        std::array<Value, 2> values{};
        const std::string bytes = caller_.bytes(address, sizeof values);
        std::memcpy(values.data(), bytes.data(), sizeof values);
        return values;
    }

  private:
    static constexpr std::size_t max_attribute_bytes = 65536;

    OpenNode allowed(OpenNode held) const {
        if (policy_.denies_attributes(held)) {
            throw CallError{policy_.is_hidden(held) ? EPERM : kept};
        }
        return held;
    }
    // Attributes of a user's are of files and folders only.
    static void require_not_link(const OpenNode& file) {
        if (S_ISLNK(file.status.st_mode)) {
            throw CallError{EPERM};
        }
    }
    void done(int result) const {
        require(result == 0);
        caller_.answer(0);
    }
};

// Throws for what is no fraction of a second.
timespec exact(const timeval& time) {
    constexpr long second = 1'000'000;
    constexpr long microsecond = 1000;
    if (time.tv_usec < 0 || time.tv_usec >= second) {
        throw CallError{EINVAL};
    }
    return {time.tv_sec, time.tv_usec * microsecond};
}

// The times that the older calls take, as the newest one does.
std::optional<Times> times_of(const AttributeCall& call, const seccomp_data& data) {
    const auto& a = data.args;
    switch (data.nr) {
#ifdef SYS_utime
    case SYS_utime: {
        if (a[1] == 0) {
            return std::nullopt;
        }
        const std::array<time_t, 2> seconds = call.two<time_t>(a[1]);
        return Times{timespec{seconds[0], 0}, timespec{seconds[1], 0}};
    }
    case SYS_utimes:
    case SYS_futimesat: {
        const std::uint64_t address = a[data.nr == SYS_utimes ? 1 : 2];
        if (address == 0) {
            return std::nullopt;
        }
        const std::array<timeval, 2> times = call.two<timeval>(address);
        return Times{exact(times[0]), exact(times[1])};
    }
#endif
    default:
        return a[2] == 0 ? std::nullopt : std::optional(call.two<timespec>(a[2]));
    }
}

bool follows_links(int flags) {
    return (flags & AT_SYMLINK_NOFOLLOW) == 0;
}

bool may_be_empty(int flags) {
    return (flags & AT_EMPTY_PATH) != 0;
}

// Each of these is false for a call of another kind. Newer architectures do not have the calls between #ifdef and
// #endif.

bool make_mode_or_owner_call(const AttributeCall& call, const seccomp_data& data) {
    const CallArguments get(data);
    switch (data.nr) {
#ifdef SYS_chmod
    case SYS_chmod:
        call.set_mode(call.file(get.path(0), true), get.mode(1));
        return true;
    case SYS_chown:
    case SYS_lchown:
        call.set_owner(call.file(get.path(0), data.nr == SYS_chown), get.id(1), get.id(2));
        return true;
#endif
    case SYS_fchmod:
        call.set_mode(call.file(get.number(0)), get.mode(1));
        return true;
    case SYS_fchmodat:
        call.set_mode(call.file(get.path_in(0), true), get.mode(2));
        return true;
    case call_fchmodat2:
        call.set_mode(call.file(get.path_in(0), follows_links(get.number(3)), may_be_empty(get.number(3))),
                      get.mode(2));
        return true;
    case SYS_fchown:
        call.set_owner(call.file(get.number(0)), get.id(1), get.id(2));
        return true;
    case SYS_fchownat:
        call.set_owner(call.file(get.path_in(0), follows_links(get.number(4)), may_be_empty(get.number(4))), get.id(2),
                       get.id(3));
        return true;
    default:
        return false;
    }
}

bool make_times_call(const AttributeCall& call, const seccomp_data& data) {
    const CallArguments get(data);
    const auto set_times = [&](const OpenNode& file) {
        const std::optional<Times> times = times_of(call, data);
        call.set_times(file, times ? &*times : nullptr);
    };
    const bool of_descriptor = data.args[1] == 0; // where there could be a path
    switch (data.nr) {
#ifdef SYS_utime
    case SYS_utime:
    case SYS_utimes:
        set_times(call.file(get.path(0), true));
        return true;
    case SYS_futimesat:
        set_times(of_descriptor ? call.file(get.number(0)) : call.file(get.path_in(0), true));
        return true;
#endif
    case SYS_utimensat:
        set_times(of_descriptor ? call.file(get.number(0))
                                : call.file(get.path_in(0), follows_links(get.number(3)), may_be_empty(get.number(3))));
        return true;
    default:
        return false;
    }
}

bool make_extended_attribute_call(const AttributeCall& call, const seccomp_data& data) {
    const CallArguments get(data);
    const auto& a = data.args;
    switch (data.nr) {
    case SYS_setxattr:
    case SYS_lsetxattr:
        call.set_attribute(call.file(get.path(0), data.nr == SYS_setxattr), a[1], a[2], a[3], get.number(4));
        return true;
    case SYS_fsetxattr:
        call.set_attribute(call.file(get.number(0)), a[1], a[2], a[3], get.number(4));
        return true;
    case SYS_removexattr:
    case SYS_lremovexattr:
        call.remove_attribute(call.file(get.path(0), data.nr == SYS_removexattr), a[1]);
        return true;
    case SYS_fremovexattr:
        call.remove_attribute(call.file(get.number(0)), a[1]);
        return true;
    default:
        return false;
    }
}

} // namespace

bool make_attribute_call(const Caller& caller, const AccessPolicy& policy) {
    const AttributeCall call(caller, policy);
    return make_mode_or_owner_call(call, caller.call()) || make_times_call(call, caller.call()) ||
           make_extended_attribute_call(call, caller.call());
}

} // namespace cellgate::helper
