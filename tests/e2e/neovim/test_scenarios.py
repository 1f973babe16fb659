"""The scenarios of tests/e2e/scenarios.md in Neovim, with the real sidecar, ipykernel and filesystem server."""

import base64
import json
import os
import re
import signal
import subprocess
import sys
import unittest
import urllib.request
from pathlib import Path

import test_elsewhere
import test_languages
from neovim_testing import CELLGATE, REPOSITORY, TIMEOUT, NeovimTest, tiny_png

sys.path.insert(0, str(REPOSITORY / "tests" / "integration"))
from cellgate_client import FIXTURES  # noqa: E402
from mcp_testing import McpClient  # noqa: E402
from processes import start_process  # noqa: E402

EVERYTHING_SERVER = REPOSITORY / "tests/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
READ = "# %%\nfrom mcptools.filesystem import read_text_file\nprint(read_text_file.run(path={path!r}).content)\n"


class Cells(NeovimTest):
    def test_cell_by_command(self):
        neovim = self.neovim(self.workspace.write("a.py", "# %%\nprint(6 * 7)\n# %%\nprint('other')\n"))
        neovim.command("Cellgate run")
        neovim.wait_screen("[1] ok", gone=("running",))
        self.assertEqual(neovim.wait_output("42"), ["42"])

    def test_cell_by_key(self):
        neovim = self.neovim(self.workspace.write("a.py", "# %%\nprint(6 * 7)\n# %%\nprint('other')\n"),
                             settings={"keys": True})
        neovim.keys(",,")
        neovim.wait_screen("[1] ok")
        self.assertEqual(neovim.lua("return vim.api.nvim_win_get_cursor(0)"), [4, 0])

    def test_stdout_live(self):
        neovim = self.neovim(self.workspace.write(
            "a.py", "# %%\nimport os, time\nprint('\\x1b[31mfirst\\x1b[0m')\nwhile not os.path.exists('go'): time.sleep(0.01)"
            "\nprint('50%\\r100%')\n"))
        neovim.command("Cellgate run")
        neovim.wait_output("first")
        neovim.wait_screen("running")
        self.workspace.write("go", "")
        neovim.wait_screen("[1] ok", "100%", gone=("running",))
        self.assertEqual(neovim.wait_output("100%"), ["first", "100%"])

    def test_html_table(self):
        neovim = self.neovim(self.workspace.write(
            "a.py", "# %%\nclass Table:\n    def _repr_html_(self): return '<table><tr><td>\"cell\"</td></tr></table>'\n"
            "    def __repr__(self): return 'the table as text'\nTable()\n"))
        neovim.lua("Opened = {} require('cellgate.config').values.open = function(path) table.insert(Opened, path) end")
        neovim.command("Cellgate run")
        neovim.wait_screen("[1] ok", "the table as text", ":Cellgate html")
        neovim.command("Cellgate html")
        (path,) = neovim.wait_lua("return #Opened > 0 and Opened")
        page = Path(path).read_text()
        self.assertIn("<iframe sandbox srcdoc=", page)
        self.assertIn("<td>&quot;cell&quot;</td>", page)
        self.assertIn("default-src 'none'", page)

    def test_png(self):
        picture = tiny_png()
        neovim = self.neovim(self.workspace.write(
            "a.py", "# %%\nfrom IPython.display import Image, display\nimport base64\n"
            f"display(Image(data=base64.b64decode('{base64.b64encode(picture).decode()}')))\n"))
        neovim.command("Cellgate run")
        neovim.wait_screen("[1] ok", "picture: ")
        path = "".join(neovim.wait_output("picture")).removeprefix("picture: ")
        self.assertEqual(Path(path).read_bytes(), picture)

    def test_error_frames(self):
        neovim = self.neovim(self.workspace.write("a.py", "# %%\ndef inner():\n    return 1 / 0\n# %%\ninner()\n"))
        neovim.command("Cellgate all")
        neovim.wait_screen("[2] error", "ZeroDivisionError: division by zero")
        neovim.keys("G")
        neovim.command("Cellgate frames")
        neovim.wait_screen("in inner", "a.py")
        self.assertEqual([(item["lnum"], item["text"]) for item in neovim.lua("return vim.fn.getqflist()")][0],
                         (3, "in inner"))
        neovim.command("cfirst")
        neovim.wait_lua("return vim.api.nvim_win_get_cursor(0)[1] == 3")
        neovim.keys("G")
        neovim.command("Cellgate error")
        neovim.wait_screen("Traceback (most recent call last)")


class Approvals(NeovimTest):
    def setUp(self):
        super().setUp()
        self.workspace.write("data/january.csv", "first,second\n")

    def asking(self, code=READ.format(path="data/january.csv")):
        neovim = self.with_filesystem(self.workspace.write("a.py", code))
        neovim.command("Cellgate run")
        neovim.wait_screen("asks #", ":Cellgate approvals to answer")
        return neovim

    def test_call_waits_then_allowed(self):
        neovim = self.asking()
        neovim.wait_screen("waits for your answer", 'path: "data/january.csv"', "line 3 (reported by the code)")
        neovim.command("Cellgate approvals")
        neovim.wait_answerable()
        neovim.wait_screen("1  this call", "any read_text_file")
        neovim.keys("1")
        neovim.wait_screen("[1] ok", "first,second", gone=("cellgate asks",))

    def test_server_at_a_url(self):
        server = start_process([sys.executable, "-B", str(FIXTURES / "mcp_http_server.py")], text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(lambda: server.communicate("\n"))
        go = self.workspace.path / "go"
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}/waits?{go}"
        self.workspace.write(".mcp.json", json.dumps({"mcpServers": {"web": {"url": url, "headers": {"X-Key": "${NO:-1}"}}}}))
        neovim = self.neovim(self.workspace.write("a.py", "# %%\nfrom mcptools.web import t_g\nprint(t_g.run())\n"))
        neovim.command("Cellgate generate web")
        neovim.wait_screen("use the tool server web")
        neovim.command("Cellgate approvals")
        neovim.wait_answerable()
        neovim.wait_screen("/waits?", 'X-Key: "${NO:-1}"')
        neovim.keys("1")
        neovim.wait_message("mcptools.web has")
        neovim.command("Cellgate run")
        neovim.wait_screen("asks #")
        neovim.command("Cellgate approvals")
        neovim.wait_answerable()
        neovim.keys("1")
        neovim.wait_screen("web, täg: 2 of 5: reading")
        go.write_text("")
        neovim.wait_screen("[1] ok", "all is read", gone=("2 of 5",))

    def test_request_is_judged(self):
        api = start_process([sys.executable, "-B", str(REPOSITORY / "tests/integration/api_server.py"), str(self.workspace.base)],
                            text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(lambda: api.poll() is None and api.communicate("\n"))
        ready = json.loads(api.stdout.readline())
        host = f"127.0.0.1:{ready['port']}"
        environment = {"SSL_CERT_FILE": ready["authority"], "CELLGATE_SECRET_API_TOKEN": "token-0123456789"}
        for rule in (f"inspect request {host} --bearer ${{secret:API_TOKEN}} --variable API_TOKEN",
                     f"allow request {host} read-only"):
            subprocess.run([CELLGATE, "policy", "add", "--root", str(self.workspace.path), rule], check=True,
                           capture_output=True, env=self.workspace.environment())
        neovim = self.neovim(self.workspace.write("a.py", f"""# %%
import os, urllib.error, urllib.request
def ask(path, data=None):
    headers = {{"Authorization": "Bearer " + os.environ["API_TOKEN"]}}
    try:
        return urllib.request.urlopen(urllib.request.Request("https://{host}" + path, data, headers)).read().decode()
    except urllib.error.HTTPError as error:
        return error.read().decode()
open("seen.txt", "w").write(ask("/user") + ask("/repos/plan/issues", b'{{"title": "Plan"}}'))
"""), environment=environment)
        neovim.command("Cellgate run")
        neovim.wait_screen("asks #", f"POST https://{host}/repos/plan/issues")
        neovim.command("Cellgate approvals")
        neovim.wait_answerable()
        neovim.wait_screen("with the secret API_TOKEN, which the code does not see", 'title: "Plan"', "this request")
        neovim.keys("d")
        neovim.wait_screen("[1] ok", gone=("cellgate asks",))
        seen = (self.workspace.path / "seen.txt").read_text()
        self.assertIn("[secret API_TOKEN]", seen)
        self.assertIn("cellgate: ", seen)
        self.assertNotIn("token-0123456789", seen)
        asked, _ = api.communicate("\n", timeout=TIMEOUT)
        [asked] = map(json.loads, asked.splitlines())
        self.assertEqual((asked["method"], asked["headers"]["authorization"]), ("GET", "Bearer token-0123456789"))

    def test_login_in_the_browser(self):
        server = start_process([sys.executable, "-B", str(FIXTURES / "oauth_server.py")], text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(lambda: server.communicate("\n"))
        url = f"http://127.0.0.1:{server.stdout.readline().split()[0]}/mcp"
        neovim = self.neovim(self.workspace.write("a.py", "# %%\nfrom mcptools.web import look\nprint(look.run().text)\n"),
                             settings={"mcp_servers": {"web": {"url": url}}})
        neovim.lua("Opened = {} require('cellgate.config').values.open = function(url) table.insert(Opened, url) end")
        neovim.command("Cellgate generate web")
        neovim.wait_message("wants a user to log in")
        neovim.command("Cellgate servers")
        neovim.wait_screen("needs a login")
        neovim.keys("q")
        neovim.wait_screen(gone=("needs a login",))  # the menu would take the key
        neovim.command_with_menu("Cellgate login web", "Log in to web: open 127.0.0.1", "1: open it in the browser")
        neovim.keys("1<CR>")
        neovim.wait_message("waits for the login at 127.0.0.1")
        (page,) = neovim.lua("return Opened")
        # The browser, whose user has said yes: it is sent back to cellgate.
        with urllib.request.urlopen(page) as answer:
            self.assertEqual(answer.status, 200)
        neovim.wait_message("logged in to web")
        neovim.command("Cellgate generate web")
        neovim.wait_message("mcptools.web has")
        neovim.command("Cellgate run")
        neovim.wait_screen("asks #")
        neovim.command("Cellgate approvals")
        neovim.wait_answerable()
        neovim.keys("1")
        neovim.wait_output("seen")
        neovim.command("Cellgate logout web")
        neovim.wait_message("logged out of web")
        neovim.command("Cellgate servers")
        neovim.wait_screen("needs a login")

    def test_form_is_filled_in(self):
        neovim = self.neovim(
            self.workspace.write("a.py", "# %%\nfrom mcptools.everything import trigger_elicitation_request\n"
                                         "print(trigger_elicitation_request.run().text)\n"),
            settings={"mcp_servers": {"everything": {"command": "node", "args": [str(EVERYTHING_SERVER), "stdio"]}}})
        neovim.command("Cellgate generate everything")
        neovim.wait_message("mcptools.everything has")
        neovim.command("Cellgate run")
        neovim.wait_screen("asks #")
        neovim.command("Cellgate approvals")
        neovim.wait_answerable()
        neovim.keys("1")
        neovim.wait_screen("a tool server asks", "everything asks, while its tool trigger-elicitation-request runs",
                           "> Please provide inputs", "waits for your answer", ":Cellgate answer to answer")
        neovim.command("Cellgate answer")
        neovim.wait_screen("cellgate://answer/", "#> Your full, legal name")
        neovim.keys("/^name:<CR>AAda Lovelace<Esc>")
        neovim.wait_screen("name: Ada Lovelace")
        neovim.keys("/^check:<CR>")
        neovim.keys("<CR>")
        neovim.wait_screen("check: [x]")
        neovim.keys("/^integer:<CR>Cinteger: 1000<Esc>")
        neovim.wait_screen("integer: 1000")
        neovim.keys("G")
        neovim.wait_screen("legacyTitledEnum:")
        self.wait_half_a_second(neovim)
        neovim.keys(":w<CR>")
        neovim.wait_screen("expected at most 100")
        neovim.keys("/^integer:<CR>Cinteger: 7<Esc>")
        neovim.wait_screen("integer: 7")
        neovim.keys(":w<CR>")
        neovim.wait_screen("[1] ok", gone=("cellgate://answer/",))
        neovim.command("Cellgate output")
        neovim.wait_screen("cellgate://output")
        output = neovim.wait_lua("local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n') "
                                 "return text ~= '' and text", "the output")
        for words in ("Ada Lovelace", "Agreed to terms: true", '"integer": 7', '"titledSingleSelectEnum": "hero-1"'):
            self.assertIn(words, output)

    def test_call_denied_with_reason(self):
        neovim = self.asking()
        neovim.command("Cellgate approvals")
        neovim.wait_answerable()
        neovim.keys("D")
        neovim.wait_screen("why not?")
        neovim.keys("not today<CR>")
        neovim.wait_screen("ApprovalDenied: not today", gone=("why not?",))
        neovim.command("Cellgate error")
        neovim.wait_screen("ApprovalDenied: not today", "Traceback")

    def test_call_edited(self):
        neovim = self.asking("# %%\nfrom mcptools.filesystem import write_file\n"
                             "write_file.run(path='out.txt', content='the code\\'s words')\n")
        neovim.command("Cellgate approvals")
        neovim.wait_answerable()
        neovim.keys("e")
        neovim.wait_screen('"content": "the code\'s words"')
        # A user takes longer than the half second in which nothing counts.
        neovim.lua("Opened = vim.uv.hrtime()")
        neovim.keys('/words<CR>')
        neovim.keys('cwown text<Esc>')
        neovim.wait_screen("the code's own text")
        neovim.wait_lua("return vim.uv.hrtime() - Opened > 600e6", "half a second")
        neovim.command("w")
        neovim.wait_screen("[1] ok", gone=("own text", "cellgate asks"))
        self.assertEqual((self.workspace.path / "out.txt").read_text(), "the code's own text")

    def test_gathered_calls_one_outlier(self):
        for i in range(199):
            self.workspace.write(f"data/{i}.txt", str(i))
        self.workspace.write("secrets/plan.txt", "hidden")
        neovim = self.asking(
            "# %%\nimport asyncio\nfrom mcptools.filesystem import read_text_file\n"
            "paths = [f'data/{i}.txt' for i in range(199)]\npaths.insert(20, 'secrets/plan.txt')\n"
            "calls = [read_text_file.run_async(path=path) for path in paths]\n"
            "got = await asyncio.gather(*calls, return_exceptions=True)\n"
            "print(sorted(int(r.content) for r in got if hasattr(r, 'content')) == list(range(199)))\n"
            "print([str(r) for r in got if isinstance(r, Exception)])\n")
        neovim.wait(lambda: len(neovim.approvals()) == 64, lambda: f"64 approvals, not {len(neovim.approvals())}")
        neovim.command("Cellgate approvals")
        neovim.wait_answerable()
        whole = neovim.wait_screen("of 2 ", "secrets/plan.txt")
        self.assertNotIn("data/1.txt", whole)
        neovim.keys("d")
        # What comes in its place is a call like the others.
        neovim.wait_screen("data/0.txt", "read on:", gone=("secrets/plan.txt",))
        neovim.wait(lambda: len(neovim.approvals()) == 64, "the next call in its place")
        number = neovim.lua("for i, choice in ipairs(require('cellgate.approvals').groups()[1].choices) do "
                            "if choice.label:find('under data/', 1, true) then return i end end")
        # Not all of them was shown: the key answers nothing.
        neovim.keys(str(number))
        neovim.wait_screen("nothing was answered")
        self.assertEqual(len(neovim.approvals()), 64)
        # Reading on, page by page.
        at_end = "return vim.fn.line('w$') == vim.fn.line('$')"
        while not neovim.lua(at_end):
            before = neovim.lua("return vim.fn.line('w0')")
            neovim.keys("<C-f>")
            neovim.wait(lambda: neovim.lua("return vim.fn.line('w0')") > before, "the next page")
        neovim.wait_answerable()
        neovim.keys(str(number))
        neovim.wait_finished(1)
        lines = neovim.wait_output("denied")
        self.assertEqual(lines[0], "True", lines)
        self.assertIn("denied", "".join(lines[1:]))

    def test_interrupt_while_waiting(self):
        neovim = self.asking()
        neovim.command("Cellgate interrupt")
        neovim.wait_screen("KeyboardInterrupt", gone=("cellgate asks", "asks #1"))
        self.assertEqual(neovim.approvals(), [])

    def test_stray_keys_answer_nothing(self):
        neovim = self.with_filesystem(self.workspace.write("a.py", READ.format(path="data/january.csv") + "\n\n"))
        neovim.command("Cellgate run")
        neovim.keys("Go")
        for word in ("11 ", "allow ", "dDe ", "yes\n", "q1 ", "<Esc>1d1wi2 ", "yy "):
            neovim.keys(word)
        neovim.wait_screen("asks #1: ")
        for word in ("11 ", "allow ", "dDe ", "yes\n", "<Esc>", "u1x2", "i123"):
            neovim.keys(word)
        neovim.wait_lua("return vim.fn.mode() == 'i'")
        neovim.wait_screen("123")
        self.assertEqual(len(neovim.approvals()), 1)
        neovim.keys("<Esc>")
        neovim.command("Cellgate approvals")
        neovim.wait_answerable()
        neovim.keys("d")
        neovim.wait_screen("ApprovalDenied")


class Staying(NeovimTest):
    def test_reload_mid_run(self):
        self.workspace.write("notes.txt", "Five days in May.")
        file = self.workspace.write(
            # Each line by one write: print() of two threads would mix them.
            "a.py", "# %%\nkept = 'here'\n# %%\nimport sys, threading, time\n"
            "from mcptools.filesystem import read_text_file\n"
            "def note(): sys.stdout.write('note: ' + read_text_file.run(path='notes.txt').content + '\\n')\n"
            "thread = threading.Thread(target=note)\nthread.start()\n"
            "for i in range(200):\n    sys.stdout.write(f'line {i}\\n')\n    sys.stdout.flush()\n    time.sleep(0.01)\n"
            "thread.join()\n# %%\nprint(kept)\n")
        one = self.with_filesystem(file)
        one.keys("gg")
        one.command("Cellgate run")
        one.wait_finished(1)
        one.keys("3G")
        one.command("Cellgate run")
        one.wait_output("line ")
        one.wait(lambda: one.approvals(), "the question")
        approval = one.approvals()[0]["approvalId"]
        one.kill()
        two = self.neovim(file)
        two.wait(lambda: two.approvals(), "the question, again")
        self.assertEqual(two.approvals()[0]["approvalId"], approval)
        two.wait_screen("cellgate asks")
        two.command("Cellgate approvals")
        two.wait_answerable()
        two.keys("1")
        two.wait_finished(2)
        two.keys("3G")
        two.command("Cellgate output")
        two.wait_screen("line 0", "cellgate://output")
        lines = two.wait_lua("local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false) vim.cmd.normal({ 'G', bang = true }) "
                             "return vim.tbl_contains(lines, 'line 199') and lines")
        self.assertEqual([line for line in lines if line.startswith("line ")], [f"line {i}" for i in range(200)])
        self.assertEqual(lines.count("note: Five days in May."), 1)
        self.assertEqual(len(lines), 201)
        two.keys("q")
        two.keys("G")
        two.command("Cellgate run")
        two.wait_finished(3)
        two.wait_output("here")

    def test_sidecar_killed(self):
        neovim = self.neovim(self.workspace.write(
            "a.py", "# %%\nx = 1\nimport time; print('begun', flush=True); time.sleep(600)\n"
                                                      "# %%\n'x' in globals()\n"))
        neovim.command("Cellgate run")
        neovim.wait_output("begun")
        os.kill(self.sidecar_pid(), signal.SIGKILL)
        neovim.wait_message("a sidecar ended without a goodbye")
        neovim.wait_screen("did not finish: the sidecar ended while it ran")
        neovim.keys("G")
        neovim.command("Cellgate run")
        neovim.wait_output("False")

    def test_agent_answered_here(self):
        self.workspace.write("notes.txt", "Five days in May.")
        neovim = self.with_filesystem(self.workspace.write("a.py", "# %%\n1\n"))
        agent = McpClient(self.workspace, "helper")
        self.addCleanup(agent.close)
        agent.initialize()
        code = ("from mcptools.filesystem import read_text_file\n"
                "print(read_text_file.run(path='notes.txt').content)")
        call = agent.start_call("execute", code=code)
        neovim.wait_screen("an agent that calls itself helper asks", "notes.txt")
        neovim.command("Cellgate approvals")
        neovim.wait_answerable()
        neovim.keys("1")
        self.assertIn("Five days in May.", str(agent.finish_call(call, "execute", code=code)))
        neovim.command("Cellgate executions")
        neovim.wait_screen("helper: [1] ok", "from mcptools.filesystem import read_text_file")

    def test_input_is_asked(self):
        neovim = self.neovim(self.workspace.write("a.py", "# %%\nprint('got', input('your name? '))\n"))
        neovim.command("Cellgate run")
        neovim.wait_screen("? your name?", ":Cellgate input")
        neovim.command("Cellgate input")
        neovim.wait_lua("return vim.api.nvim_get_mode().mode == 'c'")
        neovim.keys("Ada<CR>")
        neovim.wait_screen("got Ada", "[1] ok")


class Table(unittest.TestCase):
    def test_every_scenario_of_the_table_is_tried_and_no_other(self):
        table = (REPOSITORY / "tests/e2e/scenarios.md").read_text()
        named = set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))
        here = {name.removeprefix("test_") for kind in (Cells, Approvals, Staying, test_elsewhere.Elsewhere, test_languages.Languages)
                for name in dir(kind) if name.startswith("test_")}
        self.assertEqual(here, named)


if __name__ == "__main__":
    unittest.main()
