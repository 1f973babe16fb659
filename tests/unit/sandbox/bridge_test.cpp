// The way out of a sandbox (sidecar/helper/bridge.hpp): what it does when one of its ends goes away, or half of it.

#include "machine.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

using namespace cellgate;
using namespace cellgate::sandbox;

namespace {

constexpr int max_milliseconds = 20'000; // to be waited for what has to come

bool has(int fd, short event, int milliseconds = max_milliseconds) {
    pollfd source{fd, event, 0};
    return ::poll(&source, 1, milliseconds) == 1 && (source.revents & event) != 0;
}

void wait_for(const std::filesystem::path& path) {
    for (int waited = 0; waited < max_milliseconds && !std::filesystem::exists(path); ++waited) {
        ::poll(nullptr, 0, 1);
    }
}

// Takes the place of the sidecar's proxy: `serve` is given each connection, one after the other, and closes it.
class Proxy {
  public:
    Proxy(Machine& machine, int connections, std::function<void(int)> serve)
        : listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        const std::string path = machine.session_dir / "net.sock";
        machine.profile.proxy = path;
        sockaddr_un place{};
        place.sun_family = AF_UNIX;
        REQUIRE(path.size() < sizeof place.sun_path);
        std::strcpy(place.sun_path, path.c_str());
        REQUIRE(::bind(listener_, reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0);
        REQUIRE(::listen(listener_, SOMAXCONN) == 0);
        thread_ = std::thread([this, connections, serve = std::move(serve)] {
            for (int served = 0; served < connections && has(listener_, POLLIN); ++served) {
                serve(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC));
            }
        });
    }
    Proxy(const Proxy&) = delete;
    Proxy& operator=(const Proxy&) = delete;
    ~Proxy() {
        end();
        ::close(listener_);
    }

    void end() {
        if (thread_.joinable()) {
            thread_.join();
        }
    }

  private:
    int listener_;
    std::thread thread_;
};

// What every connection begins with: which program it is.
std::string read_preface(int fd) {
    std::uint8_t start[2]{};
    std::string caller(UINT8_MAX, '\0');
    if (has(fd, POLLIN) && ::recv(fd, start, sizeof start, MSG_WAITALL) == sizeof start) {
        ::recv(fd, caller.data(), start[1], MSG_WAITALL);
    }
    caller.resize(start[1]);
    return caller;
}

bool read_to_end(int fd) {
    char bytes[65536];
    ssize_t size = 1;
    while (size > 0 && has(fd, POLLIN)) {
        size = ::read(fd, bytes, sizeof bytes);
    }
    return size == 0;
}

void send_text(int fd, const std::string& text) {
    ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
}

constexpr const char* client = R"py(
import struct
UPLOAD = b"u" * 5_000_000
def connect(): return socket.create_connection(("127.0.0.1", 3128), 120)
def reset(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()
def answer(s):
    said = b""
    while part := s.recv(65536): said += part
    return said
def wait_for(name):
    while not os.path.exists(f"{W}/{name}"): time.sleep(0.005)
def bridge():
    for process in os.listdir("/proc"):
        try:
            if open(f"/proc/{process}/comm").read() == "cellgate-bridge\n": return process
        except OSError: pass
def used_by_bridge():
    fields = open(f"/proc/{bridge()}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
)py";

Ran run(Machine& machine, const std::string& program) {
    return machine.python(Isolation::bwrap, client + program);
}

} // namespace

TEST_CASE("an answer before an upload's end is read by who uploads, and its end too") {
    Machine machine;
    const std::string answer = "HTTP/1.1 413 Too large\r\n\r\n" + std::string(100'000, '.');
    constexpr int times = 20;
    Proxy proxy(machine, times, [&answer](int fd) {
        read_preface(fd);
        has(fd, POLLIN); // of the upload: closing with it unread resets the connection
        send_text(fd, answer);
        ::close(fd);
    });
    const Ran ran = run(machine, R"(
for _ in range(20):
    s = connect()
    s.sendall(UPLOAD)
    said = answer(s)
    print(said[:12].decode(), len(said))
    s.close())");
    std::string expected;
    for (int time = 0; time < times; ++time) {
        expected += "HTTP/1.1 413 " + std::to_string(answer.size()) + "\n";
    }
    CHECK_MESSAGE(ran.out == expected, ran.out, ran.error);
}

TEST_CASE("the bridge says which socket it is, whose, and which threads started it") {
    Machine machine;
    std::vector<std::string> callers;
    Proxy proxy(machine, 2, [&callers](int fd) {
        callers.push_back(read_preface(fd));
        ::close(fd);
    });
    const Ran ran = run(machine, R"(
import threading
s = connect()
print("command", os.fstat(s.fileno()).st_ino)
answer(s)
child = """
import os, socket
s = socket.create_connection(('127.0.0.1', 3128), 120)
print(os.fstat(s.fileno()).st_ino, f'{os.getpid()}:{os.getppid()}', end=' ', flush=True)
s.recv(1)
"""
def start():
    shell = subprocess.Popen(["sh", "-c", '"$0" -c "$1"; true', sys.executable, child], stdout=subprocess.PIPE, text=True)
    print(shell.communicate()[0] + f"{shell.pid}:{threading.get_native_id()}")
thread = threading.Thread(target=start)
thread.start()
thread.join())");
    proxy.end();
    REQUIRE_MESSAGE(callers.size() == 2, ran.out, ran.error);
    const std::string first_lines =
        callers[0].substr(0, callers[0].find('\n') + 1) + callers[1].substr(0, callers[1].find('\n') + 1);
    CHECK_MESSAGE(ran.out == first_lines, ran.out, ran.error);
    CHECK(callers[0].find('/') == std::string::npos); // the sandbox's own program goes without its command line
    CHECK(callers[1].find("-c") != std::string::npos);
}

TEST_CASE("a relay asks the proxy for its host by SOCKS5, and carries nothing before the answer") {
    Machine machine;
    machine.profile.allowed_hosts = {"127.0.0.1:5432", "[::1]:5432"};
    std::vector<std::string> programs;
    std::vector<std::string> requests;
    bool early = false;
    Proxy proxy(machine, 2, [&](int fd) {
        programs.push_back(read_preface(fd));
        const std::string host = programs.size() == 1 ? "127.0.0.1" : "::1";
        std::string request(7 + host.size() + 3, '\0');
        ::recv(fd, request.data(), request.size(), MSG_WAITALL);
        requests.push_back(request);
        early = early || has(fd, POLLIN, 200);
        send_text(fd, std::string("\5\0\5\0\0\1", 6));
        send_text(fd, std::string(6, '\0') + "hello ");
        std::string said(4, '\0');
        has(fd, POLLIN);
        ::recv(fd, said.data(), said.size(), MSG_WAITALL);
        send_text(fd, said);
        read_to_end(fd);
        ::close(fd);
    });
    const Ran ran = run(machine, R"(
for host in ("127.0.0.1", "::1"):
    s = socket.create_connection((host, 5432), 120)
    s.sendall(b"ping")
    s.shutdown(socket.SHUT_WR)
    print(os.fstat(s.fileno()).st_ino, answer(s).decode()))");
    proxy.end();
    REQUIRE_MESSAGE(programs.size() == 2, ran.out, ran.error);
    CHECK_FALSE(early);
    CHECK(requests[0] == std::string("\5\1\0\5\1\0\3\x09", 8) + "127.0.0.1\x15\x38");
    CHECK(requests[1] == std::string("\5\1\0\5\1\0\3\3", 8) + "::1\x15\x38");
    const auto socket_of = [](const std::string& program) {
        return program.substr(program.find(' ') + 1, program.find('\n') - program.find(' ') - 1);
    };
    const std::string expected = socket_of(programs[0]) + " hello ping\n" + socket_of(programs[1]) + " hello ping\n";
    CHECK_MESSAGE(ran.out == expected, ran.out, ran.error);
}

TEST_CASE("a relay resets a connection that the proxy refuses, in whichever way") {
    Machine machine;
    machine.profile.allowed_hosts = {"localhost:5432"};
    const std::string answers[] = {std::string("\5\0\5\2\0\1\0\0\0\0\0\0", 12), std::string("\5\0\5\4", 4), "\5\xff",
                                   "HTTP/1.1 503 none left\r\n\r\n", ""};
    std::size_t next = 0;
    Proxy proxy(machine, 5, [&](int fd) {
        read_preface(fd);
        has(fd, POLLIN);
        send_text(fd, answers[next++]);
        ::shutdown(fd, SHUT_WR);
        read_to_end(fd);
        ::close(fd);
    });
    const Ran ran = run(machine, R"(
for _ in range(5):
    try:
        print(answer(socket.create_connection(("127.0.0.1", 5432), 120)))
    except ConnectionResetError: print("reset"))");
    CHECK_MESSAGE(ran.out == "reset\nreset\nreset\nreset\nreset\n", ran.out, ran.error);
}

TEST_CASE("each direction of a connection ends for itself") {
    Machine machine;
    bool at_end = false;
    Proxy proxy(machine, 2, [&at_end](int fd) {
        read_preface(fd);
        ::shutdown(fd, SHUT_WR);
        at_end = read_to_end(fd);
        ::close(fd);
    });
    const Ran ran = run(machine, R"(
s = connect()
print(answer(s))
s.sendall(UPLOAD)
s.close()
s = connect()
s.shutdown(socket.SHUT_WR)
print(answer(s)))");
    proxy.end();
    CHECK_MESSAGE(ran.out == "b''\nb''\n", ran.out, ran.error);
    CHECK(at_end);
}

TEST_CASE("a client that is gone ends its connection, though nothing is asked of it") {
    Machine machine;
    bool noticed = false;
    const auto serve = [&](const std::function<void(int)>& first) {
        return [&, first](int fd) {
            read_preface(fd);
            first(fd);
            machine.write(machine.workspace / "go", "");
            noticed = has(fd, POLLHUP); // an end of writing alone is none
            machine.write(machine.workspace / "done", "");
            ::close(fd);
        };
    };
    SUBCASE("after its own end, before an answer") {
        Proxy proxy(machine, 1, serve([](int fd) { read_to_end(fd); }));
        const Ran ran = run(machine, "s = connect(); s.sendall(b'x'); s.shutdown(socket.SHUT_WR)\n"
                                     "wait_for('go'); reset(s); wait_for('done')\n");
        proxy.end();
        CHECK_MESSAGE(noticed, ran.error);
    }
    SUBCASE("in an upload that the proxy does not read") {
        Proxy proxy(machine, 1, serve([](int) {}));
        const Ran ran = run(machine, R"(
s = connect()
wait_for('go')
s.setblocking(False)
try:
    while True: s.send(UPLOAD)
except BlockingIOError: reset(s)
wait_for('done'))");
        proxy.end();
        CHECK_MESSAGE(noticed, ran.error);
    }
}

TEST_CASE("an end that is known is not asked for again and again") {
    Machine machine;
    const auto burn = [](const std::string& until, const std::string& then) {
        return until + R"(
own, others = time.process_time(), used_by_bridge()
while time.process_time() - own < 1: pass
used = used_by_bridge() - others
print("idle" if used < 0.2 else f"used {used}")
)" + then;
    };
    SUBCASE("the proxy's, while the client reads nothing") {
        std::size_t sent = 0;
        Proxy proxy(machine, 1, [&](int fd) {
            read_preface(fd);
            const std::string some(10'000, '.');
            while (has(fd, POLLOUT, 200)) { // until all on the way is full
                const ssize_t size = ::send(fd, some.data(), some.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
                sent += size > 0 ? static_cast<std::size_t>(size) : 0;
            }
            ::close(fd);
            machine.write(machine.workspace / "go", "");
        });
        const Ran ran = run(machine, burn("s = connect()\nwait_for('go')", "print(len(answer(s)))\n"));
        proxy.end();
        CHECK_MESSAGE(ran.out == "idle\n" + std::to_string(sent) + "\n", ran.out, ran.error);
    }
    SUBCASE("the client's, while the proxy reads nothing") {
        Proxy proxy(machine, 1, [&](int fd) {
            read_preface(fd);
            ::shutdown(fd, SHUT_WR);
            wait_for(machine.workspace / "measured");
            read_to_end(fd);
            ::close(fd);
        });
        const Ran ran = run(machine, burn(R"(
s = connect()
print(answer(s))
s.sendall(UPLOAD[:340_000])
s.close())",
                                          "open(W + '/measured', 'w').close()\n"));
        CHECK_MESSAGE(ran.out == "b''\nidle\n", ran.out, ran.error);
    }
}

TEST_CASE("what a client sent before it reset its connection arrives") {
    constexpr int clients = 20;
    Machine machine;
    std::string arrived;
    int served = 0;
    Proxy proxy(machine, clients, [&](int fd) {
        read_preface(fd);
        char byte = 0;
        while (has(fd, POLLIN) && ::read(fd, &byte, 1) == 1) {
            arrived += byte;
        }
        ::close(fd);
        if (++served == clients) {
            machine.write(machine.workspace / "done", "");
        }
    });
    // Most are reset before the bridge has accepted them.
    const Ran ran = run(machine, "for _ in range(20):\n    s = connect(); s.sendall(b'x'); reset(s)\n"
                                 "wait_for('done')\n");
    proxy.end();
    CHECK_MESSAGE(arrived == std::string(clients, 'x'), arrived, ran.error);
}
