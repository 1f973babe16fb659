"""What a sandbox's settings file opens and closes, and what it cannot."""

import json
import shutil
import socket
import subprocess
import unittest

from cellgate_client import CELLGATE, WorkspaceTest
from executions import RpcError
from test_sandbox import BWRAP_LAYERS


class SettingsFiles(WorkspaceTest):
    """Settings in srt's format, as ipybox documents them; a user names the file."""

    OF_IPYBOX = {
        "enableWeakerNestedSandbox": False,
        "allowPty": True,
        "filesystem": {"denyRead": [".env"], "allowWrite": [".", "~/Library/Jupyter", "~/.ipython"], "denyWrite": []},
        "network": {"allowedDomains": [], "deniedDomains": [], "allowLocalBinding": True},
    }

    def setUp(self):
        super().setUp()
        (self.workspace.home / "data").mkdir()
        (self.workspace.home / "data/a.csv").write_text("1,2")
        (self.workspace.home / ".ssh").mkdir()
        (self.workspace.home / ".ssh/id_rsa").write_text("PRIVATE KEY")
        self.workspace.write(".env", "TOKEN=hidden")
        self.workspace.write("notes.txt", "notes")

    def settings(self, changes=(), **filesystem):
        content = {**self.OF_IPYBOX, **dict(changes)}
        content["filesystem"] = {**content["filesystem"], **filesystem}
        path = self.workspace.base / "sandbox.json"
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
        shutil.copy(self.settings(), self.workspace.home / "own.json")
        info = cellgate.session("s", sandbox={"configFile": "~/own.json"})
        self.assertEqual(info["sandboxConfig"], str(self.workspace.home / "own.json"))
        (self.workspace.path / "~x").mkdir()
        shutil.copy(self.settings(), self.workspace.path / "~x/own.json")
        self.assertEqual(cellgate.session("t", sandbox={"configFile": "~x/own.json"})["sandboxConfig"],
                         str(self.workspace.path / "~x/own.json"))

    def test_ipyboxs_default_settings_do_what_its_page_promises(self):
        """I22 and I24 of ipybox."""
        (self.workspace.home / ".ipython/profile_default/startup").mkdir(parents=True)
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
        self.assertEqual((self.workspace.path / "made").read_text(), "here")
        # A host that no list names is asked about; here no user is.
        for scheme, kind in (("http", "HTTPError"), ("https", "URLError")):
            fetch = f"import urllib.request\nurllib.request.urlopen('{scheme}://example.org', timeout=20)"
            self.assertRegex(self.outcome(cellgate, fetch, "s", approvals="deny"),
                             f"^{kind}.*403.*Failed to resolve 'example.org'")
        local = ("import socket\nserver = socket.create_server(('127.0.0.1', 0))\n"
                 "client = socket.create_connection(server.getsockname())\nprint('connected')")
        self.assertEqual(self.outcome(cellgate, local, "s"), "connected")
        startup = self.workspace.home / ".ipython/profile_default/startup/evil.py"
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
        data = self.workspace.home / "data/a.csv"
        read, write = f"print(open({str(data)!r}).read())", f"open({str(data)!r}, 'a').write('x')"
        cellgate.session("plain")
        self.assertRegex(self.outcome(cellgate, read, "plain"), "^FileNotFoundError")  # the control
        self.assertEqual(self.outcome(cellgate, "print(open('notes.txt').read())", "plain"), "notes")
        cellgate.session("shows", sandbox={"configFile": self.settings(allowRead=["~/data"], denyRead=["notes.txt"])})
        self.assertEqual(self.outcome(cellgate, read, "shows"), "1,2")
        self.assertRegex(self.outcome(cellgate, write, "shows"), "^OSError.*Read-only")
        self.assertRegex(self.outcome(cellgate, "open('notes.txt')", "shows"), "^PermissionError")
        self.assertRegex(self.outcome(cellgate, "open('.env')", "shows"), "^PermissionError")
        key = f"open({str(self.workspace.home / '.ssh/id_rsa')!r})"
        self.assertRegex(self.outcome(cellgate, key, "shows"), "^FileNotFoundError")
        cellgate.session("writes", sandbox={"configFile": self.settings(allowWrite=["~/data"])})
        self.outcome(cellgate, write, "writes")
        self.assertEqual(data.read_text(), "1,2x")
        self.assertRegex(self.outcome(cellgate, "open('made', 'w')", "writes"), "^OSError.*Read-only")

    def test_the_file_counts_as_it_was_when_a_user_started_the_kernel(self):
        cellgate = self.sidecar()
        file = self.settings()
        cellgate.session("s", sandbox={"configFile": file})
        read = f"print(open({str(self.workspace.home / 'data/a.csv')!r}).read())"
        self.settings(allowRead=["~/data"])
        self.assertRegex(self.outcome(cellgate, read, "s"), "^FileNotFoundError")
        # A kernel that ends by itself starts by what was read before: its code cannot have it read again.
        cellgate.run("import os\nos._exit(1)", sessionId="s").result()
        self.assertRegex(self.outcome(cellgate, read, "s"), "^FileNotFoundError")
        cellgate.request("session/restart", {"sessionId": "s"})
        self.assertEqual(self.outcome(cellgate, read, "s"), "1,2")
        (self.workspace.base / "sandbox.json").write_text("{")
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
                            ("absent.json", lambda: str(self.workspace.base / "absent.json"))):
            with self.subTest(word):
                with self.assertRaises(RpcError) as caught:
                    cellgate.session("s", sandbox={"configFile": write()})
                self.assertEqual(caught.exception.code, 1021, caught.exception)
                self.assertIn(word, caught.exception.message)
        self.assertEqual(cellgate.request("session/list"), {"sessions": []})

    def test_a_note_says_what_the_sandbox_does_not_show_and_a_restart_with_it_shows_it(self):
        cellgate = self.sidecar()
        data = self.workspace.home / "data/a.csv"
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
        data = str(self.workspace.home / "data/a.csv")
        missing = str(self.workspace.home / "data/typo.csv")
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
        data = self.workspace.home / "data/a.csv"
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
        key = f"open({str(self.workspace.home / '.ssh/id_rsa')!r})"
        self.assertRegex(self.outcome(cellgate, key, "writes"), "^FileNotFoundError")

    def test_serve_and_run_take_a_file_for_their_sessions(self):
        read = f"print(open({str(self.workspace.home / 'data/a.csv')!r}).read())"
        file = self.settings(allowRead=["~/data"])
        cellgate = self.sidecar(arguments=["--sandbox-config", file])
        self.assertEqual(cellgate.run(read).text().strip(), "1,2")  # the default session
        self.assertEqual(cellgate.session("s")["sandboxConfig"], file)
        self.assertNotIn("sandboxConfig", cellgate.session("open", sandbox=False))
        script = self.workspace.write("cell.py", read)

        def run(*arguments):
            return subprocess.run([CELLGATE, "run", str(script), "--root", str(self.workspace.path), *arguments],
                                  env=self.workspace.environment(), stdin=subprocess.DEVNULL, capture_output=True,
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
            command = [CELLGATE, "sandbox", "explain", subject, "--root", str(self.workspace.path), *arguments]
            ended = subprocess.run(command, env=self.workspace.environment(), capture_output=True, text=True)
            self.assertIn(ended.returncode, (0, 1), ended.stderr)
            return ended.returncode, ended.stdout
        for path, word in ((".env", "cannot be read"), ("notes.txt", "denyRead[1]"), ("cell", "is not there"),
                           (".", "can be read and written"), (str(self.workspace.home / "data/a.csv"), "allowRead[0]"),
                           (str(self.workspace.home / ".ssh/id_rsa"), "is not there"), ("/etc/passwd", "sandbox's own"),
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
            command = [CELLGATE, "sandbox", "explain", host, "--root", str(self.workspace.path), *arguments]
            ended = subprocess.run(command, env=self.workspace.environment(), capture_output=True, text=True)
            return ended.stdout.split("\n")[0].rsplit(": ", 1)[-1], ended.stdout, ended.returncode

        def proxied(host):
            """allowed: somebody tried to look it up or to connect; asked about: no user was there to answer."""
            code = ("import socket\n"
                    "with socket.create_connection(('127.0.0.1', 3128)) as s:\n"
                    f"    s.sendall(b'CONNECT {host if ':' in host.split(']')[-1] else host + ':80'} HTTP/1.1\\r\\n"
                    "\\r\\n')\n"
                    "    print(s.recv(65536).decode())")
            said = cellgate.run(code, sessionId="s", approvals="deny").text()
            return ("asked about" if "no user is asked" in said else
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


if __name__ == "__main__":
    unittest.main()
