#include "jupyter/connection.hpp"

#include "base/error.hpp"
#include "base/json_codec.hpp"
#include "base/names.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cellgate::jupyter {

namespace {

constexpr std::size_t max_socket_path_bytes = 107;

struct ConnectionFile {
    std::string transport = "ipc";
    std::string ip;
    int shell_port = static_cast<int>(Channel::shell);
    int iopub_port = static_cast<int>(Channel::iopub);
    int stdin_port = static_cast<int>(Channel::stdin_);
    int control_port = static_cast<int>(Channel::control);
    int hb_port = static_cast<int>(Channel::heartbeat);
    std::string signature_scheme = "hmac-sha256";
    std::string key;

    void listen_on_tcp(int first_port) {
        transport = "tcp";
        ip = "127.0.0.1";
        for (int* port : {&shell_port, &iopub_port, &stdin_port, &control_port, &hb_port}) {
            *port += first_port - static_cast<int>(Channel::shell);
        }
    }

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("transport", self.transport);
        visit("ip", self.ip);
        visit("shell_port", self.shell_port);
        visit("iopub_port", self.iopub_port);
        visit("stdin_port", self.stdin_port);
        visit("control_port", self.control_port);
        visit("hb_port", self.hb_port);
        visit("signature_scheme", self.signature_scheme);
        visit("key", self.key);
    }
};

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
    ConnectionFile file;
    file.ip = connection.socket_prefix;
    if (first_port) {
        file.listen_on_tcp(*first_port);
    }
    file.key = connection.key;
    write_new_file(connection.file, to_json(file));
    return connection;
}

} // namespace cellgate::jupyter
