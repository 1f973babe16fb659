#include "base/error.hpp"
#include "base/json.hpp"
#include "jupyter/connection.hpp"
#include "support.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

using namespace cellgate;
using namespace cellgate::jupyter;
using cellgate::jupyter::test::TempDirectory;

namespace {

sockaddr_un address_of(const std::string& path) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    return address;
}

// A socket that listens at `path`.
class Listener {
  public:
    explicit Listener(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
        const sockaddr_un address = address_of(path);
        REQUIRE(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
        REQUIRE(::listen(fd_, 8) == 0);
    }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    ~Listener() { ::close(fd_); }
    // Whether somebody connects to `path` and comes out here.
    bool is_reached_by(const std::string& path) const {
        const int client = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const sockaddr_un address = address_of(path);
        const bool connected = ::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
        const int served = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
        ::close(client);
        if (served >= 0) {
            ::close(served);
        }
        return connected && served >= 0;
    }

  private:
    int fd_;
};

std::string path_of(const KernelSocket& socket) {
    return socket.endpoint().substr(std::string("ipc://").size());
}

} // namespace

TEST_CASE("the connection file tells the kernel where and with which key, and only us") {
    const TempDirectory directory;
    const ConnectionInfo connection = create_connection(directory.path);
    struct stat status{};
    REQUIRE(::stat(connection.file.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
    std::ifstream file(connection.file);
    const Json json = Json::parse(file);
    CHECK(json.at("transport") == "ipc");
    CHECK(json.at("signature_scheme") == "hmac-sha256");
    CHECK(json.at("key") == connection.key);
    CHECK(connection.key.size() == 64);
    CHECK(connection.endpoint(Channel::iopub) ==
          "ipc://" + json.at("ip").get<std::string>() + "-" + std::to_string(json.at("iopub_port").get<int>()));
}

TEST_CASE("no two connections share a key") {
    const TempDirectory one;
    const TempDirectory two;
    CHECK(create_connection(one.path).key != create_connection(two.path).key);
}

TEST_CASE("a kernel that is to listen on TCP ports has one for each channel, and sockets for us all the same") {
    const TempDirectory directory;
    const ConnectionInfo connection = create_connection(directory.path, 31281);
    std::ifstream file(connection.file);
    const Json json = Json::parse(file);
    CHECK(json.at("transport") == "tcp");
    CHECK(json.at("ip") == "127.0.0.1");
    CHECK(json.at("shell_port") == 31281);
    CHECK(json.at("hb_port") == 31285);
    CHECK(connection.endpoint(Channel::shell).ends_with("/s-1"));
}

TEST_CASE("a socket path that the system would cut is refused") {
    const TempDirectory directory;
    // `<directory>/s-5`
    const std::string longest(107 - directory.path.string().size() - 1 - 4, 'x');
    std::filesystem::create_directory(directory / longest);
    std::filesystem::create_directory(directory / (longest + "x"));
    CHECK_NOTHROW(create_connection(directory / longest));
    CHECK_THROWS_WITH_AS(create_connection(directory / (longest + "x")), doctest::Contains("at most 107 bytes"), Error);
}

TEST_CASE("a link that a former kernel left in the file's place is not followed") {
    const TempDirectory directory;
    const TempDirectory elsewhere;
    std::filesystem::create_symlink(elsewhere / "victim", directory / "connection.json");
    CHECK_THROWS_AS(create_connection(directory.path), Error);
    CHECK_FALSE(std::filesystem::exists(elsewhere / "victim"));
    std::filesystem::remove(directory / "connection.json");
    CHECK_NOTHROW(create_connection(directory.path)); // control
}

TEST_CASE("only a socket that was made in the directory is taken for the kernel's, and stays the one that was opened") {
    const TempDirectory directory;
    const TempDirectory elsewhere;
    const ConnectionInfo connection = create_connection(directory.path);
    const std::string place = connection.socket_prefix + "-1";
    CHECK_FALSE(open_socket(connection, Channel::shell));

    const Listener victim(elsewhere / "docker.sock");
    std::filesystem::create_symlink(elsewhere / "docker.sock", place);
    CHECK(victim.is_reached_by(place)); // the control: by its name it is
    CHECK_THROWS_WITH_AS(open_socket(connection, Channel::shell), doctest::Contains(place.c_str()), Error);
    std::filesystem::remove(place);
    directory.write("s-1", "");
    CHECK_THROWS_AS(open_socket(connection, Channel::shell), Error);
    std::filesystem::remove(place);

    const Listener kernel(place);
    const std::optional<KernelSocket> opened = open_socket(connection, Channel::shell);
    REQUIRE(opened);
    CHECK(kernel.is_reached_by(path_of(*opened)));
    std::filesystem::rename(place, directory / "aside");
    std::filesystem::create_symlink(elsewhere / "docker.sock", place);
    CHECK(victim.is_reached_by(place)); // the control
    CHECK_FALSE(victim.is_reached_by(path_of(*opened)));
    CHECK(kernel.is_reached_by(path_of(*opened)));
}
