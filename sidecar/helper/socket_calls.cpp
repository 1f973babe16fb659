#include "socket_calls.hpp"

#include "call.hpp"
#include "slow_open.hpp"

#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

namespace cellgate::helper {

namespace {

constexpr std::size_t before_path = offsetof(sockaddr_un, sun_path);

sockaddr_un address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) {
        throw CallError{ENAMETOOLONG};
    }
    std::strcpy(address.sun_path, path.c_str());
    return address;
}

class SocketCall : public Call {
  public:
    using Call::Call;

    void connect(int socket, std::uint64_t address, std::size_t size) const {
        const Start start = start_at(path_in(address, size), AT_FDCWD);
        const Descriptor own = caller_.shared(socket);
        require_waiting();
        PathWalk walk(caller_);
        const Held found = find_from(walk, start, true);
        if (!S_ISSOCK(found.status.st_mode)) {
            throw CallError{ECONNREFUSED};
        }
        if (judge_.keeps(found)) {
            throw CallError{EACCES};
        }
        // May wait for room in the other's queue.
        answer_slowly(caller_, [&] {
            const sockaddr_un held = address_of(own_link(found.descriptor));
            if (::connect(own.get(), reinterpret_cast<const sockaddr*>(&held), sizeof held) != 0) {
                return errno;
            }
            caller_.answer(0);
            return 0;
        });
    }

    void bind(int socket, std::uint64_t address, std::size_t size) const {
        const Start start = start_at(path_in(address, size), AT_FDCWD);
        const Descriptor own = caller_.shared(socket);
        require_waiting();
        PathWalk walk(caller_);
        const Place place = walk.place(start.folder, start.text);
        if (judge_.keeps(place)) {
            throw CallError{kept};
        }
        ::umask(caller_.umask());
        const sockaddr_un held = address_of(own_link(place.folder.descriptor) + "/" + place.name);
        require(::bind(own.get(), reinterpret_cast<const sockaddr*>(&held), sizeof held) == 0);
        caller_.answer(0);
    }

  private:
    // Abstract names belong to all programs of the machine.
    std::string path_in(std::uint64_t address, std::size_t size) const {
        if (size < before_path || size > sizeof(sockaddr_un)) {
            throw CallError{EINVAL};
        }
        const std::string bytes = caller_.bytes(address, size);
        sa_family_t family = AF_UNSPEC;
        std::memcpy(&family, bytes.data(), sizeof family);
        if (family != AF_UNIX) {
            throw CallError{EAFNOSUPPORT};
        }
        if (size == before_path || bytes[before_path] == '\0') {
            throw CallError{EPERM};
        }
        return bytes.c_str() + before_path;
    }
};

} // namespace

bool make_socket_call(const Caller& caller, const Judge& judge) {
    const SocketCall call(caller, judge);
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
