"""Where cells run. Each wall has its control: the same code in a session that a user asked to have no sandbox, where
it succeeds; so that a wall that is not there cannot look like one that holds."""

import fcntl
import http.server
import importlib.util
import json
import os
import shutil
import socketserver
import subprocess
import threading
import unittest
from pathlib import Path

from cellgate_client import CELLGATE, SharedSidecarTest, Sidecar, WorkspaceTest
from executions import RpcError
from workspaces import TestWorkspace

BWRAP_LAYERS = {"bwrap", "user-namespace", "network-namespace", "pid-namespace", "mount-namespace", "no-new-privileges",
                "private-home", "clean-environment", "protected-files", "protected-names"}


class Walls(SharedSidecarTest):
    @classmethod
    def prepare(cls):
        secrets = cls.workspace.home / ".ssh"
        secrets.mkdir()
        (secrets / "id_ed25519").write_text("PRIVATE KEY")
        (cls.workspace.base / "outside.txt").write_text("outside")
        cls.workspace.write("inside.txt", "inside")
        cls.workspace.write(".env", "TOKEN=hidden")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cellgate.session("open", sandbox=False)

    def both(self, code):
        """What the code prints in the sandbox, and without one."""
        texts = []
        for session in ("default", "open"):
            params = {} if session == "default" else {"sessionId": session}
            execution = self.cellgate.run("try:\n" + "".join(f"    {line}\n" for line in code.splitlines()) +
                                          "except Exception as problem:\n    print(type(problem).__name__)\n", **params)
            self.assertEqual(execution.result()["status"], "ok", execution.outputs())
            texts.append(execution.text().strip())
        return tuple(texts)

    def test_every_result_names_the_layers_that_hold(self):
        result = self.run_ok("1").result()
        self.assertLessEqual(BWRAP_LAYERS, set(result["layers"]))
        self.assertEqual(self.cellgate.run("1", sessionId="open").result()["layers"], ["none"])
        by_id = {s["sessionId"]: s for s in self.cellgate.request("session/list")["sessions"]}
        self.assertEqual((by_id["default"]["sandbox"], by_id["open"]["sandbox"]), ("bwrap", "none"))
        self.assertEqual(by_id["default"]["layers"], result["layers"])
        self.assertEqual(self.cellgate.run("1 / 0").result()["layers"], result["layers"])

    def test_there_is_no_network(self):
        class Quiet(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"reached")

            def log_message(self, *_):
                pass
        with socketserver.TCPServer(("127.0.0.1", 0), Quiet) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            inside, outside = self.both(
                "import urllib.request\n"
                f"url = 'http://127.0.0.1:{server.server_address[1]}'\n"
                "print(urllib.request.urlopen(url, timeout=20).read().decode())")
            server.shutdown()
        self.assertEqual(outside, "reached")
        self.assertEqual(inside, "URLError")
        self.assertEqual(self.run_ok("import socket\nprint([n for _, n in socket.if_nameindex()])").text(), "['lo']\n")

    def test_the_home_is_private(self):
        inside, outside = self.both(f"print(open({str(self.workspace.home / '.ssh/id_ed25519')!r}).read())")
        self.assertEqual((inside, outside), ("FileNotFoundError", "PRIVATE KEY"))
        inside, outside = self.both("import os\nprint(sorted(os.listdir(os.path.expanduser('~/.ssh'))))")
        self.assertEqual((inside, outside), ("FileNotFoundError", "['id_ed25519']"))

    def test_the_workspace_can_be_written_and_its_neighbours_not_be_seen(self):
        self.run_ok("open('made', 'w').write('here')")
        self.assertEqual((self.workspace.path / "made").read_text(), "here")
        inside, outside = self.both(f"print(open({str(self.workspace.base / 'outside.txt')!r}).read())")
        self.assertEqual((inside, outside), ("FileNotFoundError", "outside"))

    def test_the_system_cannot_be_changed(self):
        inside = self.both("open('/usr/local/cellgate-was-here', 'w')\nimport os\n"
                           "os.remove('/usr/local/cellgate-was-here')\nprint('changed')")[0]
        self.assertNotEqual(inside, "changed")

    def test_processes_outside_cannot_be_seen(self):
        inside, outside = self.both(f"import os\nprint(os.path.exists('/proc/{os.getpid()}/cmdline') and "
                                    f"b'unittest' in open('/proc/{os.getpid()}/cmdline', 'rb').read() or "
                                    f"b'test_' in open('/proc/{os.getpid()}/cmdline', 'rb').read())")
        self.assertEqual(outside, "True")
        self.assertIn(inside, ("FileNotFoundError", "False"))

    def test_secrets_in_the_workspace_cannot_be_read(self):
        inside, outside = self.both("print(open('.env').read())")
        self.assertEqual(outside, "TOKEN=hidden")
        self.assertNotIn("hidden", inside)

    def test_what_would_run_outside_cannot_be_made_where_there_is_none(self):
        names = (".mcp.json", ".vscode/tasks.json", "sub/.git/hooks/pre-commit")
        code = ("import os, shutil\n"
                "os.makedirs('fresh')\n"
                "found = []\n"
                f"for name in {names}:\n"
                "    try:\n"
                "        os.makedirs('fresh/' + os.path.dirname(name), exist_ok=True)\n"
                "        open('fresh/' + name, 'w').close()\n"
                "        found.append('made')\n"
                "    except OSError as problem:\n"
                "        found.append(problem.strerror)\n"
                "print(*found, sorted(n for _, folders, files in os.walk('fresh') for n in folders + files), sep=', ')\n"
                "shutil.rmtree('fresh')")
        before = set(os.listdir(self.workspace.path))
        inside, outside = self.both(code)
        self.assertEqual(outside, "made, made, made, ['.git', '.mcp.json', '.vscode', 'hooks', 'pre-commit', 'sub', "
                                  "'tasks.json']")
        self.assertEqual(inside, "Read-only file system, Read-only file system, Read-only file system, ['sub']")
        self.run_ok("open('.mcp.json.txt', 'w').close()")
        # The kernel lives, and nothing is in the place of what it must not make.
        self.assertEqual(set(os.listdir(self.workspace.path)) - before, {".mcp.json.txt"})

    def test_the_environment_is_clean(self):
        other = TestWorkspace()
        self.addCleanup(other.remove)
        with Sidecar(other, environment=other.environment(CLOUD_TOKEN="s3cret")) as cellgate:
            text = cellgate.run("import os\nprint(dict(os.environ))").text()
            self.assertIn("PATH", text)
            self.assertNotIn("s3cret", text)
            text = cellgate.run("print(*[open(f'/proc/{p}/environ').read() for p in __import__('os').listdir('/proc') "
                                "if p.isdigit()])").text()
            self.assertNotIn("s3cret", text)

    def test_there_are_no_rights_to_gain(self):
        status = self.run_ok("print(open('/proc/self/status').read())").text()
        fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        self.assertEqual(fields["NoNewPrivs"], "1")
        self.assertEqual(int(fields["CapEff"], 16), 0)

    def test_what_something_outside_would_run_cannot_be_planted(self):
        for path in (".git/config", ".git/hooks/post-commit", ".vscode/tasks.json", ".envrc", ".mcp.json"):
            self.workspace.write(path, "[mine]\n")
        self.cellgate.session("guarded")
        for path in (".git/hooks/pre-commit", ".git/config", ".vscode/tasks.json", ".envrc", ".mcp.json"):
            with self.subTest(path):
                target = self.workspace.path / path
                before = target.read_bytes() if target.exists() else None
                self.cellgate.run(f"open({path!r}, 'w').write('evil')", sessionId="guarded")
                self.assertEqual(target.read_bytes() if target.exists() else None, before)
                if before is not None:  # the control
                    self.cellgate.run(f"open({path!r}, 'a').write('evil')", sessionId="open")
                    self.assertEqual(target.read_bytes(), before + b"evil")
        self.cellgate.request("session/close", {"sessionId": "guarded"})

    def test_the_wrappers_cannot_be_changed_by_the_code_that_uses_them(self):
        self.cellgate.request("wrappers/generate", {"server": "host"})
        self.cellgate.session("tamper")
        before = {p: p.read_bytes() for p in (self.workspace.path / "mcptools").rglob("*.py")}
        self.cellgate.run("import glob\nfor p in glob.glob('mcptools/**/*.py', recursive=True):\n"
                          "    try: open(p, 'a').write('# evil')\n    except OSError as e: print(e)",
                          sessionId="tamper")
        self.assertEqual({p: p.read_bytes() for p in (self.workspace.path / "mcptools").rglob("*.py")}, before)
        self.cellgate.request("session/close", {"sessionId": "tamper"})

    def test_the_user_asked_for_no_sandbox_in_words_that_are_recorded(self):
        [session] = [s for s in self.cellgate.request("session/list")["sessions"] if s["sessionId"] == "open"]
        self.assertEqual((session["sandbox"], session["layers"]), ("none", ["none"]))


class Workspaces(WorkspaceTest):
    """Files of a workspace that somebody else wrote, and workspaces that no cell may see."""

    def make_kernelspec(self, **more):
        spec = {"argv": ["python", "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "Its own",
                "language": "python", **more}
        self.workspace.write(".venv/share/jupyter/kernels/own/kernel.json", json.dumps(spec))

    def test_the_start_of_a_workspaces_interpreter_is_asked_in_words_that_are_true(self):
        self.workspace.make_environment()
        for sandbox, where in ((True, "in"), (False, "outside")):
            cellgate = self.sidecar()
            pending = cellgate.start("session/create", {"sessionId": "s", "sandbox": sandbox})
            approval = cellgate.approval()
            self.assertEqual(approval["display"][0], f"start the workspace's own kernel, {where} the sandbox")
            self.assertNotIn("{", "".join(approval["display"]))
            self.assertEqual(approval["action"]["sandbox"], sandbox)
            self.assertEqual(approval["action"].get("folders"), [] if sandbox else None)
            cellgate.allow(approval)
            pending.result()
            code = "import sys\nprint(sys.prefix)"
            self.assertEqual(cellgate.run(code, sessionId="s").text().strip(), str(self.workspace.path / ".venv"))
            cellgate.close()

    def test_the_variables_of_a_workspaces_kernelspec_are_shown_and_agreed_to(self):
        self.workspace.make_environment()
        self.make_kernelspec(env={"LD_PRELOAD": "./first.so", "MARK": "${HOME}"})
        cellgate = self.sidecar()

        def start(session):
            return cellgate.start("session/create", {"sessionId": session, "kernel": {"name": "own"}})
        pending = start("one")
        approval = cellgate.approval()
        self.assertEqual(approval["action"]["environment"], {"LD_PRELOAD": "./first.so", "MARK": "${HOME}"})
        self.assertIn('with the variable LD_PRELOAD: "./first.so"', approval["display"])
        cellgate.allow(approval, scope="workspace")
        pending.result()
        start("two").result()  # the control: what was agreed to is not asked again
        self.assertEqual(cellgate.asked(), 1)
        self.make_kernelspec(env={"LD_PRELOAD": "./other.so", "MARK": "${HOME}"})
        pending = start("three")
        again = cellgate.approval()
        self.assertNotEqual(again["action"]["serverIdentity"], approval["action"]["serverIdentity"])
        cellgate.deny(again)
        with self.assertRaises(RpcError):
            pending.result()

    def test_a_kernel_that_changes_while_it_is_decided_on_is_asked_about_again(self):
        self.workspace.make_environment()
        self.make_kernelspec(env={"MARK": "first"})
        cellgate = self.sidecar()
        pending = cellgate.start("session/create", {"sessionId": "s", "kernel": {"name": "own"}})
        approval = cellgate.approval()
        self.make_kernelspec(env={"MARK": "second"})
        cellgate.allow(approval)
        again = cellgate.approval()
        self.assertEqual(again["action"]["environment"], {"MARK": "second"})
        cellgate.allow(again)
        pending.result()
        self.assertEqual(cellgate.run("import os\nprint(os.environ['MARK'])", sessionId="s").text(), "second\n")

    def test_an_interpreter_cannot_choose_a_folder_to_show(self):
        keys = self.workspace.home / "private/keys/a/b"
        keys.mkdir(parents=True)
        (keys / "id").write_text("PRIVATE KEY")
        (self.workspace.path / "py/bin").mkdir(parents=True)
        shutil.copy("/usr/bin/python3", self.workspace.path / "py/bin/python3.11")
        (self.workspace.path / "py/lib/python3.11").mkdir(parents=True)
        (self.workspace.path / "py/lib/python3.11/os.py").symlink_to(keys / "id")
        (self.workspace.path / "py/bin/python").symlink_to("python3.11")
        cellgate = self.sidecar()
        pending = cellgate.start("session/create", {"sessionId": "s", "kernel": {"interpreter": "py/bin/python"}})
        approval = cellgate.approval()
        self.assertNotIn("folders", approval["action"])
        self.assertIn("outside the sandbox", approval["display"][0])
        cellgate.deny(approval)
        with self.assertRaises(RpcError):
            pending.result()

    def test_a_workspace_that_holds_cellgates_own_directories_is_refused(self):
        # With XDG_CONFIG_HOME in there, cellgate does not even start.
        for variable in ("XDG_STATE_HOME", "XDG_RUNTIME_DIR"):
            with self.subTest(variable):
                inside = self.workspace.path / "x"
                inside.mkdir(mode=0o700, exist_ok=True)
                cellgate = self.sidecar(environment=self.workspace.environment(**{variable: str(inside)}))
                with self.assertRaises(RpcError) as caught:
                    cellgate.session("s")
                self.assertRegex(caught.exception.message, "cellgate's own files|must lie apart")
                cellgate.session("open", sandbox=False)  # the control: nothing else is wrong
                cellgate.close()

    def test_doctor_says_of_a_workspace_what_a_session_says(self):
        for root, word in ((self.workspace.path, None), (self.workspace.home, "home directory"), ("/", "workspace")):
            ended = subprocess.run([CELLGATE, "doctor", "--root", str(root)], env=self.workspace.environment(),
                                   capture_output=True, text=True)
            line = [line for line in ended.stdout.splitlines() if line.split()[1] == "workspace:"]
            self.assertEqual(len(line), 1, ended.stdout)
            self.assertTrue(line[0].startswith("PROBLEM" if word else "ok"), line)
            self.assertIn(word or str(root), line[0])
            self.assertEqual(ended.returncode, 1 if word else 0, ended.stdout)


    def test_what_a_killed_command_left_goes_with_the_next_one(self):
        runtime = Path(self.workspace.environment()["XDG_RUNTIME_DIR"]) / "cellgate"
        for prefix, command in (("d-", ["doctor"]), ("e-", ["sandbox", "explain", "x"])):
            run = lambda: subprocess.run([CELLGATE, *command], env=self.workspace.environment(),
                                         cwd=self.workspace.path,
                                         capture_output=True, text=True)
            run()  # makes the runtime's directory
            left = runtime / f"{prefix}abcdef"
            left.mkdir(mode=0o700)
            held = runtime / f"{prefix}ghijkl"
            held.mkdir(mode=0o700)
            descriptor = os.open(held, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            run()
            self.assertFalse(left.exists(), prefix)
            self.assertTrue(held.exists(), prefix)  # somebody's who lives
            os.close(descriptor)
            run()
            self.assertFalse(held.exists(), prefix)


class NotToBeHad(WorkspaceTest):
    """What was asked for and is not available is an error, and nothing runs."""

    def test_without_bubblewrap_nothing_starts_and_the_error_says_what_to_do(self):
        hide = ["unshare", "-rm", "sh", "-c", f'mount --bind /dev/null {shutil.which("bwrap")} && exec "$@"', "sh"]
        if subprocess.run([*hide, "true"], capture_output=True).returncode != 0:
            self.skipTest("bubblewrap cannot be hidden here")
        cellgate = self.sidecar(under=hide)
        for call in (lambda: cellgate.session("s"), lambda: cellgate.run("open('ran', 'w')")):
            with self.assertRaises(RpcError) as caught:
                call()
            self.assertEqual(caught.exception.code, 1005)
            self.assertIn("bubblewrap", caught.exception.message + caught.exception.hint)
            self.assertTrue(caught.exception.hint)
        self.assertFalse((self.workspace.path / "ran").exists())
        # A user may still choose to go without.
        cellgate.session("open", sandbox=False)
        self.assertEqual(cellgate.run("print(1)", sessionId="open").result()["layers"], ["none"])

    def test_a_limit_that_cannot_be_enforced_starts_nothing(self):
        cellgate = self.sidecar()
        try:
            info = cellgate.session("limited", limits={"memoryBytes": 1 << 30})
        except RpcError as error:
            self.assertEqual(error.code, 1005, error)
            self.assertEqual(cellgate.request("session/list"), {"sessions": []})
        else:
            code = "try:\n    x = bytearray(2 << 30)\n    print('had')\nexcept MemoryError: print('refused')"
            self.assertEqual(cellgate.run(code, sessionId=info["sessionId"]).text(), "refused\n")


class Work(SharedSidecarTest):
    """What honest code does, in a real kernel behind the filter of system calls and Landlock."""

    def assert_prints(self, code, text):
        self.assertEqual(self.run_ok(code).text(), text)

    def test_numpy_computes_in_threads(self):
        if not importlib.util.find_spec("numpy"):
            self.skipTest("there is no numpy in /usr/bin/python3: apt install python3-numpy")
        self.assert_prints("import numpy\na = numpy.ones((700, 700))\nprint(int((a @ a).sum()), "
                           "int(numpy.linalg.inv(numpy.eye(300)).trace()))", f"{700 ** 3} 300\n")

    def test_programs_run(self):
        self.assert_prints("import subprocess\nprint(subprocess.run('ls -d / | tr / x', shell=True, "
                           "capture_output=True, text=True).stdout, end='')", "x\n")
        self.assert_prints("import os\nprint(os.system('exit 3') >> 8, os.popen('echo a').read(), end='')", "3 a\n")
        self.assertIn("a", self.run_ok("!echo a").text())

    def test_threads_run(self):
        self.assert_prints("from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(40) as pool: "
                           "print(sum(pool.map(abs, range(-1000, 0))))", "500500\n")

    def test_asyncio_waits_runs_programs_and_serves(self):
        self.assert_prints("""
import asyncio
async def serve(reader, writer):
    writer.write((await reader.readline()).upper()); writer.close()
server = await asyncio.start_server(serve, "127.0.0.1", 0)
reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
writer.write(b"hello\\n")
print((await reader.read()).decode(), end="")
server.close()
process = await asyncio.create_subprocess_exec("echo", "child", stdout=asyncio.subprocess.PIPE)
print((await process.communicate())[0].decode(), end="")
print(await asyncio.to_thread(abs, -1), await asyncio.wait_for(asyncio.sleep(0, 2), 10))
""", "HELLO\nchild\n1 2\n")

    def test_processes_are_forked_and_spawned(self):
        for method in ("fork", "spawn", "forkserver"):
            with self.subTest(method):
                self.assert_prints(f"""
import multiprocessing, operator
context = multiprocessing.get_context({method!r})
with context.Pool(2) as pool: print(pool.map(operator.neg, [1, 2]))
queue = context.Queue()
process = context.Process(target=queue.put, args=("said",))
process.start(); print(queue.get()); process.join(); print(process.exitcode)
""", "[-1, -2]\nsaid\n0\n")

    def test_databases_are_kept(self):
        self.assert_prints("""
import sqlite3
base = sqlite3.connect("kept.sqlite")
print(*base.execute("pragma journal_mode=wal").fetchone())
base.execute("create table rows (x)"); base.executemany("insert into rows values (?)", [(i,) for i in range(100)])
base.commit()
print(*base.execute("select sum(x) from rows").fetchone())
base.execute("vacuum"); base.close()
""", "wal\n4950\n")

    def test_repositories_are_made_cloned_and_packed(self):
        if not shutil.which("git", path="/usr/bin"):
            self.skipTest("there is no /usr/bin/git")
        self.assert_prints("""
import os, subprocess
def git(*words): return subprocess.run(["git", *words], check=True, capture_output=True, text=True).stdout
git("config", "--global", "user.name", "a"); git("config", "--global", "user.email", "a@b")
# In the workspace a cell makes no .git, as programs outside would obey it.
print(subprocess.run(["git", "init", "made"], capture_output=True, text=True).stderr, end="")
os.rmdir("made"); os.chdir("/tmp")
git("init", "made"); open("made/file", "w").write("x")
git("-C", "made", "add", "."); git("-C", "made", "commit", "-m", "one"); git("-C", "made", "gc")
git("clone", "made", "cloned"); git("-C", "cloned", "mv", "file", "moved")
print(git("-C", "cloned", "status", "--short"), end="")
""", f"{self.workspace.path}/made/.git: Read-only file system\nR  file -> moved\n")


if __name__ == "__main__":
    unittest.main()
