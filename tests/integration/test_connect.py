"""One sidecar for a workspace: clients find it, start it, leave it and come back."""

import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import unittest
from pathlib import Path

from cellgate_client import CELLGATE, Editor, WorkspaceSidecarTest, WorkspaceTest
from processes import descendants, start_process, stat_of, wait_until, workspace_sidecar, workspace_sidecars
from workspaces import TestWorkspace


class Joining(WorkspaceSidecarTest):
    def test_two_editors_share_a_sidecar_and_its_sessions(self):
        one = self.editor()
        one.run("x = 41")
        pid = self.sidecar_pid()
        two = self.editor()
        self.assertEqual(two.info["role"], "user")
        self.assertEqual(self.sidecar_pid(), pid)
        self.assertEqual(two.run("x + 1").data()["text/plain"], "42")

    def test_the_sidecar_is_nobodys_child_and_has_no_terminal(self):
        editor = self.editor()
        pid = self.sidecar_pid()
        self.assertNotEqual(stat_of(pid)[1], editor.process.pid)
        self.assertNotEqual(os.getsid(pid), os.getsid(editor.process.pid))
        self.assertEqual({os.readlink(f"/proc/{pid}/fd/{fd}") for fd in (0, 1)}, {"/dev/null"})
        self.assertTrue(os.readlink(f"/proc/{pid}/fd/2").endswith(".log"))

    def test_what_an_editor_leaks_is_not_kept_open(self):
        pipe = self.workspace.base / "pipe"
        os.mkfifo(pipe)
        read = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, read)
        editor = self.editor(under=["/bin/sh", "-c", f'exec 9>{pipe}; exec "$@"', "sh"])
        with self.assertRaises(BlockingIOError):
            os.read(read, 1)  # somebody has it open to write
        editor.vanish()
        self.sidecar_pid()  # there is one
        self.assertEqual(os.read(read, 1), b"")

    def test_roots_do_not_share(self):
        other = TestWorkspace()
        self.addCleanup(other.remove)
        self.editor().run("1")
        second = Editor(other, environment=self.workspace.environment())
        self.assertEqual(second.request("session/list"), {"sessions": []})
        second.close()
        wait_until(lambda: not workspace_sidecars(other), "the end of the other workspace's sidecar")

    def test_an_agent_is_one_by_its_socket(self):
        self.assertEqual(self.agent().info["role"], "agent")

    def test_a_runtime_directory_with_too_long_a_name_is_an_error_that_says_so(self):
        deep = self.workspace.base / ("d" * 100)
        deep.mkdir(mode=0o700)
        ended = subprocess.run([CELLGATE, "connect", "--root", self.workspace.path],
                               stdin=subprocess.DEVNULL, timeout=60,
                               env=self.workspace.environment(XDG_RUNTIME_DIR=str(deep)), capture_output=True,
                               text=True)
        self.assertEqual((ended.returncode, ended.stdout), (1, ""))
        self.assertIn("at most 107 bytes", ended.stderr)
        self.assertIn("XDG_RUNTIME_DIR", ended.stderr)


    def test_a_sidecar_that_cannot_start_says_why_as_the_answer_to_initialize(self):
        # A workspace that holds its own rules: they are in XDG_CONFIG_HOME.
        environment = self.workspace.environment(XDG_CONFIG_HOME=str(self.workspace.path / "config"))
        process = start_process([CELLGATE, "connect", "--root", self.workspace.path], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
        message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}).encode()
        out, err = process.communicate(b"Content-Length: %d\r\n\r\n%s" % (len(message), message), timeout=60)
        answer = json.loads(out.split(b"\r\n\r\n", 1)[1])
        self.assertEqual((answer["id"], answer["error"]["code"]), (1, 1021))
        self.assertIn("it holds the stored rules", answer["error"]["message"])
        self.assertIn("a folder of its own", answer["error"]["data"]["hint"])
        self.assertEqual(process.returncode, 1)
        self.assertIn(b"it holds the stored rules", err)
        wait_until(lambda: not workspace_sidecars(self.workspace), "the end of the sidecar")


class Leaving(WorkspaceSidecarTest):
    def test_the_last_client_that_disconnects_ends_it(self):
        one, two = self.editor(), self.editor()
        one.run("x = 1")
        self.assertEqual(one.close(), 0)
        self.assertEqual(two.run("x").data()["text/plain"], "1")
        self.assertEqual(two.close(), 0)
        self.wait_for_the_end_of_the_sidecar()

    def test_one_who_vanishes_is_waited_for_as_long_as_it_asked(self):
        self.editor(linger=1).vanish()
        self.wait_for_the_end_of_the_sidecar()
        self.assertIn("no client needs it", self.log_of_the_sidecar())

    def test_one_who_asked_for_nothing_is_not_waited_for(self):
        editor = self.editor(linger=0)
        editor.execute("while True: pass").wait_running()
        editor.vanish()
        self.wait_for_the_end_of_the_sidecar()

    def test_a_client_that_ends_its_stdin_counts_as_lost(self):
        editor = self.editor()
        editor.process.stdin.close()
        self.assertEqual(editor.wait_end(), 1)
        self.sidecar_pid()  # there is one

    def test_one_who_ends_its_stdin_gets_the_answers_to_what_it_said_before(self):
        editor = self.editor()
        os.kill(editor.process.pid, signal.SIGSTOP)  # it finds all of it, and the end, at once
        pending = [editor.start("session/list"), editor.start("shutdown")]
        editor.process.stdin.close()
        os.kill(editor.process.pid, signal.SIGCONT)
        self.assertEqual([each.result() for each in pending], [{"sessions": []}, None])
        self.assertEqual(editor.wait_end(), 1)
        self.assertEqual(editor.log(), "")

    def test_an_agent_that_leaves_does_not_end_the_wait_for_an_editor(self):
        editor, agent = self.editor(), self.agent()
        editor.run("x = 7")
        editor.vanish()
        agent.close()
        self.assertEqual(self.editor().run("x").data()["text/plain"], "7")

    def test_a_cell_that_runs_is_not_cut_off_by_the_linger_time(self):
        editor = self.editor(linger=0.2)
        mark = self.workspace.path / "mark"
        editor.execute("import time; time.sleep(2); open('mark', 'w').close()").wait_running()
        editor.vanish()
        self.wait_for_the_end_of_the_sidecar()
        self.assertTrue(mark.exists())

    def test_sigterm_ends_it_and_tells_its_clients_by_the_end_of_their_streams(self):
        editor = self.editor()
        editor.run("1")
        os.kill(self.sidecar_pid(), signal.SIGTERM)
        self.assertEqual(editor.wait_end(), 1)
        (line,) = editor.log().splitlines()
        self.assertIn(f"the sidecar of {self.workspace.path} ended", line)
        self.assertIn("connect again", line)


class Stale(WorkspaceSidecarTest):
    def sockets(self):
        return sorted(path for path in (self.workspace.runtime / "cellgate/roots").rglob("*.sock"))

    def test_sockets_of_a_killed_sidecar_are_in_nobodys_way(self):
        editor = self.editor()
        os.kill(self.sidecar_pid(), signal.SIGKILL)
        self.assertEqual(editor.wait_end(), 1)
        self.assertEqual(len(self.sockets()), 2)
        self.assertEqual(self.editor().run("6 * 7").data()["text/plain"], "42")

    def test_none_are_left_after_an_end(self):
        self.editor().close()
        self.wait_for_the_end_of_the_sidecar()
        self.assertEqual(self.sockets(), [])

    def test_a_file_in_the_place_of_a_socket_is_replaced(self):
        self.editor().close()
        self.wait_for_the_end_of_the_sidecar()
        (folder,) = (self.workspace.runtime / "cellgate/roots").iterdir()
        (folder / "user.sock").write_text("in the way")
        self.assertEqual(self.editor().info["role"], "user")

    def test_the_folder_of_another_user_is_refused(self):
        if os.getuid() != 0:
            self.skipTest("only root can give a folder to somebody else")
        folder = self.workspace.runtime / "cellgate"
        folder.mkdir(mode=0o700)
        os.chown(folder, 65534, 65534)
        ended = subprocess.run([CELLGATE, "connect", "--root", self.workspace.path],
                               stdin=subprocess.DEVNULL, timeout=60,
                               env=self.workspace.environment(), capture_output=True, text=True)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("expected", ended.stderr)
        os.chown(folder, 0, 0)


class Commands(WorkspaceSidecarTest):
    def cellgate(self, *words):
        return subprocess.run([CELLGATE, *words, "--root", self.workspace.path], stdin=subprocess.DEVNULL, timeout=100,
                              env=self.workspace.environment(), capture_output=True, text=True)

    def test_without_a_sidecar_they_say_so_and_start_none(self):
        status, stop = self.cellgate("status"), self.cellgate("stop")
        self.assertEqual((status.returncode, stop.returncode), (1, 0))
        self.assertEqual({status.stdout, stop.stdout}, {f"no sidecar runs for {self.workspace.path}\n"})
        self.assertEqual(workspace_sidecars(self.workspace), set())

    def test_status_tells_of_the_sidecar_and_keeps_nobody(self):
        editor = self.editor()
        editor.run("1")
        editor.execute("while True: pass").wait_running()
        status = self.cellgate("status")
        self.assertEqual(status.returncode, 0, status.stderr)
        first, log, session = status.stdout.splitlines()
        self.assertIn(f"process {self.sidecar_pid()}", first)
        self.assertIn("as process", Path(log.removeprefix("log: ")).read_text())
        self.assertTrue(session.startswith("session default: busy, python3, 1 cells run"), session)
        editor.close()
        self.wait_for_the_end_of_the_sidecar()

    def test_status_does_not_end_the_wait_for_an_editor(self):
        editor = self.editor()
        editor.vanish()
        self.assertEqual(self.cellgate("status").returncode, 0)
        self.assertEqual(self.cellgate("status").returncode, 0)

    def test_stop_ends_it_with_all_that_it_runs(self):
        editor = self.editor()
        editor.run("1")
        stop = self.cellgate("stop")
        self.assertEqual(stop.returncode, 0, stop.stderr)
        self.assertIn("ended cellgate", stop.stdout)
        self.assertEqual(workspace_sidecars(self.workspace), set())
        self.assertEqual(editor.wait_end(), 1)


    def test_a_sidecar_that_hangs_is_told_from_none_and_can_be_stopped(self):
        editor = self.editor()
        editor.run("1")
        pid = self.sidecar_pid()
        below = descendants(pid)
        self.assertTrue(below)
        os.kill(pid, signal.SIGSTOP)
        self.addCleanup(self.kill_quietly, pid)
        other = self.editor(initialize=False)
        status = self.cellgate("status")
        self.assertEqual((status.returncode, status.stdout), (1, ""))
        self.assertIn(f"the sidecar of {self.workspace.path} (process {pid}) does not answer", status.stderr)
        self.assertIn("cellgate stop", status.stderr)
        self.assertEqual(other.wait_end(), 1)
        self.assertIn(f"(process {pid}) does not answer", other.log())
        self.assertIn("cellgate stop", other.log())
        self.assertEqual(workspace_sidecars(self.workspace), {pid})
        stop = self.cellgate("stop")
        self.assertEqual(stop.returncode, 0, stop.stderr)
        self.assertEqual(stop.stdout,
                         f"killed the sidecar of {self.workspace.path} (process {pid}), which did not answer\n")
        self.assertEqual(editor.wait_end(), 1)
        wait_until(lambda: not below & descendants(os.getpid()), "the end of what it ran")
        self.assertEqual(self.editor().run("6 * 7").data()["text/plain"], "42")

    def kill_quietly(self, pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


class Races(WorkspaceTest):
    """Seeded; CELLGATE_RACES says how many."""

    def test_of_those_who_start_one_at_once_all_get_the_same(self):
        random.seed(4)
        for race in range(int(os.environ.get("CELLGATE_RACES", "12"))):
            with self.subTest(race=race):
                self.race(random.choice((2, 3, 5)), random.choice(("none", "stale", "ending")))

    def race(self, count, before):
        if before != "none":
            first = Editor(self.workspace, linger=600)
            os.kill(workspace_sidecar(self.workspace), signal.SIGKILL if before == "stale" else signal.SIGTERM)
            if before == "ending":  # a client from before that would be notified of the end
                wait_until(lambda: not any((self.workspace.runtime / "cellgate/roots").rglob("*.sock")), "its leaving")
            first.kill()
        editors = [Editor(self.workspace, initialize=False) for _ in range(count)]
        try:
            for editor in editors:
                editor.initialize(options={"lingerSeconds": 600})
            # Those who lost end by themselves; a sidecar that received the signal to end has as long as its kernels need.
            wait_until(lambda: len(workspace_sidecars(self.workspace)) == 1, "one sidecar")
            for editor in editors:
                self.assertEqual(editor.request("session/list"), {"sessions": []})
        finally:
            for editor in editors:
                editor.close()
        wait_until(lambda: not workspace_sidecars(self.workspace), "the end of the sidecar")


# Connects as another user, in a process of its own, and says what it got.
STRANGER = """
import os, socket, sys
os.setgid(65534)
os.setuid(int(sys.argv[2]))
line = socket.socket(socket.AF_UNIX)
line.connect(sys.argv[1])
line.settimeout(30)
try:
    line.sendall(b"cellgate 0.0.1\\n")
    print(line.recv(100).decode().strip() or "nothing")
except OSError as error:
    print("nothing")
"""


class Strangers(WorkspaceSidecarTest):
    """Even where the modes of all files would let them."""

    def answer_to(self, uid):
        (path,) = (self.workspace.runtime / "cellgate/roots").rglob("user.sock")
        for opened in (self.workspace.base, self.workspace.runtime, *path.parents):
            if self.workspace.base in (opened, *opened.parents):
                opened.chmod(0o755)
        path.chmod(0o666)
        ended = subprocess.run([sys.executable, "-c", STRANGER, str(path), str(uid)], capture_output=True, text=True,
                               timeout=60)
        return ended.stdout.strip() or ended.stderr

    def test_another_user_gets_no_answer(self):
        if os.getuid() != 0:
            self.skipTest("only root can become another user")
        self.editor()
        self.assertEqual(self.answer_to(65534), "nothing")
        self.assertIn("another user", self.log_of_the_sidecar())

    def test_the_control_that_this_user_does(self):
        if os.getuid() != 0:
            self.skipTest("only root can become another user")
        self.editor()
        self.assertTrue(self.answer_to(0).startswith("cellgate "))


class Versions(WorkspaceSidecarTest):
    """The line that comes before the protocol."""

    def greet(self, line, role="user"):
        (path,) = (self.workspace.runtime / "cellgate/roots").rglob(f"{role}.sock")
        with socket.socket(socket.AF_UNIX) as stream:
            stream.connect(str(path))
            stream.settimeout(30)
            stream.sendall(line)
            answer = b""
            while not answer.endswith(b"\n"):
                piece = stream.recv(1000)
                if not piece:
                    break
                answer += piece
            return answer.decode().split()

    def test_a_newer_client_gets_a_new_sidecar_and_the_old_one_drains(self):
        old = self.editor()
        old.run("x = 'old'")
        pid = self.sidecar_pid()
        version = old.info["serverInfo"]["version"]
        self.assertEqual(self.greet(b"cellgate 99.0\n"), ["cellgate", version, str(pid), "leaving"])
        new = self.editor()
        wait_until(lambda: len(workspace_sidecars(self.workspace)) == 2, "the old one and the new one")
        self.assertEqual(new.request("session/list"), {"sessions": []})
        self.assertEqual(old.run("x").data()["text/plain"], "'old'")
        old.vanish()  # it asked for ten minutes, but cannot come back
        wait_until(lambda: pid not in workspace_sidecars(self.workspace), "the end of the old one")
        self.assertEqual(new.run("1").result()["status"], "ok")

    def test_what_runs_in_an_old_one_ends_first(self):
        old = self.editor()
        mark = self.workspace.path / "mark"
        old.execute("import time; time.sleep(2); open('mark', 'w').close()").wait_running()
        self.greet(b"cellgate 99.0\n")
        old.vanish()
        self.wait_for_the_end_of_the_sidecar()
        self.assertTrue(mark.exists())

    def test_older_ones_and_agents_of_any_version_join(self):
        self.editor()
        for version, role in ((b"0.0.9", "user"), (b"99.0", "agent"), (b"nightly", "user")):
            self.assertEqual(self.greet(b"cellgate %s\n" % version, role)[3], "serving", version)

    def test_an_invalid_handshake_gets_no_answer(self):
        self.editor()
        for line in (b"hello\n", b"Content-Length: 2\r\n\r\n{}", b"cellgate 1 2\n", b"cellgate 1.0\nContent-",
                     b"x" * 1000):
            self.assertEqual(self.greet(line), [], line)

    def test_a_client_says_so_and_starts_a_new_one(self):
        """Against a sidecar of an older version that is none."""
        self.editor().close()
        self.wait_for_the_end_of_the_sidecar()
        (folder,) = (self.workspace.runtime / "cellgate/roots").iterdir()
        old = start_process([sys.executable, "-c", OLD_SIDECAR, str(folder)], stdout=subprocess.PIPE, text=True)
        self.addCleanup(old.stdout.close)
        self.assertEqual(old.stdout.readline(), "listens\n")
        editor = self.editor()
        self.assertEqual(old.wait(), 0)
        self.assertIn("was cellgate 0.0.1", editor.log())
        self.assertIn("with kernels of its own", editor.log())
        self.assertEqual(editor.run("1").result()["status"], "ok")


OLD_SIDECAR = """
import fcntl, os, socket, sys
os.chdir(sys.argv[1])
lock = open("lock", "w")
fcntl.flock(lock, fcntl.LOCK_EX)
listener = socket.socket(socket.AF_UNIX)
listener.bind("user.sock")
listener.listen()
print("listens", flush=True)
line, _ = listener.accept()
assert line.recv(1000).startswith(b"cellgate ")
os.unlink("user.sock")
listener.close()
lock.close()
line.sendall(b"cellgate 0.0.1 1 leaving\\n")
"""


if __name__ == "__main__":
    unittest.main()
