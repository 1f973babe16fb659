// The guard makes calls as the kernel would, and cannot be attacked by those who ask it.
#include "create_guard_fixture.hpp"

using namespace cellgate;
using namespace cellgate::sandbox;
using namespace cellgate::sandbox::create_guard_fixture;

namespace fs = std::filesystem;

// Each way is tried on a process that does not hide, on process 1 and on what that forks.
constexpr const char* attacks_on_the_first_process = R"py(
import signal
victim = os.fork()
if victim == 0: time.sleep(600)
os.mkfifo("/tmp/fifo"); threading.Thread(target=put, args=("/tmp/fifo",), daemon=True).start()
def find_opener():
    while True:
        for pid in filter(str.isdigit, os.listdir("/proc")):
            if open(f"/proc/{pid}/comm").read() == "cellgate-open\n": return int(pid)
opener = find_opener()
class Iovec(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
here = ctypes.create_string_buffer(8)
def address_of(): return id(None) & ~4095
def read_memory(pid):
    local, remote = Iovec(ctypes.addressof(here), 8), Iovec(address_of(), 8)
    return must(libc.process_vm_readv(pid, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0))
def take_descriptor(pid):
    return must(libc.syscall(438, must(libc.syscall(434, pid, 0)), 0, 0))
def trace(pid):
    must(libc.ptrace(16, pid, None, None)); os.waitpid(pid, 0x40000000); must(libc.ptrace(17, pid, None, None))
def through_a_path(pid):
    os.open(f"/proc/self/fd/{os.open(f'/proc/{pid}/mem', os.O_PATH)}", os.O_RDONLY | os.O_CREAT)
def from_its_folder(pid): os.open("mem", os.O_RDONLY | os.O_CREAT, dir_fd=os.open(f"/proc/{pid}", os.O_PATH))
def from_within_its_folder(pid):
    os.chdir(f"/proc/{pid}"); os.open("mem", os.O_RDONLY | os.O_CREAT)
ways = [read_memory, take_descriptor, trace, through_a_path, from_its_folder, from_within_its_folder,
        lambda pid: os.open(f"/proc/{pid}/mem", os.O_RDONLY),
        lambda pid: os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CREAT),
        lambda pid: os.open(f"/proc/{pid}/task/{pid}/mem", os.O_RDONLY | os.O_CREAT),
        lambda pid: os.open(f"/proc/self/../{pid}/mem", os.O_RDONLY | os.O_CREAT),
        lambda pid: os.open(f"/proc/{pid}/environ", os.O_RDONLY | os.O_CREAT),
        lambda pid: os.readlink(f"/proc/{pid}/cwd"),
        lambda pid: open(f"/proc/{pid}/environ").read()]
for way in ways:
    for pid in (victim, 1, opener):
        try: way(pid)
        except OSError as error: print(pid != victim, errno.errorcode[error.errno])
        else: print(pid != victim, "done")
for number in range(1, 65):
    try: os.kill(1, number)
    except OSError: pass
os.kill(victim, 9)
try: put(W + "/data.txt"); put(W + "/part/.mcp.json")
except OSError as error: print(errno.errorcode[error.errno])
)py";

TEST_CASE("nothing in a sandbox can look into its first process and what that forks, or end it") {
    if (!are_guarded_here()) {
        return;
    }
    // Tried on a process of the same user that does not hide, it works.
    Machine machine;
    const Ran ran = machine.python(Isolation::bwrap, attempts_begin + std::string(attacks_on_the_first_process));
    std::size_t at = 0;
    int tried = 0;
    while (at < ran.out.size() && ran.out.compare(at, 5, "EROFS") != 0) {
        const std::size_t end = ran.out.find('\n', at);
        const std::string line = ran.out.substr(at, end - at);
        const bool refused = line == "True EACCES" || line == "True EPERM";
        CHECK_MESSAGE((tried % 3 == 0 ? line == "False done" : refused), line);
        ++tried;
        at = end + 1;
    }
    CHECK(tried == 39);
    CHECK_MESSAGE(ran.out.ends_with("\nEROFS\n"), ran.out, ran.error);
}

// Prints what each call answers; it has to be the same with and without the guard.
constexpr const char* calls_with_odd_arguments = R"py(
def tell(what, call):
    try: result = call()
    except OSError as error: result = errno.errorcode[error.errno]
    print(what, result)
def mode(path): return oct(os.lstat(path).st_mode), os.lstat(path).st_uid == os.getuid(), os.lstat(path).st_gid == os.getgid()
def made(path, flags=CREATE, bits=0o666):
    fd = os.open(path, flags, bits); os.close(fd); return mode(path)
for mask in (0, 0o22, 0o77, 0o777):
    os.umask(mask); tell("umask", lambda: (made(f"m{mask}"), os.mkdir(f"d{mask}"), mode(f"d{mask}"), os.mkfifo(f"f{mask}"), mode(f"f{mask}")))
os.umask(0o22)
def other_umask():
    libc.unshare(0x200); os.umask(0o77); tell("a thread's umask", lambda: made("thread"))
thread = threading.Thread(target=other_umask); thread.start(); thread.join()
os.mkdir("d"); os.symlink("nowhere/x", "dangling"); os.symlink("loop", "loop"); os.symlink("m0", "good"); os.symlink("d", "dd")
os.symlink("made-by-link", "to-be-made")
for path in ("d", "d/", ".", "..", "d/.", "new/", "m0/", "m0/x", "none/x", "", "/", "//", "dangling", "loop", "loop/x", "good", "x" * 255, "x" * 256,
             "d/" * 2040 + "x", "y/" + "z" * 4093, "y/" + "z" * 4094, "dd/x", "dd/", "to-be-made", "./d//../d/./q", "/proc/self/nothing", "/proc/nothing", "\udcff\udc81"):
    name = path[:40].encode("utf-8", "replace")
    for flags in (CREATE, CREATE | os.O_EXCL, CREATE | os.O_NOFOLLOW, CREATE | os.O_TRUNC, os.O_CREAT | os.O_RDONLY, os.O_CREAT | os.O_PATH,
                  os.O_CREAT | os.O_TMPFILE | os.O_RDWR):
        tell(("open", name, flags), lambda: (os.close(os.open(path, flags, 0o600)), 1)[1])
    tell(("mkdir", name), lambda: os.mkdir(path)); tell(("again", name), lambda: os.mkdir(path))
    tell(("mknod", name), lambda: os.mknod(path, stat.S_IFREG | 0o600))
    tell(("symlink", name), lambda: os.symlink("target", path)); tell(("empty symlink", name), lambda: os.symlink("", path))
    if path.startswith("/"): continue # on another file system in a sandbox
    tell(("link", name), lambda: os.link("m0", path)); tell(("link from", name), lambda: os.link(path, "linked"))
    tell(("follow", name), lambda: must(libc.linkat(CWD, os.fsencode(path), CWD, b"followed", SYMLINK_FOLLOW)))
    tell(("rename", name), lambda: (put("a"), os.rename("a", path))); tell(("rename from", name), lambda: os.rename(path, "b"))
    tell(("exchange", name), lambda: (put("a"), must(libc.renameat2(CWD, b"a", CWD, os.fsencode(path), RENAME_EXCHANGE))))
    tell(("keep", name), lambda: (put("a"), must(libc.renameat2(CWD, b"a", CWD, os.fsencode(path), RENAME_NOREPLACE))))
def who(path): return [line.split()[1] for line in open(os.open(path, os.O_CREAT | os.O_RDONLY)) if line.startswith("Pid:")] == [str(threading.get_native_id())]
tell("self", lambda: who("/proc/self/status")); tell("thread", lambda: who("/proc/thread-self/status")); tell("net", lambda: os.open("/proc/net/tcp", os.O_CREAT) > 0)
thread = threading.Thread(target=lambda: (tell("not self", lambda: who("/proc/self/status")), tell("in a thread", lambda: who("/proc/thread-self/status"))))
thread.start(); thread.join()
tell("sorted", lambda: sorted(os.listdir(os.fsencode("."))))
tell("bad folder", lambda: os.open("x", CREATE, dir_fd=999)); tell("file as folder", lambda: os.open("x", CREATE, dir_fd=os.open("m0", os.O_RDONLY)))
tell("bad folder, whole path", lambda: must(libc.openat(999, (W + "/whole").encode(), CREATE, 0o600)) > 0)
for call in (lambda: libc.open(ctypes.c_void_p(16), CREATE, 0), lambda: libc.mkdir(ctypes.c_void_p(0), 0), lambda: libc.rename(b"m0", ctypes.c_void_p(1 << 46)),
             lambda: libc.linkat(CWD, b"m0", CWD, b"q", 64), lambda: libc.renameat2(CWD, b"m0", CWD, b"q", 64), lambda: libc.renameat2(CWD, b"m0", CWD, b"q", 3),
             lambda: libc.mkdirat(998, b"q", 0), lambda: libc.symlink(b"", b"q"), lambda: libc.symlink(b"t" * 4095, b"long"), lambda: libc.symlink(b"t" * 4096, b"long2")):
    tell("odd", lambda: must(call()))
page = mmap.mmap(-1, 8192); start = ctypes.addressof(ctypes.c_char.from_buffer(page)); libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
page[4096 - 9:4096] = b"at-end-x\0"; libc.munmap(start + 4096, 4096)
tell("a page's end", lambda: must(libc.mkdir(ctypes.c_void_p(start + 4096 - 9), 0o700)))
ctypes.memset(start + 4096 - 4, 65, 4); tell("beyond a page's end", lambda: must(libc.mkdir(ctypes.c_void_p(start + 4096 - 4), 0o700)))
fd = os.open("m0", CREATE | os.O_APPEND | os.O_NONBLOCK); import fcntl
tell("flags", lambda: (fcntl.fcntl(fd, fcntl.F_GETFL) & ~0o100000, fcntl.fcntl(fd, fcntl.F_GETFD)))
tell("kept open", lambda: fcntl.fcntl(must(libc.open(b"m18", CREATE, 0)), fcntl.F_GETFD))
os.chmod("m0", 0o400); tell("read-only file", lambda: os.getuid() == 0 or os.open("m0", CREATE)) if os.getuid() else print("read-only file EACCES")
os.mkdir("closed"); tell("exists", lambda: os.open("m18", CREATE | os.O_TRUNC) > 0)
fd = os.open(".", os.O_TMPFILE | os.O_RDWR); os.write(fd, b"unnamed")
tell("unnamed", lambda: (must(libc.linkat(CWD, f"/proc/self/fd/{fd}".encode(), CWD, b"named", SYMLINK_FOLLOW)), open("named").read()))
os.mkfifo("pipe")
tell("a FIFO without a reader", lambda: os.open("pipe", CREATE | os.O_NONBLOCK))
tell("a FIFO for both", lambda: os.open("pipe", os.O_CREAT | os.O_RDWR) > 0)
sock = socket.socket(socket.AF_UNIX); sock.bind("socket"); tell("a socket", lambda: os.open("socket", CREATE))
import pty
def at_a_terminal(path):
    pid, owner = pty.fork()
    if pid == 0:
        try: os.write(os.open(path, CREATE), b"hello")
        except OSError as error: os.write(1, errno.errorcode[error.errno].encode())
        os._exit(0)
    text = os.read(owner, 99); os.waitpid(pid, 0); return text
tell("terminal", lambda: at_a_terminal("/dev/tty")); os.setsid() if os.getsid(0) != os.getpid() else None
tell("no terminal", lambda: os.open("/dev/tty", CREATE)); tell("memory", lambda: os.open("/dev/full", CREATE) > 0)
tell("null", lambda: open("/dev/null", "w").write("x")); tell("stdout", lambda: os.open("/dev/stdout", CREATE) > 0)
import resource
def few():
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")), 4096)); held = []
    try:
        while True: held.append(os.open("m18", CREATE))
    finally: [os.close(each) for each in held]
tell("too many", few)
)py";

TEST_CASE("with the guard, calls do what they do without it") {
    if (!are_guarded_here()) {
        return;
    }
    check_is_the_same(calls_with_odd_arguments);
}

TEST_CASE("a FIFO that waits for its other end keeps no other call waiting, and can be interrupted") {
    if (!are_guarded_here()) {
        return;
    }
    check_is_the_same(R"py(
import signal
os.mkfifo("pipe")
writers = [threading.Thread(target=put, args=("pipe", "hello")) for _ in range(1)]
for each in writers: each.start()
put("other"); os.mkdir("d")
print(open("pipe").read()); [each.join() for each in writers]
print(subprocess.run("(cat pipe & echo from a shell > pipe; wait)", shell=True, capture_output=True, text=True).stdout)
class Interrupted(Exception): pass
def interrupt(*_):
    seen.append(1)
    if len(seen) == 1: raise Interrupted
signal.signal(signal.SIGUSR1, interrupt); seen = []
def send(): time.sleep(0.2); signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
def send_until_seen(): # the first may come just before the call
    while not seen: send()
sender = threading.Thread(target=send_until_seen)
try: sender.start(); open("pipe", "w")
except Interrupted: print("interrupted")
sender.join(); signal.signal(signal.SIGUSR1, lambda *_: seen.append(2))
def send_and_read(): send(); time.sleep(0.2); print(open("pipe").read())
reader = threading.Thread(target=send_and_read); reader.start()
put("pipe", "went on"); reader.join(); print(2 in seen)
child = subprocess.Popen(["sh", "-c", "echo > pipe"]); time.sleep(0.2); child.kill(); print(child.wait())
)py");
}

TEST_CASE("what a FIFO's opening gives is open, however long the caller is kept from taking it") {
    if (!are_guarded_here()) {
        return;
    }
    // Beside the others, the one that writes runs only now and then.
    check_is_the_same(R"py(
spinning = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(2 * os.cpu_count())]
os.mkfifo("pipe"); read = []
closed = threading.Semaphore()
def write():
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    try:
        # What is written to a reader that has seen its end and is about to close would be lost.
        for number in range(10): closed.acquire(); put("pipe", str(number))
    except BaseException as error: print("writing:", error, flush=True); os._exit(1)
writer = threading.Thread(target=write); writer.start()
while len(read) < 10:
    text = open("pipe").read(); read += text
    if text: closed.release()
writer.join(); [each.kill() for each in spinning]; print(*read)
)py");
}

TEST_CASE("signals that come while files are made have nothing made twice") {
    if (!are_guarded_here()) {
        return;
    }
    check_is_the_same(R"py(
import signal
count = 0; done = 0; done_before = -1; pause = 0.0005
def alarm(*_):
    global count, done_before, pause
    count += 1
    # Where a call takes longer than the pause, it would be begun again for ever.
    pause = 0.0005 if done != done_before else 2 * pause
    done_before = done; signal.setitimer(signal.ITIMER_REAL, pause)
signal.signal(signal.SIGALRM, alarm); signal.setitimer(signal.ITIMER_REAL, pause)
def again(call, *arguments): # a call that is interrupted has done nothing
    while True:
        try: return call(*arguments)
        except InterruptedError: pass
for number in range(500):
    os.close(os.open(f"x{number}", CREATE | os.O_EXCL)); done += 1; again(os.mkdir, f"d{number}"); done += 1
    again(os.rename, f"x{number}", f"y{number}"); done += 1
signal.signal(signal.SIGALRM, signal.SIG_IGN); print(count > 0, len(os.listdir(".")))
)py");
}

TEST_CASE("many that make files at once each get their own") {
    if (!are_guarded_here()) {
        return;
    }
    check_is_the_same(R"py(
def work(name):
    os.mkdir(name)
    for number in range(200):
        path = f"{name}/{number}"; put(path, path); assert open(path).read() == path
threads = [threading.Thread(target=work, args=(f"t{i}",)) for i in range(8)]
children = []
for i in range(8):
    child = os.fork()
    if child == 0: work(f"p{i}"); os._exit(0)
    children.append(child)
[t.start() for t in threads]; [t.join() for t in threads]
print([os.waitpid(child, 0)[1] for child in children], sum(len(files) for _, _, files in os.walk(".")) - 9 >= 3200)
killed = os.fork()
if killed == 0:
    while True: put("again"); os.unlink("again")
time.sleep(0.2); os.kill(killed, 9); print(os.waitpid(killed, 0)[1]); put("after"); print(open("after").read())
)py");
}

TEST_CASE("programs that make files work as they do without the guard") {
    if (!are_guarded_here()) {
        return;
    }
    check_is_the_same(R"py(
import multiprocessing, pathlib, shutil, sqlite3, tarfile, tempfile, zipfile
def shell(command):
    ran = subprocess.run(command, shell=True, capture_output=True, text=True); print(command, ran.returncode, ran.stdout, ran.stderr)
for number in range(300):
    path = pathlib.Path(f"tree/{number % 7}/{number}"); path.parent.mkdir(parents=True, exist_ok=True); path.write_text(str(number)); path.touch()
tarfile.open("tree.tar.gz", "w:gz").add("tree"); shutil.make_archive("tree", "zip", ".", "tree")
shell("mkdir t z && tar -xzf tree.tar.gz -C t && cp -a tree c && mv c c2 && ln -s x l && ln tree/1/1 h && diff -r tree t/tree && diff -r tree c2")
zipfile.ZipFile("tree.zip").extractall("z"); shell("diff -r tree z/tree && rm -r z && find . -type f | wc -l && install -m 600 h i && stat -c %a i")
with tempfile.TemporaryDirectory(dir=".") as folder:
    with tempfile.NamedTemporaryFile("w+", dir=folder) as file: file.write("x"); file.flush(); print(open(file.name).read())
with tempfile.TemporaryFile() as file: file.write(b"x"); print(file.tell())
shutil.copytree("tree", "tree2"); shutil.move("tree2", "tree3"); shutil.rmtree("tree3"); print(os.path.exists("tree2"))
for mode in ("delete", "wal"):
    db = sqlite3.connect("x.db"); print(db.execute("pragma journal_mode=" + mode).fetchall())
    db.execute("create table if not exists t(x)"); db.executemany("insert into t values(?)", [(i,) for i in range(100)]); db.commit()
    print(db.execute("select count(*) from t").fetchall()); db.close()
with multiprocessing.Pool(2) as pool: print(pool.map(abs, [-1, -2]))
queue = multiprocessing.Queue(); queue.put(1); print(queue.get()); print(multiprocessing.Manager().list([1]))
shell("set -C; echo 1 > n; echo 2 > n; echo 3 >| n; cat n; echo 4 >> n; cat n > /dev/null; cat <<X\nhere\nX")
try:
    import numpy; numpy.save("a.npy", numpy.arange(3)); print(numpy.load("a.npy"))
except ImportError: print("no numpy")
compileall = subprocess.run([sys.executable, "-m", "compileall", "-q", "tree"]).returncode; print(compileall)
)py");
}
