"""Where cells run. Each wall has its control: the same code in a session that a person asked to have no sandbox, where
it succeeds; so that a wall that is not there cannot look like one that holds."""

import http.server
import os
import shutil
import socketserver
import subprocess
import threading
import unittest

from cellgate_client import Place, PlaceTest, RpcError, SharedSidecarTest, Sidecar

BWRAP_LAYERS = {"bwrap", "user-namespace", "network-namespace", "pid-namespace", "mount-namespace", "no-new-privileges",
                "private-home", "clean-environment"}


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


if __name__ == "__main__":
    unittest.main()
