// Sockets in the workspace: those of the sandbox are reached, those of other programs are not.
#include "base/unique_fd.hpp"
#include "machine.hpp"
#include "sandbox/protected_files.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

using namespace cellgate;
using namespace cellgate::sandbox;

namespace {

namespace fs = std::filesystem;

const char* name_of(Isolation isolation) {
    return isolation == Isolation::none ? "none" : isolation == Isolation::bwrap ? "bwrap" : "landlock";
}

} // namespace

TEST_CASE("sockets in the workspace are reached when they were made in the sandbox, and not otherwise") {
    for (const Isolation isolation : {Isolation::none, Isolation::bwrap, Isolation::landlock}) {
        CAPTURE(std::string(name_of(isolation)));
        Machine machine;
        const UniqueFd user = listen_unix(machine.workspace / "host.sock");
        fs::create_directories(machine.workspace / "node_modules");
        const UniqueFd hidden = listen_unix(machine.workspace / "node_modules/host.sock");
        const UniqueFd in_git = listen_unix(machine.workspace / ".git/fsmonitor--daemon.ipc");
        fs::create_directories(machine.home / "shown");
        const UniqueFd shown = listen_unix(machine.home / "shown/s");
        machine.profile.settings = with_additions(nullptr, Additions{{machine.home / "shown"}, {}, false});
        const Ran ran = machine.python(isolation, R"py(
import errno, threading
os.chdir(W); os.symlink("host.sock", "link"); os.mkdir("d"); os.link("host.sock", "hard")
def reach(path):
    try: socket.socket(socket.AF_UNIX).connect(path)
    except OSError as error: return errno.errorcode[error.errno]
    return "reached"
import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
for path in ("host.sock", W + "/host.sock", "d/../link", "hard", "/proc/self/cwd/host.sock",
             "node_modules/host.sock", ".git/fsmonitor--daemon.ipc", H + "/shown/s"): print(reach(path))
os.rename("host.sock", "d/moved"); print(reach("d/moved"))
def serve(path):
    server = socket.socket(socket.AF_UNIX); server.bind(path); server.listen(); return server
for path in ("own.sock", W + "/d/own.sock", "d/../own2.sock", S + "/own.sock"):
    server = serve(path); assert server.getsockname() == path, server.getsockname()
    client = socket.socket(socket.AF_UNIX); client.connect(path); assert client.getpeername() == path
    server.accept()[0].send(b"own"); print(client.recv(3).decode())
os.rename("own.sock", "renamed.sock"); print(reach("renamed.sock"))
made = []
def many(name, kept):
    try:
        for i in range(600):
            made.append(socket.socket(socket.AF_UNIX)); made[-1].bind(f"d/{name}{i}")
            if not kept: os.unlink(f"d/{name}{i}")
        print("all made")
    except OSError as error: print(errno.errorcode[error.errno])
many("gone", False); many("kept", True)
)py");
        const bool free = isolation == Isolation::none;
        std::string expected;
        for (int i = 0; i < 9; ++i) {
            expected += free ? "reached\n" : "EACCES\n";
        }
        expected += "own\nown\nown\nown\n";
        // The last listener has ended.
        CHECK_MESSAGE(ran.out.starts_with(expected), ran.out, ran.error);
        CHECK_MESSAGE(ran.out.substr(expected.size()) ==
                          (free ? "ECONNREFUSED\nall made\nall made\n" : "ECONNREFUSED\nall made\nENOBUFS\n"),
                      ran.out, ran.error);
    }
}

TEST_CASE("a socket that appears in the workspace later, also under a number that was a cell's, is not reached") {
    for (const Isolation isolation : {Isolation::none, Isolation::bwrap, Isolation::landlock}) {
        CAPTURE(std::string(name_of(isolation)));
        Machine machine;
        async::Command command;
        command.argv = {"/usr/bin/python3", "-c", R"py(
import os, socket, sys
os.chdir(os.environ["W"])
own = socket.socket(socket.AF_UNIX); own.bind("s"); own.listen(); os.unlink("s"); own.close()
print("up", flush=True); sys.stdin.readline()
try: socket.socket(socket.AF_UNIX).connect("s"); print("reached")
except OSError as error: print(error.strerror)
)py"};
        command.environment = {{"W", machine.workspace}};
        const std::unique_ptr<Launcher> launcher = make_launcher(isolation, machine.environment);
        const Launch launch = launcher->wrap(std::move(command), machine.profile);
        struct Steps {
            static Task<void> take(async::Loop* loop, const async::Command* command, std::string path,
                                   std::string* said) {
                std::unique_ptr<async::Process> process = async::start_process(*loop, *command);
                *said = co_await process->stdio().read();
                const UniqueFd user = listen_unix(path);
                process->stdio().write("go\n");
                *said += co_await read_to_end(&process->stdio());
                co_await process->exited();
            }
        };
        std::string said;
        async::Loop loop;
        loop.run(Steps::take(&loop, &launch.command, (machine.workspace / "s").string(), &said));
        CHECK(said == (isolation == Isolation::none ? "up\nreached\n" : "up\nPermission denied\n"));
    }
}

// Prints what each call on a socket answers; it has to be the same with and without the guard.
constexpr const char* socket_calls = R"py(
import asyncio, errno, multiprocessing.connection, multiprocessing.managers, socketserver, struct, tempfile, threading
os.chdir(W)
def tell(what, call):
    try: result = call()
    except OSError as error: result = errno.errorcode[error.errno]
    print(what, result)
U, I, D = socket.AF_UNIX, socket.AF_INET, socket.SOCK_DGRAM
def s(family=U, kind=socket.SOCK_STREAM): return socket.socket(family, kind)
def raw(call, family, data, size=None, address=None):
    text = ctypes.create_string_buffer(data, max(len(data), 1)); own = s(family)
    result = getattr(libc, call)(own.fileno(), address or text, len(data) if size is None else size)
    return result if result == 0 else errno.errorcode[ctypes.get_errno()]
unix, inet = struct.pack("=H", 1), struct.pack("=HH4s8x", 2, 0, socket.inet_aton("127.0.0.1"))
for call in ("bind", "connect"):
    for name, family, data, size in (("inet", I, inet, None), ("short", I, inet[:8], None), ("empty", U, b"", None), ("other family", U, inet, None),
             ("to inet", I, unix + b"x\0", None), ("too long", U, unix + b"x" * 200, None), ("endless", U, unix, 1 << 20), ("negative", U, unix + b"x", 0xffffffff),
             ("no end", U, unix + b"y" * 108, None), ("missing", U, unix + b"none/x\0", None), ("empty path", U, unix + b"\0" * 3, None),
             ("one byte", U, b"\1", None), ("a folder", U, unix + b"part\0", None), ("below a file", U, unix + b"data.txt/x\0", None)):
        if (call, name) == ("connect", "inet"): continue
        tell((call, name), lambda: raw(call, family, data, size))
    tell((call, "nowhere"), lambda: raw(call, U, b"", 10, ctypes.c_void_p(16)))
    tell((call, "no socket"), lambda: getattr(libc, call)(0, unix + b"x\0", 4) and errno.errorcode[ctypes.get_errno()])
    tell((call, "closed"), lambda: getattr(libc, call)(999, unix + b"x\0", 4) and errno.errorcode[ctypes.get_errno()])
for path in ("sock", "part/sock", W + "/s2", "./s3", "part/../s4", "z" * 107, "\0abstract-" + str(os.getpid()), "/tmp/cellgate-" + str(os.getpid())):
    server = s(); tell("bind", lambda: server.bind(path)); tell("again", lambda: s().bind(path)); server.listen(1)
    tell("name", lambda: server.getsockname() in (path, path.encode()))
    client = s(); tell("connect", lambda: client.connect(path)); tell("peer", lambda: client.getpeername() in (path, path.encode()))
    if path[0] != "\0": tell("mode", lambda: oct(os.stat(path).st_mode)); os.unlink(path)
    client.send(b"x"); tell("got", lambda: server.accept()[0].recv(1)); server.close()
    tell("gone", lambda: s().connect(path))
os.umask(0o77); server = s(); server.bind("masked"); print(oct(os.stat("masked").st_mode)); os.umask(0o22)
one, two = s(U, D), s(U, D); one.bind("d1"); two.bind(""); two.connect("d1"); two.send(b"datagram"); print(one.recv(9)); tell("kind", lambda: s().connect("d1"))
tcp = socket.create_server(("127.0.0.1", 0)); port = tcp.getsockname()[1]; tell("tcp", lambda: s(I).connect(("127.0.0.1", port)))
fast = s(I); fast.setblocking(False); tell("at once", lambda: fast.connect(("127.0.0.1", port)) or "connected")
tell("refused", lambda: s(I).connect(("127.0.0.1", 1))); tell("in use", lambda: s(I).bind(("127.0.0.1", port)))
u = s(I, D); u.connect(("127.0.0.1", port)); tell("udp", lambda: u.getpeername()[1] == port); tell("undone", lambda: libc.connect(u.fileno(), b"\0" * 16, 16))
full = s(); full.bind("full"); full.listen(0); s0 = s(); s0.connect("full"); extra = [s() for _ in range(3)]
for each in extra: each.setblocking(False)
tell("full", lambda: [each.connect_ex("full") for each in extra][-1] == errno.EAGAIN)
waiting = s(); thread = threading.Thread(target=lambda: waiting.connect("full")); thread.start(); full.accept(); thread.join(); print("waited")
class Answer(socketserver.BaseRequestHandler):
    def handle(self): self.request.sendall(self.request.recv(9))
path = tempfile.mkdtemp() + "/served"
with socketserver.ThreadingUnixStreamServer(path, Answer) as served:
    threading.Thread(target=served.serve_forever, daemon=True).start()
    async def ask():
        reader, writer = await asyncio.open_unix_connection(path); writer.write(b"asked"); return await reader.read(5)
    print(asyncio.run(ask())); served.shutdown()
with multiprocessing.connection.Listener(family="AF_UNIX") as listener:
    client = threading.Thread(target=lambda: multiprocessing.connection.Client(listener.address).send("sent")); client.start()
    print(listener.accept().recv()); client.join()
)py";

TEST_CASE("with the guard, sockets are as they are without it") {
    const auto run = [](Isolation isolation) {
        Machine machine;
        const Ran ran = machine.python(isolation, socket_calls);
        CHECK_MESSAGE(ran.status.success(), ran.error);
        return ran.out;
    };
    const std::string bare = run(Isolation::none);
    const std::string guarded = run(Isolation::bwrap);
    CHECK(!bare.empty());
    const auto [ours, theirs] = std::mismatch(guarded.begin(), guarded.end(), bare.begin(), bare.end());
    CHECK_MESSAGE(guarded == bare, guarded.substr(std::max<long>(0, ours - guarded.begin() - 60), 120),
                  " without: ", bare.substr(std::max<long>(0, theirs - bare.begin() - 60), 120));
}

TEST_CASE("nothing in a sandbox can look into the bridge, which connects without being judged") {
    Machine machine;
    const UniqueFd proxy = listen_unix(machine.session_dir / "proxy");
    machine.profile.proxy = machine.session_dir / "proxy";
    // Tried on a process of the same user that does not hide, it works.
    const Ran ran = machine.python(Isolation::bwrap, R"py(
import errno
victim = os.fork()
if victim == 0: time.sleep(600)
class Iovec(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
here = ctypes.create_string_buffer(8)
def must(result):
    if result < 0: raise OSError(ctypes.get_errno(), "")
    return result
def read_memory(pid):
    local, remote = Iovec(ctypes.addressof(here), 8), Iovec(id(None) & ~4095, 8)
    return must(libc.process_vm_readv(pid, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0))
def take_descriptor(pid): return must(libc.syscall(438, must(libc.syscall(434, pid, 0)), 0, 0))
def trace(pid):
    must(libc.ptrace(16, pid, None, None)); os.waitpid(pid, 0x40000000); must(libc.ptrace(17, pid, None, None))
others = [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and int(pid) not in (1, victim, os.getpid())]
print(len(others))
for way in (read_memory, take_descriptor, trace, lambda pid: open(f"/proc/{pid}/environ").read(), lambda pid: os.readlink(f"/proc/{pid}/cwd")):
    for pid in (victim, *others):
        try: way(pid); print("done")
        except OSError as error: print("held" if error.errno in (errno.EPERM, errno.EACCES) else error)
os.kill(victim, 9)
)py");
    CHECK_MESSAGE(ran.out == "1\ndone\nheld\ndone\nheld\ndone\nheld\ndone\nheld\ndone\nheld\n", ran.out, ran.error);
}
