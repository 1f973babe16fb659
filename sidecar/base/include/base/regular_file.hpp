#pragma once
// `read_regular_file` reads a file that another program may have put there: it never blocks on a pipe or a device, and
// never reads without end.

#include <cstddef>
#include <cstdint>
#include <string>

namespace cellgate {

struct RegularFile {
    std::string bytes;
    int error = 0;          // errno if reading failed; EINVAL if it is not a regular file
    std::uint64_t size = 0; // as the file system says: more than `bytes` has of a long file
};

enum class LastLink { follow, refuse }; // refuse: the error is ELOOP where the path's last name is a symbolic link

// At most the first `max_bytes` bytes of `path`. Never waits for another process.
RegularFile read_regular_file(const std::string& path, std::size_t max_bytes, LastLink link = LastLink::follow);

} // namespace cellgate
