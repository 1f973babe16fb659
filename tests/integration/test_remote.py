"""Kernels on a Jupyter server: what runs there, what is refused, and what happens when the connection is cut."""

import base64
import itertools
import socket
import subprocess
import unittest
from pathlib import Path

from cellgate_client import CELLGATE
from cut_cells import run_over_cuts
from executions import RpcError
from processes import TIMEOUT, wait_until
from remote_session import RemoteTest
from remote_testing import TOKEN, Gateway, Relay, has_namespaces

DENIED = 1014
NOT_FOUND = 1008


class Cells(RemoteTest):
    def setUp(self):
        super().setUp()
        self.sidecar()

    def test_a_session_runs_there_and_says_so(self):
        info = self.create(name="python3")
        self.assertEqual((info["layers"], info["sandbox"]), (["remote"], "none"))
        self.assertEqual((info["kernel"]["name"], info["kernel"]["server"], info["kernel"]["language"]),
                         ("python3", self.server.url, "python"))
        self.assertIn("127.0.0.1", info["sandboxNotices"][0])
        first = self.run_far("import os; x = 6 * 7\nprint(os.getcwd())\nx")
        self.assertEqual(first.result()["status"], "ok")
        self.assertEqual(first.result()["layers"], ["remote"])
        self.assertEqual(first.text(), str(Path(self.home.name).resolve()) + "\n")
        self.assertEqual(first.data()["text/plain"], "42")
        shown = self.run_far("from IPython.display import display, HTML\ndisplay(HTML('<b>x</b>'))")
        self.assertEqual(shown.outputs()[0]["data"]["text/html"], "<b>x</b>")
        failed = self.run_far("1 / 0")
        self.assertEqual(failed.result()["status"], "error")
        self.assertEqual(failed.result()["error"]["ename"], "ZeroDivisionError")
        self.assertEqual(len(self.server.kernels()), 1)
        self.cellgate.request("session/close", {"sessionId": "far"})
        self.assertEqual(self.server.kernels(), [])

    def test_input_completion_and_inspection(self):
        self.create()
        self.cellgate.handlers["input/request"] = lambda params: {"value": "Ada"}
        self.assertEqual(self.run_far("name = input('who? ')\nprint('hello', name)").text(), "hello Ada\n")
        found = self.cellgate.request("kernel/complete", {"sessionId": "far", "code": "nam", "cursorPos": 3})
        self.assertIn("name", found["matches"])
        self.assertTrue(self.cellgate.request("kernel/inspect", {"sessionId": "far", "code": "name", "cursorPos": 2})["found"])

    def test_it_is_interrupted_and_restarted(self):
        self.create()
        running = self.cellgate.execute("x = 1\nprint('on')\nwhile True: pass", sessionId="far").wait_for_text("on")
        self.cellgate.request("session/interrupt", {"sessionId": "far"})
        self.assertEqual(running.result()["error"]["ename"], "KeyboardInterrupt")
        self.assertEqual(self.run_far("print(x)").text(), "1\n")
        self.cellgate.request("session/restart", {"sessionId": "far"})
        self.assertEqual(self.run_far("print(x)").result()["error"]["ename"], "NameError")
        self.assertEqual(len(self.server.kernels()), 1)

    def test_a_kernel_that_dies_is_said_to_be_gone(self):
        self.create()
        died = self.run_far("import os; os._exit(1)")
        self.assertEqual(died.result()["status"], "killed")
        self.assertIn("its process ended", died.result()["reason"])
        self.assertEqual(self.run_far("print('again')").text(), "again\n")
        self.assertEqual(len(self.server.kernels()), 1)  # the server had started the dead one again

    def test_what_the_server_decides_is_refused(self):
        before = len(self.server.kernels())
        for more, word in (({"env": {"A": "b"}}, "environment"), ({"restoreCwd": True}, "working directory"),
                           ({"sandbox": True}, "sandbox")):
            error = self.refused(1021, "session/create", {
                "sessionId": "far", "kernel": {"server": {"url": self.server.url, "token": TOKEN}}, **more})
            self.assertIn(word, error.message)
        self.assertEqual(len(self.server.kernels()), before)
        self.create()
        error = self.refused(1025, "packages/install", {"sessionId": "far", "packages": ["six"]})
        self.assertIn("not started by cellgate", error.message)
        here = self.workspace.write("a.txt", "before")
        run = self.run_far(f"open({str(here)!r}, 'w').write('after')", changes=True)
        self.assertEqual(run.result()["status"], "ok")
        self.refused(1006, "changes/list", {"executionId": run.id})

    def test_its_kernels_are_listed_and_a_missing_one_is_named(self):
        kernels = self.cellgate.request("kernel/list", {"server": {"url": self.server.url, "token": TOKEN}})["kernels"]
        self.assertEqual((kernels[0]["name"], kernels[0]["source"]), ("python3", "server"))
        error = self.refused(NOT_FOUND, "session/create", {
            "kernel": {"server": {"url": self.server.url, "token": TOKEN, "name": "cobol"}}})
        self.assertIn('has no kernelspec "cobol"', error.message)
        self.assertEqual(error.hint, f"It has: {', '.join(kernel['name'] for kernel in kernels)}.")

    def test_the_command_line(self):
        self.workspace.write("cells.py", "# %%\nimport os\nprint(os.getcwd())\n")
        environment = self.workspace.environment(CELLGATE_SECRET_FAR=TOKEN)

        def cli(*arguments):
            return subprocess.run([CELLGATE, *arguments, "--root", str(self.workspace.path), "--jupyter-server",
                                   self.server.url, "--token-secret", "FAR"], env=environment, cwd=self.workspace.path,
                                  capture_output=True, text=True, timeout=120)

        self.assertIn("python3\n", cli("kernels").stdout)
        ran = cli("run", "cells.py")
        self.assertEqual(ran.stdout, str(Path(self.home.name).resolve()) + "\n", ran.stderr)
        self.assertIn("runs on 127.0.0.1", ran.stderr)
        self.assertEqual(self.server.kernels(), [])
        taken = subprocess.run([CELLGATE, "run", "--server", self.server.url, "cells.py"], env=environment,
                               cwd=self.workspace.path, capture_output=True, text=True)
        self.assertIn("A kernel on a Jupyter server: --jupyter-server", taken.stderr)


class Json(RemoteTest):
    arguments = ("--ServerApp.kernel_ws_protocol=",)

    def test_a_server_without_the_binary_protocol(self):
        self.sidecar()
        self.create()
        self.cellgate.handlers["input/request"] = lambda params: {"value": "Ada"}
        self.assertEqual(self.run_far("print('é\\U0001F600', input())").text(), "é\U0001F600 Ada\n")


class Limits(RemoteTest):
    arguments = ("--ServerApp.iopub_data_rate_limit=100000", "--ServerApp.rate_limit_window=1")

    def test_output_that_the_server_leaves_out_is_announced(self):
        self.sidecar()
        self.create()
        run = self.run_far("for _ in range(40):\n    print('x' * 9999, flush=True)")
        self.assertEqual(run.result()["status"], "ok")
        self.assertLess(len(run.text()), 400_000)  # the control: some was left out
        self.assertIn("left out output", run.text("stderr"))


class Tokens(RemoteTest):
    def test_a_wrong_one_is_refused_in_the_servers_words_and_is_nowhere(self):
        self.sidecar()
        error = self.refused(DENIED, "session/create", {
            "kernel": {"server": {"url": self.server.url, "token": "a-wrong-token"}}})
        self.assertIn("403", error.message)
        self.assertIn("the token", error.hint)
        self.create()
        self.run_far(f"print({TOKEN!r})")
        kept = [path for path in self.workspace.base.rglob("*") if path.is_file() and not path.is_symlink()
                and not path.name.startswith("trace") and TOKEN.encode() in path.read_bytes()]
        self.assertEqual(kept, [])
        self.assertNotIn(TOKEN, self.cellgate.log())

    def test_one_in_the_address_is_refused(self):
        self.sidecar()
        error = self.refused(1021, "session/create", {"kernel": {"server": {"url": f"{self.server.url}/?token={TOKEN}"}}})
        self.assertNotIn(TOKEN, error.message)

    def test_a_secret(self):
        self.sidecar()
        self.refused(DENIED, "session/create", {
            "kernel": {"server": {"url": self.server.url, "token": "${secret:FAR}"}}})
        self.cellgate.request("secret/set", {"name": "FAR", "value": TOKEN})
        self.create(token="${secret:FAR}")
        self.assertEqual(self.run_far("print(1)").text(), "1\n")

    def test_it_is_asked_for_once(self):
        self.sidecar(capabilities={"approvals": True, "input": True, "elicitation": True})
        creating = self.cellgate.start("session/create", {"sessionId": "far",
                                                          "kernel": {"server": {"url": self.server.url}}})
        asked = self.cellgate.wait_for("elicitation/requested")
        self.assertIn("403", asked["message"])
        self.assertTrue(asked["fields"][0]["secret"])
        self.cellgate.request("elicitation/respond", {"elicitationId": asked["elicitationId"], "action": "accept",
                                                      "values": {"token": TOKEN}})
        creating.result()
        self.cellgate.request("session/restart", {"sessionId": "far"})
        self.assertEqual(self.run_far("print(1)").text(), "1\n")
        self.assertEqual(len(self.cellgate.received("elicitation/requested")), 1)

    def test_a_secret_can_be_named_where_it_is_asked_for(self):
        self.sidecar(capabilities={"approvals": True, "input": True, "elicitation": True})
        self.cellgate.request("secret/set", {"name": "FAR", "value": TOKEN})
        for number, name in enumerate(("NONE", "FAR")):
            listing = self.cellgate.start("kernel/list", {"server": {"url": self.server.url}})
            self.cellgate.wait(lambda: len(self.cellgate.received("elicitation/requested")) > number, "the question")
            asked = self.cellgate.received("elicitation/requested")[number]
            self.assertIn("${secret:NAME}", asked["message"])
            self.cellgate.request("elicitation/respond", {"elicitationId": asked["elicitationId"], "action": "accept",
                                                          "values": {"token": f"${{secret:{name}}}"}})
            if name == "NONE":
                with self.assertRaisesRegex(RpcError, "there is none of that name"):
                    listing.result()
        self.assertEqual(listing.result()["kernels"][0]["name"], "python3")
        self.cellgate.session("far", kernel={"server": {"url": self.server.url}})
        self.assertEqual(self.run_far("print(1)").text(), "1\n")
        self.assertEqual(len(self.cellgate.received("elicitation/requested")), 2)

    def test_a_wrong_one_that_was_typed_is_asked_for_again(self):
        self.sidecar(capabilities={"approvals": True, "input": True, "elicitation": True})
        listing = self.cellgate.start("kernel/list", {"server": {"url": self.server.url}})
        for number, token in enumerate(("a-wrong-token", TOKEN)):
            self.cellgate.wait(lambda: len(self.cellgate.received("elicitation/requested")) > number, "the question")
            asked = self.cellgate.received("elicitation/requested")[number]
            self.cellgate.request("elicitation/respond", {"elicitationId": asked["elicitationId"], "action": "accept",
                                                          "values": {"token": token}})
        self.assertEqual(listing.result()["kernels"][0]["name"], "python3")

    def test_without_a_user_to_ask_it_is_an_error(self):
        self.sidecar()
        error = self.refused(DENIED, "session/create", {"kernel": {"server": {"url": self.server.url}}})
        self.assertIn("may want a token", error.message)


class Cuts(RemoteTest):
    def test_what_the_kernel_does_while_the_connection_is_cut_arrives(self):
        relay = self.relay()
        self.sidecar()
        self.create(relay.url)
        go, said, end = (Path(self.home.name) / name for name in ("go", "said", "end"))
        # It runs until the connection is made again: the server takes a message of an idle kernel for itself then.
        running = self.cellgate.execute(f"""
import pathlib, time
def wait_for(path):
    while not pathlib.Path(path).exists():
        time.sleep(0.01)
print('before')
wait_for({str(go)!r})
print('after', flush=True)
pathlib.Path({str(said)!r}).touch()
wait_for({str(end)!r})
'the end'""", sessionId="far")
        running.wait_for_text("before")
        with relay.cut_from(self.server):
            go.touch()
            wait_until(said.exists, "the output of the kernel")
        self.cellgate.wait(lambda: "was cut and made again" in running.text("stderr"), "the connection")
        end.touch()
        self.assertEqual(running.result()["status"], "ok")
        self.assertEqual(running.text(), "before\nafter\n")
        self.assertEqual(running.data()["text/plain"], "'the end'")
        self.assertEqual(self.run_far("print('next')").text(), "next\n")

    def test_a_server_that_cannot_be_reached_is_said_to_be_and_tried_again(self):
        relay = self.relay()
        self.sidecar()
        self.create(relay.url)
        running = self.cellgate.execute("print('on')\nimport time\nwhile True: time.sleep(0.01)", sessionId="far")
        running.wait_for_text("on")
        target, relay.target = relay.target, ("127.0.0.1", 1)  # nothing listens there
        relay.cut_all()
        self.cellgate.wait(lambda: "tried again" in running.text("stderr"), "the notice")
        relay.target = target
        self.cellgate.wait(lambda: "made again" in running.text("stderr"), "the connection")
        self.cellgate.request("session/interrupt", {"sessionId": "far"})
        self.assertEqual(running.result()["error"]["ename"], "KeyboardInterrupt")

    def test_connections_that_drop_at_once_are_made_ever_later_and_said_once(self):
        """600 bytes are the head, and less than the answer to the first request."""
        relay = self.relay()
        self.sidecar()
        self.create(relay.url)
        said = Path(self.home.name) / "said"
        running = self.cellgate.execute("import pathlib, time\nprint('on')\ntime.sleep(5)\n"
                                        f"pathlib.Path({str(said)!r}).touch()", sessionId="far")
        running.wait_for_text("on")
        relay.cuts = itertools.repeat(("received", 600))
        relay.cut_all()
        wait_until(said.exists, "the end of the cell")
        relay.cuts, made = iter(()), relay.made
        self.assertEqual(running.result()["status"], "ok")
        self.assertGreater(made, 3)  # the control
        self.assertLess(made, 12)
        self.assertEqual(running.text("stderr").count("made again"), 1)

    def test_what_a_connection_still_holds_at_its_end_never_arrives(self):
        """As it would after it was sent again over the next one."""
        relay = Relay(self.server, receive_bytes=4096)
        self.addCleanup(relay.close)
        self.sidecar()
        self.create(relay.url)
        relay.reads.clear()
        self.cellgate.execute("x = '" + "x" * 8_000_000 + "'", sessionId="far")
        self.assertTrue(relay.held.wait(TIMEOUT))
        self.cellgate.request("session/close", {"sessionId": "far"})
        relay.reads.set()
        wait_until(lambda: relay.errors, "the end of the connection")
        self.assertIsInstance(relay.errors[0], ConnectionResetError)

    def test_no_code_runs_twice_and_none_waits_for_ever(self):
        run_over_cuts(self)


class Tools(RemoteTest):
    """Calls of code on a server: the tools and the gate are here."""

    def test_a_call_is_asked_about_here_with_its_line_and_made_here(self):
        self.begin_with_tools()
        execution, approval = self.asked_to_write()
        self.assertEqual((approval["origin"]["line"], approval["origin"]["text"]),
                         (11, "print(write_file.run(path='made.txt', content='from afar'))"))
        self.assertFalse(self.made().exists())
        self.cellgate.allow(approval)
        self.assertEqual(execution.result()["status"], "ok", execution.outputs())
        self.assertEqual(self.made().read_text(), "from afar")
        execution, approval = self.asked_to_write()
        self.cellgate.deny(approval, reason="not again")
        self.assertEqual(execution.result()["error"]["ename"], "ApprovalDenied")

    def test_a_call_whose_connection_is_cut_while_it_waits_is_made_once(self):
        relay = self.relay()
        self.begin_with_tools(relay.url)
        execution, approval = self.asked_to_write()
        relay.cut_all()
        self.cellgate.allow(approval)
        self.assertEqual(execution.result()["status"], "ok", execution.outputs())
        self.assertEqual(self.made().read_text(), "from afar")
        self.assertEqual(self.cellgate.waiting(), [])


class Gateways(RemoteTest):
    """Through a proxy that does what gateways do otherwise than Jupyter Server."""

    def gateway(self, **more):
        gateway = Gateway(self.server, **more)
        self.addCleanup(gateway.close)
        return gateway

    def test_their_limits_are_shown_in_their_words_and_no_list_is_asked_for(self):
        gateway = self.gateway(max_kernels=0)
        self.sidecar()
        error = self.refused(DENIED, "session/create", {"kernel": {"server": {"url": gateway.url, "token": TOKEN}}})
        self.assertIn("Resource Limit", error.message)
        self.cellgate.request("kernel/list", {"server": {"url": gateway.url, "token": TOKEN}})
        self.assertEqual([(method, path) for method, path, _ in gateway.asked],
                         [("POST", "/api/kernels"), ("GET", "/api/kernelspecs")])

    def test_a_full_one_takes_a_session_when_another_has_ended(self):
        gateway = self.gateway(max_kernels=1)
        self.sidecar()
        self.create(gateway.url)
        more = {"sessionId": "more", "kernel": {"server": {"url": gateway.url, "token": TOKEN}}}
        self.refused(DENIED, "session/create", more)
        self.assertEqual(self.run_far("print(1)").text(), "1\n")
        self.cellgate.request("session/close", {"sessionId": "far"})
        self.cellgate.request("session/create", more)
        self.assertEqual(self.cellgate.run("print(2)", sessionId="more").text(), "2\n")

    def test_they_know_a_user_by_a_variable(self):
        gateway = self.gateway(users=("ada",))
        self.sidecar()
        server = {"server": {"url": gateway.url, "token": TOKEN}}
        error = self.refused(DENIED, "session/create", {"kernel": server})
        self.assertIn("KERNEL_USERNAME", error.message)
        error = self.refused(1021, "session/create", {"kernel": server, "env": {"HOME": "/"}})
        self.assertIn("HOME", error.message)
        self.cellgate.request("session/create", {"sessionId": "far", "kernel": server, "env": {"KERNEL_USERNAME": "ada"}})
        self.assertEqual(gateway.passed, [{"KERNEL_USERNAME": "ada"}])
        self.assertEqual(self.run_far("print(1)").text(), "1\n")

    def test_a_cell_a_call_and_a_cut(self):
        relay = Relay(self.gateway())
        self.addCleanup(relay.close)
        self.begin_with_tools(relay.url)
        execution, approval = self.asked_to_write()
        relay.cut_all()
        self.cellgate.allow(approval)
        self.assertEqual(execution.result()["status"], "ok", execution.outputs())
        self.assertEqual(self.made().read_text(), "from afar")
        died = self.run_far("import os; os._exit(1)")
        self.assertEqual(died.result()["status"], "killed")
        self.assertIn("its process ended", died.result()["reason"])

    def test_a_wrong_token(self):
        gateway = self.gateway()
        self.sidecar()
        error = self.refused(DENIED, "session/create", {"kernel": {"server": {"url": gateway.url, "token": "wrong"}}})
        self.assertIn("401", error.message)


class Unbuffered(RemoteTest):
    """A server that keeps nothing for a client whose connection was cut, and makes other sockets for the next one."""

    arguments = ("--MappingKernelManager.buffer_offline_messages=False",)

    def test_no_code_runs_twice_over_cuts(self):
        run_over_cuts(self)


@unittest.skipUnless(has_namespaces(), "needs namespaces of users and networks")
class Elsewhere(RemoteTest):
    """On a server in a network of its own: it and its kernels reach nothing here but the answers on the connections that
    cellgate makes."""

    namespace = True

    def test_cells_and_images(self):
        self.sidecar()
        self.create()
        with socket.create_server(("127.0.0.1", 0)) as here:
            run = self.run_far(f"import socket\nsocket.create_connection({here.getsockname()})")
            self.assertEqual(run.result()["error"]["ename"], "ConnectionRefusedError")
            socket.create_connection(here.getsockname()).close()  # the control
        image = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
        shown = self.run_far(f"from IPython.display import Image, display\ndisplay(Image({image!r}, format='png'))")
        self.assertEqual(shown.result()["status"], "ok", shown.outputs())
        self.assertEqual(base64.b64decode(shown.outputs()[0]["data"]["image/png"]), image)

    def test_a_call_is_asked_about_and_made_here(self):
        self.begin_with_tools()
        execution, approval = self.asked_to_write()
        self.assertEqual((approval["origin"]["line"], self.made().exists()), (11, False))
        self.cellgate.allow(approval)
        self.assertEqual(execution.result()["status"], "ok", execution.outputs())
        self.assertEqual(self.made().read_text(), "from afar")

    def test_no_code_runs_twice_over_cuts(self):
        run_over_cuts(self)


if __name__ == "__main__":
    unittest.main()
