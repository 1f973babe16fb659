#pragma once
// `read_regular_file` reads a file that another program may have put there: it never blocks on a pipe or a device, and
// never reads without end.

#include <cstddef>
#include <string>

namespace cellgate {

struct RegularFile {
    std::string bytes;
    int error = 0; // errno if reading failed; EINVAL if it is not a regular file
};

// At most the first `max_bytes` bytes of `path`. Never waits for another process, and follows links.
RegularFile read_regular_file(const std::string& path, std::size_t max_bytes);

} // namespace cellgate
