#include "git_process.hpp"

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/escape_unprintable.hpp"
#include "base/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

namespace cellgate::changes {

namespace {

constexpr int max_idle_milliseconds = 60'000;
constexpr std::size_t block_bytes = 65536;
constexpr std::size_t max_shown_errors = 1000;

// Nothing is run for a file or an event, files have the names and contents that they have, and what is written is soon
// pruned: so it is compressed quickly and not flushed, and stays in the pack that it was written to, where git would
// otherwise start a second process to take a small one apart.
constexpr std::array settings = {
    "core.bare=false",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.excludesFile=/dev/null",
    "core.attributesFile=/dev/null",
    "core.ignoreCase=false",
    "core.fileMode=true",
    "core.symlinks=true",
    "core.compression=1",
    "core.looseCompression=1",
    "pack.compression=1",
    "core.fsync=none",
    "core.fsyncObjectFiles=false",
    "fastimport.unpackLimit=1",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "status.submoduleSummary=false",
    "protocol.allow=never",
    "status.showUntrackedFiles=all",
    "status.relativePaths=false",
};

std::vector<std::string> arguments_of(const GitFolders& folders, std::vector<std::string>&& arguments) {
    std::vector<std::string> all = {"git"};
    if (!folders.workspace.empty()) {
        all.insert(all.end(), {"-C", folders.workspace});
    }
    for (const char* setting : settings) {
        all.insert(all.end(), {"-c", setting});
    }
    std::ranges::move(arguments, std::back_inserter(all));
    return all;
}

std::vector<std::string> environment_of(const GitFolders& folders, const Environment& process) {
    std::vector<std::string> all = {
        "LC_ALL=C",
        "HOME=/nonexistent",
        "GIT_CONFIG_NOSYSTEM=1",
        "GIT_CONFIG_SYSTEM=/dev/null",
        "GIT_CONFIG_GLOBAL=/dev/null",
        "GIT_ATTR_NOSYSTEM=1",
        "GIT_NO_REPLACE_OBJECTS=1",
        "GIT_OPTIONAL_LOCKS=0",
        "GIT_TERMINAL_PROMPT=0",
        "GIT_DIR=" + folders.repository,
        "GIT_INDEX_FILE=" + folders.repository + "/no-index", // never made: the snapshots have none
    };
    if (!folders.workspace.empty()) {
        all.push_back("GIT_WORK_TREE=" + folders.workspace);
    }
    if (const auto path = process.find("PATH"); path != process.end()) {
        all.push_back("PATH=" + path->second);
    }
    return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (std::string& text : texts) {
        pointers.push_back(text.data());
    }
    pointers.push_back(nullptr);
    return pointers;
}

} // namespace

GitProcess::GitProcess(const GitFolders& folders, std::vector<std::string> arguments)
    : command_("git " + arguments.front()), errors_(anonymous_file("")) {
    // A socket, because writing to it when git has ended is an error and no signal.
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        throw system_error(ErrorCode::store_failed, "cannot make a socket for git", errno);
    }
    const UniqueFd input(ends[0]);
    input_.reset(ends[1]);
    Pipe output = make_pipe();
    output_ = std::move(output.read);
    start(folders, arguments, input.get(), output.write.get());
}

GitProcess::~GitProcess() {
    if (pid_ > 0) {
        kill();
    }
}

void GitProcess::start(const GitFolders& folders, std::vector<std::string>& arguments, int input, int output) {
    const Environment process = process_environment();
    const std::optional<std::string> program = find_program("git", process);
    if (!program) {
        throw Error(ErrorCode::store_failed, "changes of files are kept by git, and there is no git on the PATH",
                    "Install git 2.30 or later.");
    }
    std::vector<std::string> all = arguments_of(folders, std::move(arguments));
    std::vector<std::string> variables = environment_of(folders, process);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, input, 0);
    ::posix_spawn_file_actions_adddup2(&actions, output, 1);
    ::posix_spawn_file_actions_adddup2(&actions, errors_.get(), 2);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    sigset_t signals;
    ::sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes, &signals);
    ::sigaddset(&signals, SIGPIPE);
    ::posix_spawnattr_setsigdefault(&attributes, &signals);
    const int failed = ::posix_spawn(&pid_, program->c_str(), &actions, &attributes, pointers_to(all).data(),
                                     pointers_to(variables).data());
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) {
        pid_ = -1;
        throw system_error(ErrorCode::store_failed, "cannot start " + *program, failed);
    }
}

void GitProcess::wait_for(int fd, short events) {
    pollfd polled{fd, events, 0};
    int ready = -1;
    do {
        ready = ::poll(&polled, 1, max_idle_milliseconds);
    } while (ready < 0 && errno == EINTR);
    if (ready == 0) {
        kill();
        fail("made no progress for 60 seconds");
    }
}

void GitProcess::write(std::string_view bytes) {
    unsent_ += bytes;
    if (unsent_.size() >= block_bytes) {
        flush();
    }
}

void GitProcess::flush() {
    const std::string text = std::exchange(unsent_, {});
    for (std::string_view bytes = text; !bytes.empty();) {
        wait_for(input_.get(), POLLOUT);
        const ssize_t count = ::send(input_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0 && errno != EINTR && errno != EAGAIN) {
            finish(); // says why git ended
            fail("did not read its input");
        }
        bytes.remove_prefix(count < 0 ? 0 : static_cast<std::size_t>(count));
    }
}

bool GitProcess::fill() {
    if (!unsent_.empty()) {
        flush();
    }
    buffer_.erase(0, std::exchange(position_, 0));
    const std::size_t size = buffer_.size();
    buffer_.resize(size + block_bytes);
    ssize_t count = -1;
    do {
        wait_for(output_.get(), POLLIN);
        count = ::read(output_.get(), buffer_.data() + size, block_bytes);
    } while (count < 0 && errno == EINTR);
    buffer_.resize(size + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    return count > 0;
}

std::optional<std::string> GitProcess::read_until(char end) {
    std::size_t searched = position_;
    std::size_t found = 0;
    while ((found = buffer_.find(end, searched)) == std::string::npos) {
        searched = buffer_.size() - position_;
        if (!fill()) {
            return std::nullopt;
        }
    }
    std::string text = buffer_.substr(position_, found - position_);
    position_ = found + 1;
    return text;
}

std::string GitProcess::read(std::size_t bytes) {
    while (buffer_.size() - position_ < bytes && fill()) {
    }
    std::string text = buffer_.substr(position_, bytes);
    position_ += text.size();
    return text;
}

void GitProcess::finish() {
    flush();
    input_.reset();
    do {
        buffer_.clear();
        position_ = 0;
    } while (fill());
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fail("failed");
    }
}

std::string GitProcess::errors() const {
    struct stat status{};
    ::fstat(errors_.get(), &status);
    std::string text(static_cast<std::size_t>(status.st_size), '\0');
    const ssize_t count = ::pread(errors_.get(), text.data(), text.size(), 0);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    return text;
}

void GitProcess::fail(const std::string& what) const {
    std::string text = errors();
    if (text.size() > max_shown_errors) {
        text.erase(0, text.size() - max_shown_errors);
    }
    throw Error(ErrorCode::store_failed, fmt::format("{} {}: {}", command_, what, escape_unprintable(text, true)));
}

void GitProcess::kill() {
    ::kill(-pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
}

} // namespace cellgate::changes
