#pragma once
// Files that somebody else may have put there: a pipe that nobody writes to, a device, a file without an end.

#include <cstddef>
#include <string>

namespace cellgate {

struct PlainFile {
    std::string bytes;
    int error = 0; // errno, when it could not be read; EINVAL when it is no regular file
};

// At most the first `most` bytes of `path`. Never waits for another process, and follows links.
PlainFile read_plain_file(const std::string& path, std::size_t most);

} // namespace cellgate
