"""Every tool of seven real servers in TypeScript: the strict compiler takes the packages, and a program that is run by
Node sends what it wrote and gets what the tool answered."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from fake_channel import Denied, FakeChannel, text_result
from packages import SERVERS, TESTS, generate, tools_of

PROGRAMS = TESTS / "node_modules" / ".bin"
# Without any package of types.
SETTINGS = {"strict": True, "noUncheckedIndexedAccess": True, "exactOptionalPropertyTypes": True,
            "noPropertyAccessFromIndexSignature": True, "noImplicitOverride": True, "erasableSyntaxOnly": True,
            "verbatimModuleSyntax": True, "noEmit": True, "allowImportingTsExtensions": True, "module": "esnext",
            "moduleResolution": "bundler", "target": "es2022", "types": []}
HOSTILE = {
    "name": "delete */ import('evil') /*",
    "title": "*/ throw 1 /*",
    "description": "ends */ process.exit(3) /* \u202e reversed\nnext `${1}`",
    "inputSchema": {"type": "object", "required": ["*/ x"], "properties": {
        "*/ x": {"const": "\"; throw 2; //\u2028"}, "__proto__": {"type": "string"}, "a\nb": {"enum": ["`", "${1}", 1.5, None]},
        "self": {"$ref": "#"}, "list": {"type": "array", "items": {"$ref": "#/properties/list"}}}},
    "outputSchema": {"type": "object", "properties": {"class": {"type": ["integer", "null"]}}},
}
LISTING = [{"name": "resources/read", "inputSchema": {"type": "object", "properties": {"uri": {"type": "string"}}}},
           {"name": "resources/subscribe", "inputSchema": {"type": "object", "required": ["uri"],
                                                           "properties": {"uri": {"type": "string"}}}},
           {"name": "readFile", "inputSchema": {"type": "object"}}, {"name": "read_file", "inputSchema": {"type": "object"}}]


def compile_errors(folder, *libraries):
    """What the strict compiler says."""
    settings = {"compilerOptions": {**SETTINGS, "lib": ["es2022", *libraries]}, "include": ["**/*.ts"]}
    pathlib.Path(folder, "tsconfig.json").write_text(json.dumps(settings))
    command = [str(PROGRAMS / "tsc"), "--project", folder]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, cwd=folder).stdout.splitlines()


class Packages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cellgate-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_the_strict_compiler_takes_the_packages(self):
        tools = 0
        for server in SERVERS:
            report = generate(server, tools_of(server), self.folder, "typescript")
            self.assertEqual(report["skipped"], [])
            tools += len(report["modules"])
        self.assertGreater(tools, 90)
        self.assertEqual(compile_errors(self.folder), [])

    def test_no_text_of_a_server_becomes_code(self):
        report = generate("evil\"; */ throw 4", [HOSTILE, *LISTING], self.folder, "typescript")
        self.assertEqual(report["skipped"], [])
        self.assertEqual(compile_errors(self.folder), [])
        text = "".join(path.read_text() for path in pathlib.Path(self.folder).rglob("*.ts"))
        self.assertNotIn("\u202e", text)
        self.assertNotIn("\u2028", text)
        main = pathlib.Path(self.folder, "main.mts")
        main.write_text(f'await import("./mcptools/{report["package"]}/index.ts");'
                        f'await import("./mcptools/{report["package"]}/resources.ts"); console.log("alive");')
        done = subprocess.run([str(PROGRAMS / "node"), str(main)], capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout, "alive\n", done.stderr)

    def test_the_compiler_tells_right_uses_from_wrong_ones(self):
        for server in SERVERS:
            generate(server, tools_of(server), self.folder, "typescript")
        uses = {
            'await readTextFile({ path: "x", head: 3 })': True,
            '(await readTextFile({ path: "x" })).content.toUpperCase()': True,
            'await editFile({ path: "x", edits: [{ oldText: "a", newText: "b" }] as const, dryRun: true })': True,
            'await listDirectoryWithSizes({ path: "x", sortBy: "size" }, { signal: new AbortController().signal })': True,
            '(await echo({ message: "x" })).text.toUpperCase()': True,
            '(await getStructuredContent({ location: "New York" })).temperature.toFixed()': True,
            "await readTextFile({})": False,
            "await readTextFile({ path: 1 })": False,
            'await readTextFile({ pth: "x" })': False,
            '(await echo({ message: "x" })).content.toUpperCase()': False,
            'await editFile({ path: "x", edits: ["a"] })': False,
            'await listDirectoryWithSizes({ path: "x", sortBy: "colour" })': False,
        }
        lines = ['import { readTextFile, editFile, listDirectoryWithSizes } from "./mcptools/server_filesystem/index.ts";',
                 'import { echo, getStructuredContent } from "./mcptools/server_everything/index.ts";']
        first = len(lines) + 1
        pathlib.Path(self.folder, "main.ts").write_text("\n".join([*lines, *(f"{use};" for use in uses), ""]))
        errors = compile_errors(self.folder, "dom")
        wrong = {int(error.split("(")[1].split(",")[0]) for error in errors if error.startswith("main.ts(")}
        for line, (use, is_right) in enumerate(uses.items(), first):
            with self.subTest(use=use):
                self.assertEqual(line not in wrong, is_right, errors)

    def test_another_server_s_package_stays_and_so_does_the_one_in_python(self):
        generate("a-b", [LISTING[0]], self.folder)
        generate("a-b", [LISTING[0], LISTING[2]], self.folder, "typescript")
        generate("a-b", [LISTING[0]], self.folder, "typescript")
        names = sorted(os.listdir(os.path.join(self.folder, "mcptools", "a_b")))
        self.assertEqual(names, ["__init__.py", "index.ts", "resources.py", "resources.ts", "resources_read.py",
                                 "resources_read.ts"])
        with self.assertRaises(subprocess.CalledProcessError):
            generate("a_b", [LISTING[0]], self.folder, "typescript")


class Calls(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cellgate-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.channel = FakeChannel(lambda params: self.answer(params))
        self.addCleanup(self.channel.close)
        for server in ("server-filesystem", "server-everything"):
            generate(server, tools_of(server), self.folder, "typescript")

    def run_program(self, text):
        main = pathlib.Path(self.folder, "main.mts")
        main.write_text('import { readTextFile, writeFile } from "./mcptools/server_filesystem/index.ts";\n'
                        'import { echo } from "./mcptools/server_everything/echo.ts";\n'
                        'import * as mcptools from "./mcptools/_runtime.ts";\n' + text)
        done = subprocess.run([str(PROGRAMS / "node"), str(main)], capture_output=True, text=True, timeout=60, check=False,
                              env={**os.environ, "CELLGATE_CHANNEL": self.channel.path})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split("\n")[:-1]

    def test_a_call_carries_what_was_written_and_returns_what_was_answered(self):
        def answer(params):
            if params["server"] == "server-everything":
                return {"content": [{"type": "text", "text": "é"}, {"type": "image", "data": "AA==", "mimeType": "image/png"},
                                    {"type": "resource", "resource": {"uri": "x:", "text": "inside"}}]}
            return {"content": [{"type": "text", "text": "{}"}], "structuredContent": {"content": params["arguments"]["path"]}}

        self.answer = answer
        printed = self.run_program('''
const read = await readTextFile({ path: "ä\\n\\u2028", head: 3 });
console.log(JSON.stringify(read), mcptools.contentOf(read).length);
const said = await echo({ message: "x" });
console.log(`${said}`.split("\\n").join("|"), said.content.length);
console.log(JSON.stringify(said[Symbol.for("Jupyter.display")]()));
const many = await Promise.all(Array.from({ length: 50 }, (_, n) => readTextFile({ path: String(n) })));
console.log(many.map((each) => each.content).join());
''')
        self.assertEqual(self.channel.requests[0], {"server": "server-filesystem", "tool": "read_text_file",
                                                    "arguments": {"path": "ä\n\u2028", "head": 3}})
        self.assertEqual(json.loads(printed[0].rsplit(" ", 1)[0]), {"content": "ä\n\u2028"})
        self.assertEqual(printed[1], "é|inside 3")
        self.assertEqual(json.loads(printed[2]), {"text/plain": "é\ninside", "image/png": "AA=="})
        self.assertEqual(printed[3], ",".join(map(str, range(50))))
        self.assertEqual(self.channel.connections, 1)

    def test_failures_are_errors_of_their_classes(self):
        def answer(params):
            path = params["arguments"].get("path")
            if path == "denied":
                raise Denied("not that one")
            if path == "failed":
                return {**text_result("no such file"), "isError": True}
            if path == "text":
                return text_result("no JSON")
            raise RuntimeError("it ended")

        self.answer = answer
        printed = self.run_program('''
for (const path of ["denied", "failed", "text", "gone"]) {
  try {
    await readTextFile({ path });
  } catch (error) {
    const { name, message, kind, server, tool } = error as mcptools.ToolCallError;
    console.log([name, message, kind, server, tool, error instanceof mcptools.ToolCallError].join(" / "));
  }
}
''')
        self.assertEqual(printed, [
            "ApprovalDenied / not that one / denied / server-filesystem / read_text_file / true",
            "ToolError / server-filesystem.read_text_file: no such file / toolError / server-filesystem / read_text_file / true",
            "ToolError / the tool promised structured content and answered without: no JSON / resultInvalid / server-filesystem"
            " / read_text_file / true",
            "ToolConnectionError / server-filesystem.read_text_file: it ended (restart it) / toolServerFailed / server-filesystem"
            " / read_text_file / true",
        ])

    def test_a_signal_gives_a_call_up(self):
        def answer(params):
            if params["arguments"]["path"] == "slow":
                self.channel.wait_for(lambda: self.channel.cancelled)
            return {"content": [], "structuredContent": {"content": "done"}}

        self.answer = answer
        printed = self.run_program('''
const controller = new AbortController();
const slow = readTextFile({ path: "slow" }, { signal: controller.signal });
setTimeout(() => controller.abort(new Error("enough")), 50);
console.log(await slow.catch((error) => error.message));
console.log((await readTextFile({ path: "fast" })).content);
console.log(await readTextFile({ path: "late" }, { signal: controller.signal }).catch((error) => error.message));
''')
        self.assertEqual(printed, ["enough", "done", "enough"])
        self.assertEqual([request["arguments"]["path"] for request in self.channel.requests], ["slow", "fast"])

    def test_a_lost_connection_is_an_error_and_the_next_call_makes_another(self):
        def answer(params):
            if params["arguments"]["path"] == "lost":
                self.channel.drop_connections()
            return {"content": [], "structuredContent": {"content": "done"}}

        self.answer = answer
        printed = self.run_program('''
console.log(await readTextFile({ path: "lost" }).catch((error) => error.name + " " + error.kind));
console.log((await readTextFile({ path: "again" })).content);
''')
        self.assertEqual(printed, ["ToolConnectionError channelClosed", "done"])

    def test_outside_a_kernel_the_error_says_what_to_do(self):
        self.answer = lambda params: text_result("never")
        printed = self.run_program('''
delete process.env["CELLGATE_CHANNEL"];
console.log(await writeFile({ path: "a", content: "b" }).catch((error) => error.message));
''')
        self.assertIn("cellgate run FILE", printed[0])


if __name__ == "__main__":
    unittest.main()
