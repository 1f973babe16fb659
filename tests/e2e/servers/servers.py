"""Thirteen MCP servers of npm, and what is tried with each. `{workspace}` stands for the workspace's path. A call is
(tool, arguments, what its result contains), or with FAILS in front of what the error contains."""

import dataclasses
import subprocess

FAILS = "fails: "
FIRST_COMMIT = """git init -q -b main && git config user.name Ada && git config user.email ada@example.org
    git add notes.txt && git commit -qm 'First words' """
PDF = """%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>endobj
trailer<</Root 1 0 R>>
"""
ADA = {"entities": [{"name": "Ada", "entityType": "programmer", "observations": ["wrote notes"]}]}


@dataclasses.dataclass
class Server:
    script: str  # below node_modules
    cell: str  # its code, which calls tools through the wrappers
    prints: str
    calls: list
    args: list = dataclasses.field(default_factory=list)
    env: dict = dataclasses.field(default_factory=dict)
    prints_in_sandbox: str = ""  # where it is something else


def fill(value, workspace):
    """`value` with the workspace's path in all of its texts."""
    if isinstance(value, str):
        return value.replace("{workspace}", str(workspace))
    if isinstance(value, dict):
        return {name: fill(each, workspace) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [fill(each, workspace) for each in value]
    return value


def prepare(workspace):
    """The files that the calls are about."""
    workspace.write("repository/notes.txt", "one\n")
    subprocess.run(["sh", "-ec", FIRST_COMMIT], cwd=workspace.path / "repository", env=workspace.environment(), check=True)
    workspace.write("repository/notes.txt", "one\ntwo\n")
    workspace.write("eslint.config.mjs", 'export default [{rules: {"no-unused-vars": "error"}}];\n')
    workspace.write("spare.js", "const spare = 1;\n")
    workspace.write("page.pdf", PDF)


SERVERS = {
    "calc": Server(
        script="@coo-quack/calc-mcp/dist/index.js",
        cell="""from mcptools.calc import base, math
print(math.run(expression="2^70"), base.run({"value": "ff", "from": 16, "to": 2}))""",
        prints="1180591620717411303424 {\"input\":\"ff\"",
        calls=[("math", {"action": "statistics", "values": [1, 2, 6]}, '"mean"'),
               ("math", {"expression": "2+"}, FAILS + "Unexpected end")],
    ),
    "code_runner": Server(  # it writes lines that are no messages to stdout
        script="mcp-server-code-runner/dist/cli.js",
        cell="""from mcptools.code_runner import run_code
print(run_code.run(code="echo $((6 * 7))", languageId="shellscript"))""",
        prints="42\n",
        calls=[("run-code", {"code": "exit 3", "languageId": "shellscript"}, FAILS + "Command failed"),
               ("run-code", {"code": "printf %s one two", "languageId": "shellscript"}, "onetwo")],
    ),
    "eslint": Server(
        script="@eslint/mcp/src/mcp-cli.js",
        cell="""from mcptools.eslint import lint_files
print(lint_files.run(filePaths=["{workspace}/spare.js"]).text)""",
        prints="'spare' is assigned a value but never used",
        calls=[("lint-files", {"filePaths": ["{workspace}/eslint.config.mjs"]}, '"errorCount":0'),
               ("lint-files", {"filePaths": ["{workspace}/none.js"]}, FAILS + "none.js")],
    ),
    "everything": Server(
        script="@modelcontextprotocol/server-everything/dist/index.js",
        cell="""from mcptools.everything import get_structured_content, get_sum, prompts, resources
print(get_sum.run(a=2, b=40), get_structured_content.run(location="New York").temperature)
print(len(resources.list.run().resources) > 1, prompts.simple_prompt.run().messages[0].role)""",
        prints="The sum of 2 and 40 is 42. 33\nTrue user",
        calls=[("echo", {"message": "all of it"}, "Echo: all of it"),
               ("resources/read", {"uri": "demo://no/such"}, FAILS + "not found")],
    ),
    "filesystem": Server(
        script="@modelcontextprotocol/server-filesystem/dist/index.js",
        args=["{workspace}"],
        cell="""from mcptools.filesystem import edit_file, read_text_file, write_file
write_file.run(path="{workspace}/new.txt", content="one\\n")
edit_file.run(path="{workspace}/new.txt", edits=[edit_file.Edit(oldText="one", newText="two")])
print(read_text_file.run(path="{workspace}/new.txt").content)""",
        prints="two\n",
        calls=[("list_directory", {"path": "{workspace}"}, "[FILE] spare.js"),
               ("read_text_file", {"path": "/etc/passwd"}, FAILS + "outside allowed directories")],
    ),
    "git": Server(
        script="@cyanheads/git-mcp-server/dist/index.js",
        cell="""from mcptools import ToolError
from mcptools.git import git_add, git_commit, git_log
try:
    git_add.run(path="{workspace}/repository", paths=["notes.txt"])
    git_commit.run(path="{workspace}/repository", message="More words")
except ToolError as error:
    print("Read-only file system" in error.message)
print([commit.subject for commit in git_log.run(path="{workspace}/repository").commits])""",
        prints="['More words', 'First words']",
        prints_in_sandbox="True\n['First words']",  # where .git cannot be changed
        calls=[("git_status", {"path": "{workspace}/repository"}, '"currentBranch": "main"'),
               ("git_status", {"path": "{workspace}/none"}, FAILS + "does not exist")],
    ),
    "gitlab": Server(  # it has many tools, brings more when it is asked to, and reaches no GitLab
        script="@zereight/mcp-gitlab/build/index.js",
        env={"GITLAB_API_URL": "http://127.0.0.1:9/api/v4", "GITLAB_PERSONAL_ACCESS_TOKEN": "none",
             "GITLAB_DISABLE_VERSION_CHECK": "true"},
        cell="""from mcptools.gitlab import discover_tools
print(discover_tools.run(category="wiki"))""",
        prints='"activated":"wiki"',
        calls=[("discover_tools", {}, '"id":"merge_requests"'),
               ("whoami", {}, FAILS + "fetch failed")],
    ),
    "libsql": Server(
        script="mcp-memory-libsql/dist/index.js",
        env={"LIBSQL_URL": "file:{workspace}/memory.db"},
        cell=f"""from mcptools.libsql import create_entities, search_nodes
create_entities.run({ADA})
print(search_nodes.run(query="notes"))""",
        prints='"name": "Ada"',
        calls=[("read_graph", {}, "wrote notes"),
               ("delete_entity", {"name": "Grace"}, FAILS + "Entity not found")],
    ),
    "memory": Server(
        script="@modelcontextprotocol/server-memory/dist/index.js",
        env={"MEMORY_FILE_PATH": "{workspace}/memory.jsonl"},
        cell=f"""from mcptools.memory import create_entities, search_nodes
create_entities.run({ADA})
print(search_nodes.run(query="Ada").entities[0].observations)""",
        prints="['wrote notes']",
        calls=[("read_graph", {}, "wrote notes"),
               ("add_observations", {"observations": [{"entityName": "Grace", "contents": ["x"]}]}, FAILS + "not found")],
    ),
    "pdf": Server(
        script="@modelcontextprotocol/server-pdf/dist/index.js",
        args=["--stdio", "{workspace}/page.pdf"],
        cell="""import base64
from mcptools.pdf import display_pdf, read_pdf_bytes
part = read_pdf_bytes.run(url="{workspace}/page.pdf", byteCount=8)
print(base64.b64decode(part.bytes), part.hasMore)""",
        prints="b'%PDF-1.4' True",
        calls=[("list_pdfs", {}, "page.pdf"),
               ("display_pdf", {"url": "/etc/none.pdf"}, FAILS + "not in allowed list")],
    ),
    "playwright": Server(
        script="@playwright/mcp/cli.js",
        # Chromium makes no sandbox of its own as root, nor inside cellgate's.
        args=["--headless", "--isolated", "--no-sandbox", "--executable-path", "/usr/bin/chromium"],
        cell="""from mcptools.playwright import browser_evaluate, browser_navigate, browser_snapshot
browser_navigate.run(url="data:text/html,<title>A page</title><p>seen by it")
print(browser_snapshot.run())
print(browser_evaluate.run(function="() => document.title + 6 * 7"))""",
        prints="seen by it",
        calls=[("browser_evaluate", {"function": "() => document.title + 6 * 7"}, "A page42"),
               ("browser_click", {"target": "e99"}, FAILS + "e99")],
    ),
    "sequential_thinking": Server(
        script="@modelcontextprotocol/server-sequential-thinking/dist/index.js",
        cell="""from mcptools.sequential_thinking import sequentialthinking
made = sequentialthinking.run(thought="First", nextThoughtNeeded=True, thoughtNumber=1, totalThoughts=2)
print(made.thoughtHistoryLength, made.nextThoughtNeeded)""",
        prints="1 True",
        calls=[("sequentialthinking", {"thought": "Last", "nextThoughtNeeded": False, "thoughtNumber": 2,
                                       "totalThoughts": 2}, '"thoughtHistoryLength": 2'),
               ("sequentialthinking", {"thought": "Next", "nextThoughtNeeded": False, "thoughtNumber": 3,
                                       "totalThoughts": 2}, '"totalThoughts": 3')],
    ),
    "time": Server(  # it writes a line that is no message to stdout
        script="time-mcp/dist/index.js",
        cell="""from mcptools.time import days_in_month
print(days_in_month.run(date="2024-02-10"))""",
        prints="is 29",
        calls=[("convert_time", {"sourceTimezone": "Asia/Shanghai", "targetTimezone": "Europe/London",
                                 "time": "2025-03-23 12:30:00"}, "2025-03-23 04:30:00"),
               ("convert_time", {"sourceTimezone": "No/Where", "targetTimezone": "Europe/London",
                                 "time": "2025-03-23 12:30:00"}, FAILS + "Invalid time zone")],
    ),
}
