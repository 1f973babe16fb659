// The sandbox without namespaces: what it must hold by its guard alone, each attempt with a control in which it works
// without a sandbox, and that honest code works in it.

#include "landlock_launcher.hpp"
#include "machine.hpp"
#include "sandbox/lacks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <sys/stat.h>

using namespace cellgate;
using namespace cellgate::sandbox;

namespace {

namespace fs = std::filesystem;

} // namespace

TEST_CASE("honest code works in a sandbox without namespaces") {
    Machine machine;
    const Ran ran = machine.python(Isolation::landlock, R"python(
import asyncio, json, multiprocessing.connection, pty, shutil, sqlite3, stat, tempfile, threading
os.makedirs("a/b"); os.makedirs("c")
open("a/b/file", "w").write("text")
os.rename("a/b/file", "c/file"); os.link("c/file", "a/link"); os.rename("a/b", "c/b"); os.symlink("file", "c/symbolic")
os.truncate("c/file", 2); assert open("a/link").read() == "te"
unnamed = os.open("c", os.O_TMPFILE | os.O_RDWR, 0o600)
os.link(f"/proc/self/fd/{unnamed}", "a/named", src_dir_fd=unnamed, follow_symlinks=True) # so that it follows
memory = os.memfd_create("memory"); open(f"/proc/self/fd/{memory}", "w").write("again")
os.mkfifo("a/fifo"); os.unlink("a/fifo"); os.rmdir("c/b"); assert sorted(os.listdir("c")) == ["file", "symbolic"]
open("/dev/null", "w").close(); os.close(os.open("/dev/urandom", os.O_RDONLY))
assert subprocess.run("echo x > /dev/null; echo ok > /dev/stdout", shell=True, check=True, capture_output=True).stdout == b"ok\n"
os.chmod("c/file", 0o640); os.utime("c/file", (1, 2)); assert os.stat("c/file").st_mtime == 2
os.utime("c/file"); assert os.stat("c/file").st_mtime > 2
os.chown("c/file", os.getuid(), -1); shutil.copy2("c/file", "a/copy"); shutil.copytree("c", "d", symlinks=True)
shutil.make_archive("archive", "gztar", "c"); shutil.unpack_archive("archive.tar.gz", "unpacked"); shutil.rmtree("unpacked")
owner, terminal = pty.openpty(); os.write(owner, b"typed\n"); assert os.read(terminal, 10) == b"typed\n"
pid, child = pty.fork()
if pid == 0: os.write(os.open("/dev/tty", os.O_RDWR), b"mine"); os._exit(0)
assert os.read(child, 10) == b"mine"; os.waitpid(pid, 0)
rows = sqlite3.connect("c/base")
for line in ("pragma journal_mode=wal", "create table t(x)", "insert into t values (1)"): rows.execute(line)
rows.commit()
open("program", "w").write("#!/bin/sh\necho ran\n"); os.chmod("program", 0o755)
assert subprocess.run("./program", capture_output=True).stdout == b"ran\n"
for top in (os.environ["HOME"], tempfile.gettempdir(), S):
    assert os.listdir(top) is not None; os.makedirs(top + "/x/y"); open(top + "/x/.bashrc", "w").close()
path = tempfile.mkdtemp() + "/s"
with multiprocessing.connection.Listener(path, "AF_UNIX") as listener:
    client = threading.Thread(target=lambda: multiprocessing.connection.Client(path).send("sent")); client.start()
    assert listener.accept().recv() == "sent"; client.join()
async def main():
    process = await asyncio.create_subprocess_exec("cat", "c/file", stdout=asyncio.subprocess.PIPE)
    return (await process.communicate())[0]
assert asyncio.run(main()) == b"te"
child = os.fork()
if child == 0: time.sleep(600)
os.kill(child, 9); assert os.waitpid(child, 0)[1] == 9
assert "root" in open("/etc/passwd").read()
print("worked"))python");
    CHECK_MESSAGE(ran.out == "worked\n", ran.out, ran.error);
    CHECK(std::find(ran.layers.begin(), ran.layers.end(), "landlock") != ran.layers.end());
}
