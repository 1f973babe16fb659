#include "jupyter/connection.hpp"

#include "base/error.hpp"
#include "base/json_codec.hpp"
#include "base/names.hpp"
#include "connection_fields.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cellgate::jupyter {

namespace {

constexpr std::size_t max_socket_path_bytes = 107;

// The ports of a connection over ipc are the numbers of the channels. `first_port`: of TCP, for the first of them.
ConnectionFields fields_for(const std::string& socket_prefix, std::optional<int> first_port) {
    const int offset = first_port.value_or(static_cast<int>(Channel::shell)) - static_cast<int>(Channel::shell);
    const auto port = [offset](Channel channel) { return offset + static_cast<int>(channel); };
    ConnectionFields fields;
    if (!first_port) {
        fields.transport = "ipc";
        fields.ip = socket_prefix;
    }
    fields.shell_port = port(Channel::shell);
    fields.iopub_port = port(Channel::iopub);
    fields.stdin_port = port(Channel::stdin_);
    fields.control_port = port(Channel::control);
    fields.hb_port = port(Channel::heartbeat);
    return fields;
}

std::string path_of(const std::string& prefix, Channel channel) {
    return fmt::format("{}-{}", prefix, static_cast<int>(channel));
}

void write_new_file(const std::string& path, std::string_view text) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) {
        throw system_error(ErrorCode::kernel_start_failed, fmt::format("cannot create the connection file {}", path),
                           errno);
    }
    const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    const int error = errno;
    ::close(file);
    if (!written) {
        throw system_error(ErrorCode::kernel_start_failed, fmt::format("cannot write the connection file {}", path),
                           error);
    }
}

} // namespace

std::string ConnectionInfo::endpoint(Channel channel) const {
    return "ipc://" + path_of(socket_prefix, channel);
}

KernelSocket::~KernelSocket() {
    if (fd_ >= 0) {
        ::close(fd_);
    }
}

std::string KernelSocket::endpoint() const {
    return fd_ < 0 ? endpoint_ : fmt::format("ipc:///proc/self/fd/{}", fd_);
}

std::optional<KernelSocket> open_socket(const ConnectionInfo& connection, Channel channel) {
    if (const auto found = connection.endpoints.find(channel); found != connection.endpoints.end()) {
        return KernelSocket(found->second);
    }
    const std::string path = path_of(connection.socket_prefix, channel);
    const int fd = ::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        return std::nullopt;
    }
    if (fd < 0) {
        throw system_error(ErrorCode::kernel_start_failed, fmt::format("cannot open the kernel's socket {}", path),
                           errno);
    }
    KernelSocket socket(fd);
    struct stat status{};
    if (::fstat(fd, &status) != 0 || !S_ISSOCK(status.st_mode) || status.st_uid != ::geteuid()) {
        throw Error(ErrorCode::kernel_start_failed,
                    fmt::format("expected a socket of the kernel at {}, found something else", path),
                    "Only a hostile kernel puts a link or a file there; do not trust what it runs.");
    }
    return socket;
}

ConnectionInfo create_connection(const std::string& directory, std::optional<int> first_port) {
    ConnectionInfo connection;
    connection.file = directory + "/connection.json";
    connection.socket_prefix = directory + "/s";
    const std::string longest = path_of(connection.socket_prefix, Channel::heartbeat);
    if (longest.size() > max_socket_path_bytes) {
        throw Error(ErrorCode::kernel_start_failed,
                    fmt::format("expected a path of at most {} bytes for the kernel's sockets, found {} bytes: {}",
                                max_socket_path_bytes, longest.size(), longest),
                    "Set XDG_RUNTIME_DIR to a directory with a shorter path.");
    }
    connection.key = random_id() + random_id();
    ConnectionFields fields = fields_for(connection.socket_prefix, first_port);
    fields.key = connection.key;
    write_new_file(connection.file, to_json(fields));
    return connection;
}

} // namespace cellgate::jupyter
