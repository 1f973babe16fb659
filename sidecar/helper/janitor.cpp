#include "janitor.hpp"

#include "descriptor.hpp"

#include <climits>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <map>
#include <poll.h>
#include <set>
#include <signal.h>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace cellgate::helper {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds removal_timeout{30};
constexpr int as_directory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

// A directory that its owner may not read or write can be neither listed nor emptied. It is held while it is changed.
void open_up(int parent, const char* name) {
    const UniqueFd held(::openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat found{};
    if (held.get() >= 0 && ::fstat(held.get(), &found) == 0 && found.st_uid == ::geteuid()) {
        ::chmod(("/proc/self/fd/" + std::to_string(held.get())).c_str(), 0700);
    }
}

bool is_ours(int fd) {
    struct stat found{};
    return ::fstat(fd, &found) == 0 && found.st_uid == ::geteuid();
}

// Whether `name` still is what `fd` holds.
bool is_named(int fd, int parent, const char* name) {
    struct stat held{};
    struct stat there{};
    return ::fstat(fd, &held) == 0 && ::fstatat(parent, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           held.st_dev == there.st_dev && held.st_ino == there.st_ino;
}

std::vector<std::string> some_names(int directory) {
    constexpr std::size_t most = 1000;
    std::vector<std::string> names;
    // With a position of its own, from the start.
    DIR* stream = ::fdopendir(::openat(directory, ".", as_directory));
    while (stream != nullptr && names.size() < most) {
        const dirent* entry = ::readdir(stream);
        if (entry == nullptr) {
            break;
        }
        const std::string name = entry->d_name;
        if (name != "." && name != "..") {
            names.push_back(name);
        }
    }
    if (stream != nullptr) {
        ::closedir(stream);
    }
    return names;
}

class TreeRemoval {
  public:
    explicit TreeRemoval(Clock::time_point end) : end_(end) {}

    // `entry` is the kind and the path. True when nothing more is to be done about it.
    bool remove(const std::string& entry) {
        const std::size_t slash = entry.rfind('/');
        if (slash == std::string::npos || slash < 2) {
            return true;
        }
        const UniqueFd parent(::open(entry.substr(1, slash - 1).c_str(), as_directory));
        const std::string name = entry.substr(slash + 1);
        if (parent.get() < 0 || name.empty() || name == "." || name == "..") {
            return true;
        }
        if (entry[0] == 'f') {
            open_up(parent.get(), name.c_str());
        }
        const UniqueFd found(::openat(parent.get(), name.c_str(), as_directory));
        if (found.get() < 0 || !is_ours(found.get())) {
            return true;
        }
        if (::flock(found.get(), LOCK_EX | LOCK_NB) != 0) {
            return false;
        }
        if (!is_named(found.get(), parent.get(), name.c_str())) {
            return true;
        }
        if (entry[0] == 'f') {
            while (!is_over() && empty_a_part(found.get(), found.get())) {
            }
        }
        return ::unlinkat(parent.get(), name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT;
    }

  private:
    bool is_over() const { return Clock::now() >= end_; }

    // True when there may be more. Directories below are moved up into `top` first, so that a tree of any depth takes
    // two descriptors and no stack.
    bool empty_a_part(int directory, int top) {
        bool removed = false;
        for (const std::string& name : some_names(directory)) {
            if (is_over()) {
                return false;
            }
            if (::unlinkat(directory, name.c_str(), 0) == 0) {
                removed = true;
            } else if (directory != top) {
                open_up(directory, name.c_str());
                const std::string above = ".janitor-" + std::to_string(moved_++);
                removed = ::renameat2(directory, name.c_str(), top, above.c_str(), RENAME_NOREPLACE) == 0 ||
                          errno == EEXIST || removed;
            } else {
                open_up(top, name.c_str());
                const UniqueFd below(::openat(top, name.c_str(), as_directory));
                while (below.get() >= 0 && empty_a_part(below.get(), top)) {
                }
                removed = ::unlinkat(top, name.c_str(), AT_REMOVEDIR) == 0 || removed;
            }
        }
        return removed;
    }

    Clock::time_point end_;
    unsigned long moved_ = 0;
};

// What the parent has made, and by when that which it has let go of has to be gone.
struct Known {
    std::set<std::string> made;
    std::map<std::string, Clock::time_point> due;

    void take(std::string_view packet) {
        const std::string entry(packet.substr(1));
        if (packet[0] == '+') {
            due.erase(entry);
            made.insert(entry);
        } else if (made.erase(entry) == 1) {
            due[entry] = Clock::now() + removal_timeout;
        }
    }
    void take_end() {
        for (const std::string& entry : made) {
            due[entry] = Clock::now() + removal_timeout;
        }
        made.clear();
    }
    // True when something could not be removed in time.
    bool remove_released() {
        bool gave_up = false;
        std::erase_if(due, [&gave_up](const auto& each) {
            const bool gone = TreeRemoval(each.second).remove(each.first);
            const bool late = !gone && Clock::now() >= each.second;
            gave_up = gave_up || late;
            return gone || late;
        });
        return gave_up;
    }
};

} // namespace

int janitor_main() {
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    if (!close_all_but({}, STDERR_FILENO + 1) || ::chdir("/") != 0) {
        return 1;
    }
    Known known;
    std::string packet(PATH_MAX + 2, '\0');
    // What runs in these folders and groups ends at this moment, by its supervisor.
    constexpr int max_pause = 64; // ms
    int pause = 1;
    bool gave_up = false;
    bool ended = false;
    while (!ended || !known.due.empty()) {
        pollfd socket{STDIN_FILENO, POLLIN, 0};
        if (::poll(&socket, ended ? 0 : 1, known.due.empty() ? -1 : pause) > 0) {
            const ssize_t size = ::recv(STDIN_FILENO, packet.data(), packet.size(), 0);
            if (size > 0) {
                known.take(std::string_view(packet).substr(0, static_cast<std::size_t>(size)));
            } else if (size == 0 || errno != EINTR) {
                known.take_end();
                ended = true;
            }
            pause = 1;
        } else {
            pause = std::min(2 * pause, max_pause);
        }
        gave_up = known.remove_released() || gave_up;
    }
    return gave_up ? 1 : 0;
}

} // namespace cellgate::helper
