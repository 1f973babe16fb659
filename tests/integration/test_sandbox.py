"""Where cells run. Each wall has its control: the same code in a session that a person asked to have no sandbox, where
it succeeds; so that a wall that is not there cannot look like one that holds."""

import fcntl
import http.server
import importlib.util
import json
import os
import shutil
import socket
import socketserver
import subprocess
import threading
import unittest
from pathlib import Path

from cellgate_client import CELLGATE, Place, PlaceTest, RpcError, SharedSidecarTest, Sidecar

BWRAP_LAYERS = {"bwrap", "user-namespace", "network-namespace", "pid-namespace", "mount-namespace", "no-new-privileges",
                "private-home", "clean-environment", "guarded-files", "guarded-names"}


class Walls(SharedSidecarTest):
    @classmethod
    def prepare(cls):
        secrets = cls.place.home / ".ssh"
        secrets.mkdir()
        (secrets / "id_ed25519").write_text("PRIVATE KEY")
        (cls.place.base / "outside.txt").write_text("outside")
        cls.place.write("inside.txt", "inside")
        cls.place.write(".env", "TOKEN=hidden")

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
        inside, outside = self.both(f"print(open({str(self.place.home / '.ssh/id_ed25519')!r}).read())")
        self.assertEqual((inside, outside), ("FileNotFoundError", "PRIVATE KEY"))
        inside, outside = self.both("import os\nprint(sorted(os.listdir(os.path.expanduser('~/.ssh'))))")
        self.assertEqual((inside, outside), ("FileNotFoundError", "['id_ed25519']"))

    def test_the_workspace_can_be_written_and_its_neighbours_not_be_seen(self):
        self.run_ok("open('made', 'w').write('here')")
        self.assertEqual((self.place.root / "made").read_text(), "here")
        inside, outside = self.both(f"print(open({str(self.place.base / 'outside.txt')!r}).read())")
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
        before = set(os.listdir(self.place.root))
        inside, outside = self.both(code)
        self.assertEqual(outside, "made, made, made, ['.git', '.mcp.json', '.vscode', 'hooks', 'pre-commit', 'sub', "
                                  "'tasks.json']")
        self.assertEqual(inside, "Read-only file system, Read-only file system, Read-only file system, ['sub']")
        self.run_ok("open('.mcp.json.txt', 'w').close()")
        # The kernel lives, and nothing stands in the place of what it must not make.
        self.assertEqual(set(os.listdir(self.place.root)) - before, {".mcp.json.txt"})

    def test_the_environment_is_clean(self):
        other = Place()
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
            self.place.write(path, "[mine]\n")
        self.cellgate.session("guarded")
        for path in (".git/hooks/pre-commit", ".git/config", ".vscode/tasks.json", ".envrc", ".mcp.json"):
            with self.subTest(path):
                target = self.place.root / path
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
        before = {p: p.read_bytes() for p in (self.place.root / "mcptools").rglob("*.py")}
        self.cellgate.run("import glob\nfor p in glob.glob('mcptools/**/*.py', recursive=True):\n"
                          "    try: open(p, 'a').write('# evil')\n    except OSError as e: print(e)",
                          sessionId="tamper")
        self.assertEqual({p: p.read_bytes() for p in (self.place.root / "mcptools").rglob("*.py")}, before)
        self.cellgate.request("session/close", {"sessionId": "tamper"})

    def test_the_person_asked_for_no_sandbox_in_words_that_are_recorded(self):
        [session] = [s for s in self.cellgate.request("session/list")["sessions"] if s["sessionId"] == "open"]
        self.assertEqual((session["sandbox"], session["layers"]), ("none", ["none"]))


class Workspaces(PlaceTest):
    """Files of a workspace that somebody else wrote, and workspaces that no cell may see."""

    def make_kernelspec(self, **more):
        spec = {"argv": ["python", "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "Its own",
                "language": "python", **more}
        self.place.write(".venv/share/jupyter/kernels/own/kernel.json", json.dumps(spec))

    def test_the_start_of_a_workspaces_interpreter_is_asked_in_words_that_are_true(self):
        self.place.make_environment()
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
            self.assertEqual(cellgate.run(code, sessionId="s").text().strip(), str(self.place.root / ".venv"))
            cellgate.close()

    def test_the_variables_of_a_workspaces_kernelspec_are_shown_and_agreed_to(self):
        self.place.make_environment()
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
        self.place.make_environment()
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
        keys = self.place.home / "private/keys/a/b"
        keys.mkdir(parents=True)
        (keys / "id").write_text("PRIVATE KEY")
        (self.place.root / "py/bin").mkdir(parents=True)
        shutil.copy("/usr/bin/python3", self.place.root / "py/bin/python3.11")
        (self.place.root / "py/lib/python3.11").mkdir(parents=True)
        (self.place.root / "py/lib/python3.11/os.py").symlink_to(keys / "id")
        (self.place.root / "py/bin/python").symlink_to("python3.11")
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
                inside = self.place.root / "x"
                inside.mkdir(mode=0o700, exist_ok=True)
                cellgate = self.sidecar(environment=self.place.environment(**{variable: str(inside)}))
                with self.assertRaises(RpcError) as caught:
                    cellgate.session("s")
                self.assertRegex(caught.exception.message, "cellgate's own files|must lie apart")
                cellgate.session("open", sandbox=False)  # the control: nothing else is wrong
                cellgate.close()

    def test_doctor_says_of_a_workspace_what_a_session_says(self):
        for root, word in ((self.place.root, None), (self.place.home, "home directory"), ("/", "workspace")):
            ended = subprocess.run([CELLGATE, "doctor", "--root", str(root)], env=self.place.environment(),
                                   capture_output=True, text=True)
            line = [line for line in ended.stdout.splitlines() if line.split()[1] == "workspace:"]
            self.assertEqual(len(line), 1, ended.stdout)
            self.assertTrue(line[0].startswith("PROBLEM" if word else "ok"), line)
            self.assertIn(word or str(root), line[0])
            self.assertEqual(ended.returncode, 1 if word else 0, ended.stdout)


    def test_what_a_killed_command_left_goes_with_the_next_one(self):
        runtime = Path(self.place.environment()["XDG_RUNTIME_DIR"]) / "cellgate"
        for prefix, command in (("d-", ["doctor"]), ("e-", ["sandbox", "explain", "x"])):
            run = lambda: subprocess.run([CELLGATE, *command], env=self.place.environment(), cwd=self.place.root,
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


class SettingsFiles(PlaceTest):
    """Settings in srt's format, as ipybox documents them; a person names the file."""

    OF_IPYBOX = {
        "enableWeakerNestedSandbox": False,
        "allowPty": True,
        "filesystem": {"denyRead": [".env"], "allowWrite": [".", "~/Library/Jupyter", "~/.ipython"], "denyWrite": []},
        "network": {"allowedDomains": [], "deniedDomains": [], "allowLocalBinding": True},
    }

    def setUp(self):
        super().setUp()
        (self.place.home / "data").mkdir()
        (self.place.home / "data/a.csv").write_text("1,2")
        (self.place.home / ".ssh").mkdir()
        (self.place.home / ".ssh/id_rsa").write_text("PRIVATE KEY")
        self.place.write(".env", "TOKEN=hidden")
        self.place.write("notes.txt", "notes")

    def settings(self, changes=(), **filesystem):
        content = {**self.OF_IPYBOX, **dict(changes)}
        content["filesystem"] = {**content["filesystem"], **filesystem}
        path = self.place.base / "sandbox.json"
        path.write_text(json.dumps(content))
        return str(path)

    def outcome(self, cellgate, code, session, **options):
        """What the cell prints, or the name of its exception."""
        indented = "".join(f"    {line}\n" for line in code.splitlines())
        execution = cellgate.run(f"try:\n{indented}except Exception as problem:\n"
                                 "    print(type(problem).__name__, problem)", sessionId=session, **options)
        self.assertEqual(execution.result()["status"], "ok", execution.outputs())
        return execution.text().strip()

    def test_a_file_in_the_home_directory_is_named_by_its_tilde(self):
        cellgate = self.sidecar()
        shutil.copy(self.settings(), self.place.home / "own.json")
        info = cellgate.session("s", sandbox={"configFile": "~/own.json"})
        self.assertEqual(info["sandboxConfig"], str(self.place.home / "own.json"))
        (self.place.root / "~x").mkdir()
        shutil.copy(self.settings(), self.place.root / "~x/own.json")
        self.assertEqual(cellgate.session("t", sandbox={"configFile": "~x/own.json"})["sandboxConfig"],
                         str(self.place.root / "~x/own.json"))

    def test_ipyboxs_default_settings_do_what_its_page_promises(self):
        """I22 and I24 of ipybox."""
        (self.place.home / ".ipython/profile_default/startup").mkdir(parents=True)
        cellgate = self.sidecar()
        file = self.settings()
        info = cellgate.session("s", sandbox={"configFile": file})
        self.assertEqual((info["sandbox"], info["sandboxConfig"]), ("bwrap", file))
        self.assertLessEqual(BWRAP_LAYERS, set(info["layers"]))
        said = "\n".join(info["sandboxNotices"])
        for word in ("allowPty", "~/Library/Jupyter", "~/.ipython"):
            self.assertIn(word, said)
        cellgate.session("open", sandbox=False)
        env = "print(open('.env').read())"
        self.assertEqual(self.outcome(cellgate, env, "open"), "TOKEN=hidden")  # the control
        self.assertRegex(self.outcome(cellgate, env, "s"), "^PermissionError")
        self.assertEqual(self.outcome(cellgate, "print(open('made', 'w').write('here'))", "s"), "4")
        self.assertEqual((self.place.root / "made").read_text(), "here")
        # A host that no list names is asked about; here nobody is.
        for scheme, kind in (("http", "HTTPError"), ("https", "URLError")):
            fetch = f"import urllib.request\nurllib.request.urlopen('{scheme}://example.org', timeout=20)"
            self.assertRegex(self.outcome(cellgate, fetch, "s", approvals="deny"),
                             f"^{kind}.*403.*Failed to resolve 'example.org'")
        local = ("import socket\nserver = socket.create_server(('127.0.0.1', 0))\n"
                 "client = socket.create_connection(server.getsockname())\nprint('connected')")
        self.assertEqual(self.outcome(cellgate, local, "s"), "connected")
        startup = self.place.home / ".ipython/profile_default/startup/evil.py"
        plant = (f"import os\nos.makedirs({str(startup.parent)!r}, exist_ok=True)\n"
                 f"open({str(startup)!r}, 'w').write('x')")
        self.outcome(cellgate, plant, "s")
        self.assertFalse(startup.exists())
        self.outcome(cellgate, plant, "open")
        self.assertTrue(startup.exists())

    def test_what_a_cell_binds_is_not_reached_from_outside_and_a_notice_says_what_is_not_enforced(self):
        cellgate = self.sidecar()
        bind = ("import socket\nserver = socket.create_server(('0.0.0.0', 0))\nprint(server.getsockname()[1])\n"
                "socket.create_connection(('127.0.0.1', server.getsockname()[1])).close()")
        forbids = self.settings({"network": {"allowedDomains": [], "deniedDomains": [], "allowLocalBinding": False}})
        info = cellgate.session("s", sandbox={"configFile": forbids})
        self.assertIn("allowLocalBinding: false is not enforced", " ".join(info["sandboxNotices"]))
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", int(self.outcome(cellgate, bind, "s"))))
        cellgate.session("open", sandbox=False)
        socket.create_connection(("127.0.0.1", int(self.outcome(cellgate, bind, "open")))).close()  # the control

    def test_a_file_of_ones_own_shows_and_hides(self):
        cellgate = self.sidecar()
        data = self.place.home / "data/a.csv"
        read, write = f"print(open({str(data)!r}).read())", f"open({str(data)!r}, 'a').write('x')"
        cellgate.session("plain")
        self.assertRegex(self.outcome(cellgate, read, "plain"), "^FileNotFoundError")  # the control
        self.assertEqual(self.outcome(cellgate, "print(open('notes.txt').read())", "plain"), "notes")
        cellgate.session("shows", sandbox={"configFile": self.settings(allowRead=["~/data"], denyRead=["notes.txt"])})
        self.assertEqual(self.outcome(cellgate, read, "shows"), "1,2")
        self.assertRegex(self.outcome(cellgate, write, "shows"), "^OSError.*Read-only")
        self.assertRegex(self.outcome(cellgate, "open('notes.txt')", "shows"), "^PermissionError")
        self.assertRegex(self.outcome(cellgate, "open('.env')", "shows"), "^PermissionError")
        key = f"open({str(self.place.home / '.ssh/id_rsa')!r})"
        self.assertRegex(self.outcome(cellgate, key, "shows"), "^FileNotFoundError")
        cellgate.session("writes", sandbox={"configFile": self.settings(allowWrite=["~/data"])})
        self.outcome(cellgate, write, "writes")
        self.assertEqual(data.read_text(), "1,2x")
        self.assertRegex(self.outcome(cellgate, "open('made', 'w')", "writes"), "^OSError.*Read-only")

    def test_the_file_counts_as_it_was_when_a_person_started_the_kernel(self):
        cellgate = self.sidecar()
        file = self.settings()
        cellgate.session("s", sandbox={"configFile": file})
        read = f"print(open({str(self.place.home / 'data/a.csv')!r}).read())"
        self.settings(allowRead=["~/data"])
        self.assertRegex(self.outcome(cellgate, read, "s"), "^FileNotFoundError")
        # A kernel that ends by itself starts by what was read before: its code cannot have it read anew.
        cellgate.run("import os\nos._exit(1)", sessionId="s").result()
        self.assertRegex(self.outcome(cellgate, read, "s"), "^FileNotFoundError")
        cellgate.request("session/restart", {"sessionId": "s"})
        self.assertEqual(self.outcome(cellgate, read, "s"), "1,2")
        (self.place.base / "sandbox.json").write_text("{")
        with self.assertRaises(RpcError) as caught:
            cellgate.request("session/restart", {"sessionId": "s"})
        self.assertEqual(caught.exception.code, 1021, caught.exception)
        self.assertEqual(self.outcome(cellgate, read, "s"), "1,2")  # the old one goes on

    def test_settings_that_would_not_hold_start_nothing(self):
        cellgate = self.sidecar()
        masks = {"credentials": {"files": [{"path": "~/x", "mode": "mask"}]}}
        for word, write in (("credentials", lambda: self.settings(masks)),
                            ("home directory", lambda: self.settings(allowRead=["~"])),
                            ("allowWrite", lambda: self.settings(allowWrite=[".", "/usr"])),
                            ("absent.json", lambda: str(self.place.base / "absent.json"))):
            with self.subTest(word):
                with self.assertRaises(RpcError) as caught:
                    cellgate.session("s", sandbox={"configFile": write()})
                self.assertEqual(caught.exception.code, 1021, caught.exception)
                self.assertIn(word, caught.exception.message)
        self.assertEqual(cellgate.request("session/list"), {"sessions": []})

    def test_a_note_says_what_the_sandbox_does_not_show_and_a_restart_with_it_shows_it(self):
        cellgate = self.sidecar()
        data = self.place.home / "data/a.csv"
        read = f"print(open({str(data)!r}).read())"
        cellgate.session("s")
        failed = cellgate.run(read, sessionId="s")
        [note] = failed.result()["notes"]
        self.assertIn(f"{data} is not shown in the sandbox", note["text"])
        self.assertEqual(note["remedy"], f"allow reading {data}: restarts the kernel")
        self.assertNotIn("is not shown", json.dumps(failed.outputs()))  # what the code could see of itself
        info = cellgate.request("session/restart", {"sessionId": "s", "sandbox": note["sandbox"]})
        self.assertEqual(info["sandboxAdditions"], {"allowRead": [str(data)]})
        execution = cellgate.run(read, sessionId="s")
        self.assertEqual((execution.text().strip(), execution.result().get("notes")), ("1,2", None))
        # A kernel that ends by itself starts with it, too.
        cellgate.run("import os\nos._exit(1)", sessionId="s").result()
        self.assertEqual(self.outcome(cellgate, read, "s"), "1,2")
        [note] = cellgate.run(f"open({str(data)!r}, 'a')", sessionId="s").result()["notes"]
        self.assertIn("can be read in the sandbox, not written: allowRead", note["text"])

    def test_a_note_finds_the_path_behind_other_errors(self):
        cellgate = self.sidecar()
        data = str(self.place.home / "data/a.csv")
        missing = str(self.place.home / "data/typo.csv")
        cellgate.session("s")

        def notes(code):
            result = cellgate.run(code, sessionId="s").result()
            self.assertEqual(result["status"], "error")
            return result.get("notes", [])
        chained = f"try:\n    open({data!r})\nexcept OSError as error:\n    raise RuntimeError('no') from error"
        for code in (chained, chained.replace(" from error", ""),
                     f"import subprocess\nsubprocess.run(['cat', {data!r}], check=True)",
                     f"import subprocess\nsubprocess.run('cat {data} | cat; exit 3', shell=True, check=True, "
                     "capture_output=True)",
                     f"import subprocess\nopen('script.sh', 'w').write('cat {data}')\n"
                     "subprocess.run(['sh', 'script.sh'], check=True)",
                     f"import sqlite3\nsqlite3.connect({data!r}).execute('select 1')"):
            with self.subTest(code):
                [note] = notes(code)
                self.assertEqual(note["sandbox"], {"allowRead": [data]})
        # Nothing is offered for what does not exist, whatever the text says was refused.
        for code in (f"open({missing!r})", f"open({missing!r}, 'w')",
                     f"raise OSError(\"[Errno 30] Read-only file system: '{missing}'\")",
                     f"raise OSError(\"[Errno 2] a: '{missing}'\")"):
            with self.subTest(code):
                self.assertEqual([note.get("sandbox") for note in notes(code)], [None])
        self.assertEqual(notes("raise OSError(\"[Errno 2] a: '/usr/bin/env'\")"), [])  # it can be read
        self.assertEqual(notes("import sqlite3\nsqlite3.connect('no/such/folder.db')"), [])

    def test_what_cannot_be_added_leaves_the_kernel_as_it_is(self):
        cellgate = self.sidecar()
        cellgate.session("s")
        cellgate.run("kept = 1", sessionId="s").result()
        for additions, word in (({"allowRead": ["~"]}, "home directory"), ({"allowWrite": ["/usr"]}, "the system's"),
                                ({"allowRead": ["/run"]}, "cannot be shown"), ({}, "expected")):
            with self.subTest(additions), self.assertRaises(RpcError) as caught:
                cellgate.request("session/restart", {"sessionId": "s", "sandbox": additions})
            self.assertIn(word, caught.exception.message)
        self.assertEqual(self.outcome(cellgate, "print(kept)", "s"), "1")
        cellgate.session("open", sandbox=False)
        with self.assertRaises(RpcError) as caught:
            cellgate.request("session/restart", {"sessionId": "open", "sandbox": {"allowRead": ["/data"]}})
        self.assertIn("no sandbox", caught.exception.message)

    def test_folders_are_added_without_a_file_and_beside_one(self):
        cellgate = self.sidecar()
        data = self.place.home / "data/a.csv"
        read, write = f"print(open({str(data)!r}).read())", f"open({str(data)!r}, 'a').write('x')"
        keep = "print(open('made', 'w').write('here'))"
        cellgate.session("reads", sandbox={"allowRead": ["~/data"]})
        self.assertEqual(self.outcome(cellgate, read, "reads"), "1,2")
        self.assertRegex(self.outcome(cellgate, write, "reads"), "^OSError.*Read-only")
        self.assertEqual(self.outcome(cellgate, keep, "reads"), "4")  # the workspace is as it was
        cellgate.session("writes", sandbox={"configFile": self.settings(denyRead=["notes.txt"]),
                                            "allowWrite": ["~/data"]})
        self.outcome(cellgate, write, "writes")
        self.assertEqual(data.read_text(), "1,2x")
        self.assertRegex(self.outcome(cellgate, "open('notes.txt')", "writes"), "^PermissionError")
        key = f"open({str(self.place.home / '.ssh/id_rsa')!r})"
        self.assertRegex(self.outcome(cellgate, key, "writes"), "^FileNotFoundError")

    def test_serve_and_run_take_a_file_for_their_sessions(self):
        read = f"print(open({str(self.place.home / 'data/a.csv')!r}).read())"
        file = self.settings(allowRead=["~/data"])
        cellgate = self.sidecar(arguments=["--sandbox-config", file])
        self.assertEqual(cellgate.run(read).text().strip(), "1,2")  # the default session
        self.assertEqual(cellgate.session("s")["sandboxConfig"], file)
        self.assertNotIn("sandboxConfig", cellgate.session("open", sandbox=False))
        script = self.place.write("cell.py", read)

        def run(*arguments):
            return subprocess.run([CELLGATE, "run", str(script), "--root", str(self.place.root), *arguments],
                                  env=self.place.environment(), stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, start_new_session=True)
        ended = run("--sandbox-config", file)
        self.assertEqual((ended.returncode, ended.stdout.strip()), (0, "1,2"), ended.stderr)
        self.assertIn("allowPty is not used", ended.stderr)
        self.assertEqual(run().returncode, 1)  # the control
        self.assertEqual(run("--sandbox-config", file, "--no-sandbox").returncode, 2)

    def test_explain_says_of_a_path_what_a_cell_sees(self):
        file = self.settings({"network": {"allowedDomains": ["example.org"], "deniedDomains": ["*.evil.org"]}},
                             allowRead=["~/data"], denyRead=[".env", "notes.txt"])
        cellgate = self.sidecar(arguments=["--sandbox-config", file])

        def explain(subject, *arguments):
            command = [CELLGATE, "sandbox", "explain", subject, "--root", str(self.place.root), *arguments]
            ended = subprocess.run(command, env=self.place.environment(), capture_output=True, text=True)
            self.assertIn(ended.returncode, (0, 1), ended.stderr)
            return ended.returncode, ended.stdout
        for path, word in ((".env", "cannot be read"), ("notes.txt", "denyRead[1]"), ("cell", "is not there"),
                           (".", "can be read and written"), (str(self.place.home / "data/a.csv"), "allowRead[0]"),
                           (str(self.place.home / ".ssh/id_rsa"), "is not there"), ("/etc/passwd", "sandbox's own"),
                           ("/usr/bin/env", "read, not written"), ("/etc/shadow", "is not there")):
            with self.subTest(path):
                seen = cellgate.run("import os\np = " + repr(path) + "\ntry:\n    os.listdir(p) if os.path.isdir(p) "
                                    "else open(p).close()\n    print(0)\nexcept OSError:\n    print(1)").text().strip()
                code, said = explain(path, "--sandbox-config", file)
                self.assertEqual(str(code), seen, said)
                self.assertIn(word, said)
        self.assertEqual(explain("notes.txt")[0], 0)
        for host, code, word in (("example.org", 0, "allowedDomains[0]"), ("a.evil.org:443", 1, "deniedDomains[0]"),
                                 ("other.org", 1, "asked")):
            got, said = explain(host, "--sandbox-config", file)
            self.assertEqual(got, code, said)
            self.assertIn(word, said)

    def test_explain_says_of_a_host_what_the_proxy_does(self):
        cellgate = self.sidecar()
        cellgate.session("s")
        for effect, host, scope in (("allow", "stored.example", "workspace"), ("allow", "10.0.0.6", "workspace"),
                                    ("deny", "denied.example", "workspace"), ("allow", "*.below.example", "always")):
            cellgate.request("policy/add", {"rule": {"kind": "network", "effect": effect, "host": host},
                                            "scope": scope})

        def explain(host, *arguments):
            command = [CELLGATE, "sandbox", "explain", host, "--root", str(self.place.root), *arguments]
            ended = subprocess.run(command, env=self.place.environment(), capture_output=True, text=True)
            return ended.stdout.split("\n")[0].rsplit(": ", 1)[-1], ended.stdout, ended.returncode

        def proxied(host):
            """allowed: somebody tried to look it up or to connect; asked about: nobody was there to answer."""
            code = ("import socket\n"
                    "with socket.create_connection(('127.0.0.1', 3128)) as s:\n"
                    f"    s.sendall(b'CONNECT {host if ':' in host.split(']')[-1] else host + ':80'} HTTP/1.1\\r\\n"
                    "\\r\\n')\n"
                    "    print(s.recv(65536).decode())")
            said = cellgate.run(code, sessionId="s", approvals="deny").text()
            return ("asked about" if "nobody is asked" in said else
                    "denied" if said.startswith(("HTTP/1.1 403", "HTTP/1.1 400")) else "allowed")

        for host, word in (("127.0.0.1:80", "this machine"), ("localhost", "this machine"), ("[::1]:80", "this machine"),
                           ("169.254.169.254", "a cloud's metadata"), ("10.0.0.1:22", "a private network"),
                           ("0.0.0.0", "this machine"), ("127.1", "no host"), ("0x7f000001", "no host"),
                           ("2130706433", "no host"), ("0177.0.0.1", "no host"), ("10.0.0.6", "rule "),
                           ("stored.example", "rule "), ("denied.example:443", "rule "), ("a.below.example", "rule "),
                           ("other.example", "no stored rule covers it"), ("93.184.215.14", "no stored rule")):
            with self.subTest(host):
                verdict, said, code = explain(host)
                self.assertIn(word, said)
                if host != "10.0.0.6":  # which the test would have to wait for
                    self.assertEqual(verdict, proxied(host), said)
                self.assertEqual(code, 0 if verdict == "allowed" else 1)
        for host, effect in (("127.0.0.1", "deny"), ("10.0.0.6", "allow"), ("other.example", "ask")):
            said = cellgate.request("policy/explain", {"action": {"kind": "network", "host": host, "port": 80}})
            self.assertEqual(said["effect"], effect, said)


class NotToBeHad(PlaceTest):
    """What was asked for and cannot be had is an error, and nothing runs."""

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
        self.assertFalse((self.place.root / "ran").exists())
        # A person may still choose to go without.
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
""", f"{self.place.root}/made/.git: Read-only file system\nR  file -> moved\n")


if __name__ == "__main__":
    unittest.main()
