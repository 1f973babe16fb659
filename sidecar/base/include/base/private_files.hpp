#pragma once
// `read_private_file` and `write_private_file` are for small files that no other user may read or write: keys, secrets.
// All functions here block, and throw Error{store_failed}.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace cellgate {

// Makes `path` and its parents; `path` gets mode 0700. Also throws when it exists but belongs to another user, is
// writable by others, or is a symbolic link.
void make_private_directory(const std::string& path);

// Nothing if it is not there. Throws for a link, one that others could write, and one that is longer than `max_bytes`.
std::optional<std::string> read_private_file(const std::string& path, std::size_t max_bytes);

// Makes `path`, which must not exist, with mode 0600.
void write_new_file(const std::string& path, std::string_view bytes);

// Makes or replaces `path`, a file in `directory`, with mode 0600. It is on the disk when this returns.
void write_private_file(const std::string& directory, const std::string& path, std::string_view bytes);

} // namespace cellgate
