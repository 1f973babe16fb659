#pragma once
// `ReplacementFile` is a file that replaces another one atomically; the functions read and write whole files. All of
// them block. They report failures by errno, because the message and the error code are the caller's: only it knows
// what the file is.

#include "base/regular_file.hpp"
#include "base/unique_fd.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace cellgate {

// All of the file at `path`, which may be a pipe: then it waits for its end. For a file that the user named; one that
// another program may have put there is read by read_regular_file(). Nothing with errno when that failed.
std::optional<std::string> read_file(const std::string& path);

// Writes all of `bytes`. False with errno when that failed; some of them may be written then.
bool write_all(int fd, std::string_view bytes);

// Locks the directory (flock) against all who do the same, until the descriptor is closed; waits for them. Invalid with
// errno when that failed.
UniqueFd lock_directory(const std::string& path);

struct Pipe {
    UniqueFd read;
    UniqueFd write;
};

// Both ends close when the program is replaced. Throws Error{internal_error}.
Pipe make_pipe();

// An unnamed file in memory that holds `bytes`, to be read from its start. Throws Error{internal_error}.
UniqueFd anonymous_file(std::string_view bytes);

// `path`, to be read from its start. Throws Error{internal_error}.
UniqueFd open_to_read(const std::string& path);

// `ReplacementFile` is a new file in a directory, under a name of its own; commit() renames it over the file that it
// replaces. Until then the destructor removes it. The directory's descriptor must outlive it.
class ReplacementFile {
  public:
    // `directory` is an open directory, or AT_FDCWD; `prefix` may have a path and gets 32 random characters. Check
    // valid(): errno says why not.
    ReplacementFile(int directory, std::string_view prefix, mode_t mode);
    ReplacementFile(ReplacementFile&& other) noexcept
        : directory_(other.directory_), name_(std::exchange(other.name_, {})), fd_(std::move(other.fd_)) {}
    ReplacementFile& operator=(ReplacementFile&&) = delete;
    ~ReplacementFile();

    bool valid() const { return fd_.valid(); }
    int fd() const { return fd_.get(); }
    // Frees the descriptor before commit(), which does not need it.
    void close() { fd_.reset(); }
    // The descriptor, for the caller to go on writing. commit() does not need it.
    UniqueFd release() { return std::move(fd_); }
    // Replaces `name`, which is relative to the directory, or creates it. Flushes nothing. False with errno.
    bool commit(const std::string& name);

  private:
    int directory_;
    std::string name_; // empty: committed, or never created
    UniqueFd fd_;
};

} // namespace cellgate
