"""Cells of TypeScript in Deno's kernel, which has TCP ports in the sandbox's own network only."""

import os
import socket
import subprocess
import unittest

import own_network
from api_server import ApiServer
from cli_testing import CliTest
from language_testing import DENO, DenoTest
from network_testing import NODE
from request_testing import HOST
from workspaces import SYSTEM_PATH

FIRST_PORT = 31281


class Tools(DenoTest):
    """With the wrappers of the built-in server."""

    def setUp(self):
        self.workspace.write("notes.txt", "é")
        made = self.cellgate.request("wrappers/generate", {"server": "host", "language": "typescript"})
        self.assertIn("mcptools.host.read_file", [module["module"] for module in made["modules"]])

    def test_a_call_is_asked_about_at_its_line_and_returns_its_result(self):
        execution = self.execute("import { readFile } from './mcptools/host/read_file.ts';\n\n// why\n"
                                 "const read = await readFile({ path: 'notes.txt' });\nread.content")
        approval = self.cellgate.approval()
        self.assertEqual((approval["action"]["tool"], approval["action"]["argumentsText"]),
                         ("read_file", '{"path":"notes.txt"}'))
        self.assertEqual((approval["origin"]["line"], approval["origin"]["text"]),
                         (3, "const read = await readFile({ path: 'notes.txt' });"))
        [until_end] = [c for c in approval["choices"] if c["label"] == "this exact call, until the cell ends"]
        self.cellgate.allow(approval, scope=until_end["scope"])
        self.assertEqual(execution.result()["status"], "ok")
        self.assertIn("é", execution.data()["text/plain"])
        again = self.execute("(await readFile({ path: 'notes.txt' })).content +\n(await readFile({ path: 'b' })).content")
        approval = self.cellgate.approval()  # the grant has ended
        self.assertNotIn("origin", approval)  # it could be either of two lines
        self.cellgate.deny(approval, reason="not that one")
        self.assertIn("not that one", again.result()["error"]["evalue"])

    def test_an_edit_is_what_the_tool_gets(self):
        self.workspace.write("other.txt", "other")
        execution = self.execute("import { readFile as r } from './mcptools/host/read_file.ts';\n"
                                 "(await r({ path: 'notes.txt' })).content")
        approval = self.cellgate.approval()
        self.cellgate.allow(approval, argumentsText='{"path":"other.txt"}')
        execution.result()
        self.assertIn("other", execution.data()["text/plain"])

    def test_a_program_of_node_that_a_cell_starts_calls_tools_too(self):
        self.workspace.write("main.mts", "import { readFile } from './mcptools/host/index.ts';\n"
                                         "console.log((await readFile({ path: 'notes.txt' })).content);\n")
        self.cellgate.session("node", language="typescript", sandbox={"allowRead": [str(NODE)]})
        execution = self.execute(f"const run = await new Deno.Command('{NODE}', {{ args: ['main.mts'] }}).output();\n"
                                 "console.log(new TextDecoder().decode(run.stdout), run.code)", sessionId="node")
        self.cellgate.allow(self.cellgate.approval())
        execution.result()
        self.assertEqual(execution.text(), "é\n 0\n")


class Cells(DenoTest):
    def test_the_kernel_is_listed_and_says_what_it_is(self):
        [listed] = [k for k in self.cellgate.request("kernel/list")["kernels"] if k["name"] == "deno"]
        self.assertEqual((listed["language"], listed["source"], listed["interpreter"]),
                         ("typescript", "interpreter", str(DENO)))
        self.assertEqual(self.session["kernel"]["language"], "typescript")

    def test_state_stays_from_cell_to_cell(self):
        self.run_ok("let count: number = 40;\nfunction add(n: number): number { return n + count }")
        self.assertIn("42", self.run_ok("add(2)").data()["text/plain"])
        self.assertEqual(self.run_ok("console.log(count); console.error('aside')").text(), "40\n")

    def test_all_output_of_a_cell_comes_before_its_end(self):
        # Deno itself reports idle before: the first of these would have some of its lines in the second.
        for turn in range(5):
            lines = "".join(f"{turn} {i}\n" for i in range(300))
            run = self.run_ok(f"for (let i = 0; i < 300; i++) console.log({turn}, i);\n'r' + {turn}")
            self.assertEqual(run.text(), lines)
            self.assertIn(f'"r{turn}"', run.data()["text/plain"])

    def test_javascript_and_modules_of_node_run_too(self):
        self.cellgate.session("js", language="javascript")
        self.assertIn('"b"', self.run_ok("import { basename } from 'node:path'; basename('/a/b')",
                                         sessionId="js").data()["text/plain"])
        self.cellgate.request("session/close", {"sessionId": "js"})

    def test_a_prompt_asks_the_user(self):
        self.cellgate.handlers["input/request"] = lambda params: {"value": f"an answer to {params['prompt']}"}
        self.assertEqual(self.run_ok("console.log(prompt('name?'))").text(), "an answer to name?\n")

    def test_rich_results(self):
        self.assertEqual(self.run_ok("Deno.jupyter.html`<b>bold</b>`").data()["text/html"], "<b>bold</b>")
        shown = self.run_ok("await Deno.jupyter.display({'text/plain': 'p', 'text/html': '<i>h</i>'}, {raw: true})")
        self.assertIn({"text/plain": "p", "text/html": "<i>h</i>"}, [o.get("data") for o in shown.outputs()])

    def test_an_error_has_its_type_and_its_trace(self):
        _, error = self.fails("function f() {\n  throw new TypeError('boom')\n}\nf()")
        self.assertEqual((error["ename"], error["evalue"]), ("TypeError", "boom"))
        self.assertIn("at f (<anonymous>:2:9)", "\n".join(error["traceback"]))

    def test_a_path_outside_is_explained(self):
        with open(self.workspace.home / "secret.txt", "w") as file:
            file.write("x")
        execution, _ = self.fails(f"Deno.readTextFileSync({str(self.workspace.home / 'secret.txt')!r})")
        [note] = execution.result()["notes"]
        self.assertIn("secret.txt", note["text"])
        execution, _ = self.fails(f"import fs from 'node:fs'; fs.readFileSync({str(self.workspace.home / 'secret.txt')!r})")
        self.assertIn("secret.txt", execution.result()["notes"][0]["text"])

    def test_what_deno_leaves_out_is_in_a_note(self):
        execution, error = self.fails("let let = 1")
        self.assertEqual(error["evalue"], "Execution failed")
        self.assertIn("cannot be compiled", execution.result()["notes"][0]["text"])
        execution, _ = self.fails("import x from 'jsr:@std/path'", approvals="deny")
        self.assertTrue([n for n in execution.result()["notes"] if "over the network" in n["text"]], execution.result())

    def test_a_package_of_npm_that_is_not_there_is_a_note_that_installs_it(self):
        for specifier, package in (("npm:left-pad", "npm:left-pad"), ("npm:@a/b@^1/c.js", "npm:@a/b@^1"),
                                   ("left-pad", "npm:left-pad"), ("@a/b/c", "npm:@a/b")):
            with self.subTest(specifier):
                asked = self.cellgate.asked()
                execution, _ = self.fails(f"import x from '{specifier}'")
                [note] = execution.result()["notes"]
                self.assertEqual(note["install"], [package])
                self.assertEqual(note["text"], f"there is no package {package.removeprefix('npm:')}")
                self.assertEqual(self.cellgate.asked(), asked)  # no connection is tried
        execution, _ = self.fails("import x from './left-pad.ts'")
        self.assertNotIn("notes", execution.result())

    def test_completion(self):
        found = self.cellgate.request("kernel/complete", {"sessionId": "s", "code": "Deno.readTe", "cursorPos": 11})
        self.assertIn("readTextFile", found["matches"])
        self.assertEqual(self.cellgate.request("kernel/inspect", {"sessionId": "s", "code": "Deno", "cursorPos": 2}),
                         {"found": False})  # Deno's kernel knows nothing of a name

    def test_files_and_programs_are_those_of_the_sandbox(self):
        self.run_ok("Deno.writeTextFileSync('made.txt', 'by Deno')")
        self.assertEqual((self.workspace.path / "made.txt").read_text(), "by Deno")
        out = self.run_ok("console.log(new TextDecoder().decode(new Deno.Command('id', {args: ['-u']}).outputSync().stdout))")
        self.assertEqual(out.text().strip(), str(os.getuid()))


class Ports(DenoTest):
    def test_the_kernels_ports_are_in_its_own_network_only(self):
        code = (f"const c = await Deno.connect({{hostname: '127.0.0.1', port: {FIRST_PORT}}});"
                "c.close(); console.log('connected')")
        self.assertEqual(self.run_ok(code).text(), "connected\n")  # the control
        for port in range(FIRST_PORT, FIRST_PORT + 5):
            with self.assertRaises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", port), 5)

    def test_two_sessions_have_the_same_ports_and_not_the_same_kernel(self):
        self.cellgate.session("other", language="typescript")
        self.run_ok("const mine = 'first'")
        self.run_ok("const mine = 'second'", sessionId="other")
        self.assertEqual(self.run_ok("console.log(mine)").text(), "first\n")
        self.assertEqual(self.run_ok("console.log(mine)", sessionId="other").text(), "second\n")
        self.cellgate.request("session/close", {"sessionId": "other"})

    def test_a_large_output_passes(self):
        size = 3_000_000
        execution = self.run_ok(f"console.log('x'.repeat({size}))")
        # Deno may publish what was printed after it has said that it is idle.
        self.cellgate.wait(lambda: len(execution.text()) == size + 1,
                           lambda: f"all of the text, of which {len(execution.text())} characters came")

    def test_without_a_network_of_its_own_it_does_not_start(self):
        error = self.assert_error(1003, self.cellgate.session, "bare", language="typescript", sandbox=False)
        self.assertIn("TCP ports only", str(error))
        self.assertIn("default sandbox", error.hint)


class Ends(DenoTest):
    def test_an_interrupt_ends_a_loop_and_keeps_the_state(self):
        self.run_ok("const kept = 'kept'")
        execution = self.execute("console.log('in'); while (true) {}").wait_for_text("in")
        self.interrupt()
        self.assertEqual(execution.result()["status"], "error")
        self.assertEqual(self.run_ok("console.log(kept)").text(), "kept\n")

    def test_a_timeout_ends_a_loop_and_keeps_the_state(self):
        self.run_ok("const still = 'there'")
        execution = self.execute("while (true) {}", timeoutSeconds=1)
        self.assertEqual(execution.result()["status"], "timeout")
        self.assertEqual(self.run_ok("console.log(still)").text(), "there\n")

    def test_an_interrupt_while_a_promise_is_awaited_starts_a_new_kernel(self):
        execution = self.execute("setTimeout(() => console.log('in'), 100);"
                                 "await new Promise(r => setTimeout(r, 100000))").wait_for_text("in")
        self.interrupt()
        result = execution.result()
        self.assertEqual(result["status"], "killed")
        self.assertIn("a promise", result["reason"])
        self.assertEqual(self.run_ok("console.log('new')").text(), "new\n")

    def test_a_restart_forgets(self):
        self.run_ok("let gone = 1")
        self.cellgate.request("session/restart", {"sessionId": "s"})
        _, error = self.fails("gone")
        self.assertEqual(error["ename"], "ReferenceError")

    def test_a_kernel_that_ends_itself_is_replaced(self):
        self.assertEqual(self.execute("Deno.exit(3)").result()["status"], "killed")
        self.assertEqual(self.run_ok("console.log(1)").text(), "1\n")


class Requests(DenoTest):
    """Deno's own client reaches a host whose requests are judged one by one: it trusts the authority by DENO_CERT."""

    @classmethod
    def prepare(cls):
        authority, certificate = own_network.make_certificates(cls.workspace.base / "certificates", [HOST])
        cls.environment = {**cls.environment, "SSL_CERT_FILE": str(authority)}
        cls.api = ApiServer(certificate, port=443)
        cls.addClassCleanup(cls.api.server_close)
        cls.addClassCleanup(cls.api.shutdown)

    def setUp(self):
        self.api.asked.clear()

    def test_a_fetch_is_asked_about_and_then_reaches_its_host(self):
        rule = self.cellgate.request("policy/add", {"rule": {"effect": "inspect", "kind": "request", "host": HOST},
                                                    "scope": "workspace"})
        self.addCleanup(self.cellgate.request, "policy/remove", {"ruleId": rule["id"]})
        self.cellgate.request("session/restart", {"sessionId": "s"})
        code = f"console.log(await (await fetch('https://{HOST}/a')).text())"
        execution = self.execute(code)
        approval = self.cellgate.approval()
        self.assertEqual((approval["action"]["kind"], approval["action"]["path"]), ("request", "/a"))
        self.assertEqual(self.api.asked, [])
        self.cellgate.allow(approval)
        self.assertEqual(execution.result()["status"], "ok", execution.outputs())
        self.assertIn('"method": "GET"', execution.text())

    def test_a_host_without_a_rule_is_asked_about(self):
        self.cellgate.request("session/restart", {"sessionId": "s"})  # Deno keeps connections
        execution = self.execute(f"await fetch('https://{HOST}/b')")
        approval = self.cellgate.approval()
        self.assertEqual((approval["action"]["kind"], approval["action"]["host"]), ("network", HOST))
        self.cellgate.deny(approval)
        self.assertEqual(execution.result()["status"], "error")
        self.assertEqual(self.api.asked, [])


class OfTheWorkspace(CliTest):
    def setUp(self):
        super().setUp()
        if not DENO.exists():
            self.skipTest("npm's packages are not installed")

    def test_run_takes_the_kernel_by_the_files_ending(self):
        variables = {"PATH": f"{DENO.parent}:{SYSTEM_PATH}"}
        for name, text in (("x.ts", "const a: number = 1\nconsole.log(a)\n// %%\nconsole.log(a + 1)\n"),
                           ("x.js", "const a = 1\nconsole.log(a)\n// %%\nconsole.log(a + 1)\n")):
            with self.subTest(name):
                ended = self.cli("run", self.script(text, name), variables=variables)
                self.assertEqual((ended.returncode, ended.stdout), (0, "1\n2\n"), ended.stderr)

    def test_the_workspaces_own_deno_asks_before_it_starts(self):
        folder = self.workspace.path / "node_modules/.bin"
        folder.mkdir(parents=True)
        os.link(DENO, folder / "deno") if os.stat(DENO).st_dev == os.stat(folder).st_dev else subprocess.run(
            ["cp", str(DENO), str(folder / "deno")], check=True)
        ended = self.cli("run", self.script("console.log(1)", "x.ts"))
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("was not started", ended.stderr)
        terminal = self.terminal("run", self.script("console.log('it ran')", "x.ts"))
        terminal.expect("your answer")
        terminal.type("1")
        terminal.expect("it ran")
        self.assertEqual(terminal.wait_end(), 0)


if __name__ == "__main__":
    own_network.enter()
    unittest.main()
