#include "socket_calls.hpp"

#include "call.hpp"
#include "slow_open.hpp"

#include <cstddef>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

namespace cellgate::helper {

namespace {

constexpr std::size_t before_path = offsetof(sockaddr_un, sun_path);

// As it came, of any family; aligned for the system.
struct Address {
    sockaddr_storage bytes{};
    socklen_t size = 0;

    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&bytes); }
};

Address address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) {
        throw CallError{ENAMETOOLONG};
    }
    std::strcpy(address.sun_path, path.c_str());
    Address made;
    std::memcpy(&made.bytes, &address, sizeof address);
    made.size = static_cast<socklen_t>(before_path + path.size() + 1);
    return made;
}

// For as long as it lives, paths that are not whole start from `folder`.
class WorkingFolder {
  public:
    explicit WorkingFolder(const UniqueFd& folder) { require(::fchdir(folder.get()) == 0); }
    ~WorkingFolder() { left_ = ::chdir("/"); }
    WorkingFolder(const WorkingFolder&) = delete;
    WorkingFolder& operator=(const WorkingFolder&) = delete;

  private:
    int left_ = 0;
};

class SocketCall : public Call {
  public:
    SocketCall(const Caller& caller, const AccessPolicy& policy, OwnSockets& own_sockets)
        : Call(caller, policy), own_sockets_(own_sockets) {}

    void connect(int socket, std::uint64_t address, std::size_t size) const {
        const Address asked = read_address(address, size);
        const UniqueFd own = caller_.shared(socket);
        const std::optional<std::string> path = is_unix(own) ? path_in(asked) : std::nullopt;
        const Start start = path ? start_at(*path, AT_FDCWD) : Start{};
        require_waiting();
        if (!path) {
            connect_slowly(own, asked);
            return;
        }
        PathWalk walk(caller_);
        const OpenNode found = find_from(walk, start, true);
        if (!S_ISSOCK(found.status.st_mode)) {
            throw CallError{ECONNREFUSED};
        }
        // If the socket was there before, a program outside listens on it, and no namespace and no proxy is in between.
        if (policy_.denies_create(found) || (policy_.is_shared(found) && !own_sockets_.has(found))) {
            throw CallError{EACCES};
        }
        connect_slowly(own, address_of(own_link(found.descriptor)));
    }

    void bind(int socket, std::uint64_t address, std::size_t size) const {
        const Address asked = read_address(address, size);
        const UniqueFd own = caller_.shared(socket);
        const std::optional<std::string> path = is_unix(own) ? path_in(asked) : std::nullopt;
        const Start start = path ? start_at(*path, AT_FDCWD) : Start{};
        require_waiting();
        if (!path) {
            require(::bind(own.get(), asked.get(), asked.size) == 0);
            caller_.answer(0);
            return;
        }
        PathWalk walk(caller_);
        const Place place = walk.place(start.folder, start.text);
        if (policy_.denies_create(place)) {
            struct stat status{};
            const std::string name = place.name.substr(0, place.name.find('/'));
            const bool exists =
                ::fstatat(place.folder.descriptor.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
            throw CallError{exists ? EADDRINUSE : kept};
        }
        const bool is_shared = policy_.is_shared(place);
        if (is_shared) {
            own_sockets_.make_room();
        }
        ::umask(caller_.umask());
        timespec since{};
        ::clock_gettime(CLOCK_REALTIME_COARSE, &since); // as the system dates files
        const bool by_name = walk.went_through_proc() || (is_shared && !OwnSockets::can_tell_age_in(place.folder));
        bind_in(place, by_name, start, asked, own);
        if (is_shared) {
            own_sockets_.add(place, since);
        }
        caller_.answer(0);
    }

  private:
    // May wait for room in the other's queue, or for a network.
    void connect_slowly(const UniqueFd& own, const Address& address) const {
        answer_slowly(caller_, [&] {
            if (::connect(own.get(), address.get(), address.size) != 0) {
                return errno;
            }
            caller_.answer(0);
            return 0;
        });
    }

    // The socket keeps the text that it was bound to, and every peer can read it: it has to be the caller's. The
    // name in it was judged; what it starts from is held, and nothing in here moves a folder meanwhile but by us. Where
    // /proc is on the way, the same text could lead this process elsewhere: then, `by_name` in the folder that is held.
    static void bind_in(const Place& place, bool by_name, const Start& start, const Address& asked,
                        const UniqueFd& own) {
        if (by_name) {
            const WorkingFolder there(place.folder.descriptor);
            const Address held = address_of(place.name);
            require(::bind(own.get(), held.get(), held.size) == 0);
        } else if (start.text.starts_with('/')) {
            require(::bind(own.get(), asked.get(), asked.size) == 0);
        } else {
            const WorkingFolder there(start.folder.descriptor);
            require(::bind(own.get(), asked.get(), asked.size) == 0);
        }
    }

    Address read_address(std::uint64_t address, std::size_t size) const {
        Address read;
        if (size > sizeof read.bytes) {
            throw CallError{EINVAL};
        }
        const std::string bytes = size == 0 ? std::string() : caller_.bytes(address, size);
        std::memcpy(&read.bytes, bytes.data(), bytes.size());
        read.size = static_cast<socklen_t>(size);
        return read;
    }

    // Only unix sockets have paths for addresses. The family of a socket never changes.
    static bool is_unix(const UniqueFd& socket) {
        int family = AF_UNSPEC;
        socklen_t size = sizeof family;
        require(::getsockopt(socket.get(), SOL_SOCKET, SO_DOMAIN, &family, &size) == 0);
        return family == AF_UNIX;
    }

    // Nothing for an address that is no path.
    std::optional<std::string> path_in(const Address& address) const {
        const bool is_unix = address.size >= before_path && address.bytes.ss_family == AF_UNIX;
        const char* path = reinterpret_cast<const char*>(&address.bytes) + before_path;
        if (is_unix && address.size > before_path && *path != '\0') {
            if (address.size > sizeof(sockaddr_un)) {
                throw CallError{EINVAL};
            }
            return std::string(path); // what lies behind the copy is zero
        }
        if (policy_.shares_abstract_names()) {
            throw CallError{is_unix ? EPERM : EAFNOSUPPORT};
        }
        return std::nullopt;
    }

    OwnSockets& own_sockets_;
};

} // namespace

bool make_socket_call(const Caller& caller, const AccessPolicy& policy, OwnSockets& own_sockets) {
    const SocketCall call(caller, policy, own_sockets);
    const auto& a = caller.call().args;
    switch (caller.call().nr) {
    case SYS_connect:
        call.connect(static_cast<int>(a[0]), a[1], static_cast<unsigned>(a[2]));
        return true;
    case SYS_bind:
        call.bind(static_cast<int>(a[0]), a[1], static_cast<unsigned>(a[2]));
        return true;
    default:
        return false;
    }
}

} // namespace cellgate::helper
