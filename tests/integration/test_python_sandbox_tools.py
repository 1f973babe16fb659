"""`cellgate mcp --as python-sandbox`: the documented cases of Python Sandbox Server, with its names, parameters and results."""

import json
import subprocess
import unittest
import uuid

from cellgate_client import CELLGATE
from executions import RpcError
from mcp_testing import McpTest, text_of
from processes import wait_until

BASIC = ("math random datetime json re time calendar uuid collections itertools functools operator bisect heapq copy "
         "dataclasses enum typing string textwrap unicodedata difflib decimal fractions statistics cmath base64 binascii "
         "hashlib hmac secrets html html.parser xml.etree.ElementTree csv configparser urllib.parse abc contextlib types")
SUCCESS = {"success", "execution_id", "result", "stdout", "stderr", "execution_time", "variables", "security_warnings"}


class PythonSandboxTest(McpTest):
    def agent(self, **variables):
        return self.mcp(tools="python-sandbox", environment=self.workspace.environment(**variables))

    def json_of(self, result):
        self.assertFalse(result.get("isError"), result)
        value = json.loads(text_of(result))
        self.assertEqual(result["structuredContent"], value)
        return value

    def execute(self, agent, code, **arguments):
        return self.json_of(agent.call("execute_code", code=code, **arguments))

    def ok(self, agent, code, **arguments):
        result = self.execute(agent, code, **arguments)
        self.assertIs(result["success"], True, result)
        self.assertEqual(set(result), SUCCESS)
        self.assertEqual(uuid.UUID(result["execution_id"]).version, 4)
        return result

    def failed(self, agent, code, category, **arguments):
        result = self.execute(agent, code, **arguments)
        self.assertEqual((result["success"], result["error_category"]), (False, category), result)
        return result


class Tools(PythonSandboxTest):
    def test_it_offers_exactly_its_tools_and_an_unknown_parameter_is_an_error(self):
        agent = self.agent()
        tools = {tool["name"]: tool for tool in agent.request("tools/list")["tools"]}
        self.assertEqual(set(tools), {"execute_code", "validate_code", "get_sandbox_info", "list_capabilities"})
        self.assertEqual(set(tools["execute_code"]["inputSchema"]["properties"]),
                         {"code", "timeout", "capture_output", "allowed_imports", "use_container", "memory_limit"})
        self.assert_failed(agent.call("execute_code", code="1", profile="x"), "profile")
        self.assert_failed(agent.call("validate_code"), "code")
        with self.assertRaises(RpcError):
            agent.call("execute", code="1")


class Results(PythonSandboxTest):
    def test_the_documented_answer(self):
        result = self.ok(self.agent(), "result = 2 + 2\nprint(f'The answer is: {result}')", timeout=10, capture_output=True)
        self.assertEqual((result["result"], result["stdout"], result["stderr"], result["variables"],
                          result["security_warnings"]), (4, "The answer is: 4\n", "", ["result"], None))
        self.assertGreater(result["execution_time"], 0)

    def test_the_value_is_that_of_the_last_expression_or_of_result_or_output(self):
        agent = self.agent()
        for code, value, stdout in (("1 + 1", 2, "2"), ("x = 5\nx * 2", 10, "10"), ("print('a')\n'b'", "b", "a\n'b'"),
                                    ("output = {'a': (1, 2.5, None)}", {"a": [1, 2.5, None]}, ""),
                                    ("result = 1\noutput = 2", 1, ""), ("print(3)", None, "3\n"), ("x = 3", None, "")):
            with self.subTest(code):
                result = self.ok(agent, code)
                self.assertEqual((result["result"], result["stdout"]), (value, stdout))

    def test_a_value_that_json_does_not_have_is_text_and_a_large_one_is_cut(self):
        agent = self.agent()
        code = ("from decimal import Decimal\nclass Bad:\n    def __str__(self): raise KeyError(1)\n"
                "result = [Decimal('1.5'), float('inf'), {1, 1}, 'x' * 3000, {2: 3}, 2 ** 70, list(range(500))]")
        result = self.ok(agent, code)
        value = result["result"]
        self.assertEqual(value[:3], ["1.5", "inf", "{1}"])
        self.assertEqual((len(value[3]), value[4], value[5]), (3000, {"2": 3}, 2 ** 70))
        self.assertEqual(value[6], list(range(100)))
        self.assertEqual(result["variables"], ["Decimal", "Bad", "result"])
        self.assertEqual(self.ok(agent, "result = 'x' * 2_000_000")["result"], "x" * 1000)
        bad = self.ok(agent, "class Bad:\n    def __str__(self): raise KeyError(1)\nresult = Bad()")
        self.assertEqual(bad["result"], "<Bad that fails with KeyError>")

    def test_code_that_takes_names_away_still_gets_its_value(self):
        result = self.ok(self.agent(), "str = len = print = json = 5\nresult = [str]")
        self.assertEqual((result["result"], result["variables"]), ([5], ["str", "len", "print", "json", "result"]))

    def test_streams_apart_and_none_where_they_are_not_wanted(self):
        agent = self.agent(SANDBOX_ALLOWED_IMPORTS="sys")
        code = "import sys\nprint('one')\nprint('two', file=sys.stderr)\n7"
        result = self.ok(agent, code)
        self.assertEqual((result["stdout"], result["stderr"]), ("one\n7", "two\n"))
        without = self.ok(agent, code, capture_output=False)
        self.assertEqual((without["stdout"], without["stderr"], without["result"]), ("", "", 7))

    def test_each_call_has_fresh_variables_and_leaves_no_session(self):
        agent, editor = self.agent(), self.editor()
        first = self.ok(agent, "x = 1")
        self.assertIn("NameError", self.failed(agent, "x", "runtime")["traceback"])
        self.assertNotEqual(first["execution_id"], self.ok(agent, "2")["execution_id"])
        for snippet in ("1", "raise ValueError", "import os"):  # a batch, some of which fail
            self.execute(agent, snippet)
        self.assertEqual(editor.request("session/list")["sessions"], [])

    def test_calls_at_the_same_time_do_not_meet(self):
        agent = self.agent()
        calls = [agent.start_call("execute_code", code=f"x = {number}\nx * 10") for number in range(3)]
        self.assertEqual([self.json_of(agent.answer(call))["result"] for call in calls], [0, 10, 20])

    def test_the_use_cases_of_its_manual(self):
        agent = self.agent()
        for code, value in (
                ("def fibonacci(n):\n    if n <= 1:\n        return n\n    return fibonacci(n-1) + fibonacci(n-2)\n\n"
                 "result = [fibonacci(i) for i in range(10)]\nprint('Fibonacci sequence:', result)",
                 [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]),
                ("import statistics\ndata = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\nresult = {'mean': statistics.mean(data), "
                 "'median': statistics.median(data)}", {"mean": 5.5, "median": 5.5}),
                ("def bubble_sort(arr):\n    n = len(arr)\n    for i in range(n):\n        for j in range(0, n-i-1):\n"
                 "            if arr[j] > arr[j+1]:\n                arr[j], arr[j+1] = arr[j+1], arr[j]\n    return arr\n"
                 "result = bubble_sort([64, 34, 25, 12, 22, 11, 90])", [11, 12, 22, 25, 34, 64, 90]),
                ("import math\nresult = round(4 * sum((-1) ** i / (2 * i + 1) for i in range(1000)), 3)", 3.141)):
            with self.subTest(code[:30]):
                self.assertEqual(self.ok(agent, code)["result"], value)


class Failures(PythonSandboxTest):
    def test_an_error_of_the_code_has_its_traceback_and_what_was_printed(self):
        agent = self.agent()
        result = self.failed(agent, "print('before')\n1 / 0", "runtime")
        self.assertEqual((result["error"], result["stdout"], result["stderr"]), ("division by zero", "before\n", ""))
        self.assertIn("ZeroDivisionError", result["traceback"])
        self.assertNotIn("\x1b", result["traceback"])
        self.assertEqual(self.failed(agent, "assert False", "runtime")["error"], "AssertionError")

    def test_code_that_takes_too_long(self):
        result = self.failed(self.agent(), "print('begun')\nwhile True: pass", "timeout", timeout=1)
        self.assertEqual((result["error"], result["timeout"], result["stdout"]), ("Execution timeout", 1, "begun\n"))
        uuid.UUID(result["execution_id"])

    def test_empty_and_large_code(self):
        agent = self.agent()
        for code in ("", " \n\t"):
            self.assertEqual(self.failed(agent, code, "request")["error"], "Empty code provided")
        self.assertEqual(self.failed(agent, "#" + "é" * 100_000, "request")["error"], "Code too large (max 100KB)")
        self.ok(agent, "#" + "é" * 99_999)  # the control

    def test_syntax(self):
        result = self.failed(self.agent(), "x = 1\nif x\n    pass", "syntax")
        self.assertIn("Syntax error: expected ':' (line 2)", result["error"])
        self.assertEqual(result["validation_errors"], ["Line 2: expected ':'"])

    def test_an_import_that_is_not_allowed_runs_nothing(self):
        marker = self.workspace.path / "ran"
        code = f"open({str(marker)!r}, 'w').close()\nimport pathlib"
        result = self.failed(self.agent(), code, "security")
        self.assertEqual(result["security_event"], "blocked_import")
        self.assertEqual(result["security_warnings"], ["Blocked import attempt: pathlib"])
        self.assertIn("Import of 'pathlib' is not allowed in sandbox", result["error"])
        self.assertIn("SANDBOX_ENABLE_FILESYSTEM=true", result["error"])
        self.assertFalse(marker.exists())
        self.ok(self.agent(SANDBOX_ENABLE_FILESYSTEM="true"), code)  # the control
        self.assertTrue(marker.exists())

    def test_patterns_that_reach_further_than_they_look(self):
        agent = self.agent()
        for code in ("().__class__.__base__.__subclasses__()", "eval('1')", "import uuid\nuuid.os.popen('id')"):
            with self.subTest(code):
                self.assertEqual(self.failed(agent, code, "security")["error"], "Code failed security validation")

    def test_memory(self):
        agent = self.agent()
        code = "x = bytearray(600 * 2 ** 20)\nresult = len(x)"
        self.failed(agent, code, "resource", memory_limit="512m")
        self.assertEqual(self.ok(agent, code, memory_limit="1g")["result"], 600 * 2 ** 20)  # the control
        self.failed(self.agent(SANDBOX_DEFAULT_MEMORY_LIMIT="512m"), code, "resource")
        for limit in ("much", "1.5g", ""):
            self.assertIn("memory_limit", self.failed(agent, "1", "request", memory_limit=limit)["error"])
        self.assertIn("memory_limit, in bytes: ", self.failed(agent, "1", "request", memory_limit="9g")["error"])  # more than an agent's

    def test_a_container_is_an_error_that_says_what_to_do(self):
        agent = self.agent()
        self.assertIn("leave it out", self.failed(agent, "1", "request", use_container=True)["error"])
        self.ok(agent, "1", use_container=False)

    def test_a_connection_that_no_user_allows_is_reported(self):
        agent = self.agent(SANDBOX_ENABLE_NETWORK="true")
        result = self.failed(agent, "import urllib.request\nurllib.request.urlopen('http://example.org/')", "runtime")
        self.assertIn("Blocked operation", result["security_warnings"][0])

    def test_a_cancelled_call_leaves_no_session(self):
        agent, editor = self.agent(), self.editor()
        call = agent.start_call("execute_code", code="while True: pass")
        wait_until(lambda: any(each["status"] == "busy" for each in editor.request("session/list")["sessions"]),
                   "the code to run")
        agent.notify("notifications/cancelled", {"requestId": call})
        wait_until(lambda: not editor.request("session/list")["sessions"], "the session to end")


class Imports(PythonSandboxTest):
    def test_a_call_can_allow_fewer_and_not_more(self):
        agent = self.agent()
        self.ok(agent, "import math\nresult = math.pi", allowed_imports=["math"])
        self.ok(agent, "import xml.etree.ElementTree", allowed_imports=["xml.etree.ElementTree"])
        narrowed = self.failed(agent, "import json", "security", allowed_imports=["math"])["error"]
        self.assertIn("Import of 'json'", narrowed)
        self.assertIn("not in this call's allowed_imports", narrowed)
        self.assertNotIn("SANDBOX_", narrowed)
        self.ok(agent, "import json", allowed_imports=[])  # the control: all that the server offers
        refused = self.failed(agent, "import os", "request", allowed_imports=["os"])["error"]
        self.assertIn("os is not offered", refused)
        self.assertIn("SANDBOX_ALLOWED_IMPORTS", refused)

    def test_a_list_of_ones_own_replaces_all(self):
        agent = self.agent(SANDBOX_ALLOWED_IMPORTS="os, json", SANDBOX_ENABLE_FILESYSTEM="true")
        self.ok(agent, "import os, json\nresult = os.getpid()")
        for module in ("math", "pathlib"):
            self.failed(agent, f"import {module}", "security")

    def test_a_user_s_own_profile_holds_too(self):
        config = self.workspace.home / ".config/cellgate"
        config.mkdir(parents=True)
        profiles = {"default": "narrow", "profiles": {"narrow": {"modules": ["json"], "validation": "strict"}}}
        (config / "profiles.json").write_text(json.dumps(profiles))
        agent = self.agent()
        allowed = self.ok(agent, "import json\nresult = json.dumps(1)\nprint(result)")
        self.assertEqual((allowed["stdout"], allowed["result"]), ("1\n", None))
        self.assertIn("result and variables are not known", allowed["security_warnings"][0])
        self.assertIn("narrow", self.failed(agent, "import math", "request")["error"])


class Validation(PythonSandboxTest):
    def validate(self, code, **variables):
        return self.json_of(self.agent(**variables).call("validate_code", code=code))

    def test_plain_code(self):
        result = self.validate("import math\nprint(math.pi)")
        self.assertEqual(result["validation"], {"valid": True, "errors": [], "message": "Code passed validation"})
        self.assertEqual((result["valid"], result["message"]), (True, "Code passed validation"))
        self.assertEqual(result["analysis"], {"line_count": 2, "character_count": 26, "estimated_complexity": "low",
                                              "cyclomatic_complexity": 1})
        self.assertEqual(result["recommendations"], [])

    def test_the_documented_refusal(self):
        result = self.validate("import os\nos.system('rm -rf /')")
        self.assertEqual(result["validation"]["message"], "Code contains restricted operations")
        self.assertIn("Line 1: Import 'os' is not allowed", result["validation"]["errors"])
        self.assertIn("Line 2: os.system runs a shell", result["security_issues"])
        self.assertIs(result["valid"], False)
        self.assertIn("SANDBOX_ALLOWED_IMPORTS", result["recommendations"][0])

    def test_syntax_has_its_place(self):
        result = self.validate("x = 1\nif x\n    pass")
        self.assertEqual((result["valid"], result["line"], result["offset"], result["text"]), (False, 2, 5, "if x"))
        self.assertEqual(result["error"], "Syntax error: expected ':'")
        self.assertEqual(result["analysis"]["estimated_complexity"], "unknown")
        self.assertEqual(result["recommendations"], ['Line 2: insert ":"'])

    def test_warnings_do_not_refuse(self):
        result = self.validate("open('x')")
        self.assertIs(result["valid"], True)
        self.assertEqual(result["warnings"], ["Line 1: the code opens a file"])

    def test_complexity_counts_decisions_and_not_words(self):
        def complexity(code):
            analysis = self.json_of(agent.call("validate_code", code=code))["analysis"]
            return analysis["cyclomatic_complexity"], analysis["estimated_complexity"]
        agent = self.agent()
        for code, count in (("'for while if nested recursive lambda'", 1), ("if a: pass\nelif b: pass", 3),
                            ("a and b and c or d", 4), ("[x for x in y if x if z]", 4), ("x = 1 if y else 2", 2),
                            ("try: pass\nexcept A: pass\nexcept B: pass", 3), ("while a:\n    for b in c: assert b", 4),
                            ("match a:\n    case 1: pass\n    case 2: pass", 3)):
            with self.subTest(code):
                self.assertEqual(complexity(code)[0], count)
        for decisions, grade in ((9, "low"), (10, "medium"), (19, "medium"), (20, "high")):
            self.assertEqual(complexity("if a: pass\n" * decisions), (decisions + 1, grade))


class Information(PythonSandboxTest):
    def test_the_sandbox(self):
        agent, editor = self.agent(SANDBOX_ENABLE_DATA_SCIENCE="true", SANDBOX_TIMEOUT="20"), self.editor()
        info = self.json_of(agent.call("get_sandbox_info"))
        self.assertEqual(info["allowed_imports"]["safe_stdlib"], BASIC.split())
        self.assertEqual(len(info["allowed_imports"]["data_science"]), 9)
        self.assertEqual(info["allowed_imports"]["network"], [])
        self.assertEqual(info["total_allowed_modules"], 49)
        self.assertEqual(info["security_capabilities"],
                         {"network_enabled": False, "filesystem_enabled": False, "data_science_enabled": True})
        self.assertEqual((info["timeout_seconds"], info["max_output_size"]), (20, 1048576))
        self.assertEqual({name: each["enabled"] for name, each in info["profiles"].items()},
                         {"basic": True, "data_science": True, "network": False, "filesystem": False})
        self.assertEqual(info["resource_limits"]["timeout"], 20)
        self.assertRegex(info["resource_limits"]["memory_limit"], r"^\d+m$")
        self.assertEqual(info["container_mode"], {"available": False, "enabled": False})
        self.assertIn("seccomp", info["isolation"])
        self.assertIn("print", info["safe_builtins"])
        self.assertEqual(editor.request("session/list")["sessions"], [])

    def test_capabilities(self):
        found = self.json_of(self.agent(SANDBOX_MAX_TIMEOUT="60", SANDBOX_DEFAULT_MEMORY_LIMIT="512m").call("list_capabilities"))
        self.assertEqual(found["limits"], {"default_timeout": 30, "max_timeout": 60, "default_memory_limit": "512m",
                                           "max_output_size": 1048576})
        self.assertEqual(found["safe_modules"], BASIC.split())
        self.assertIn("bwrap", found["security_features"])
        self.assertEqual((found["container_runtime_available"], found["container_mode_enabled"],
                          found["restricted_python_available"]), (False, False, False))

    def test_custom_modules_are_listed(self):
        info = self.json_of(self.agent(SANDBOX_ALLOWED_IMPORTS="os,math").call("get_sandbox_info"))
        self.assertEqual({name: each for name, each in info["allowed_imports"].items() if each},
                         {"safe_stdlib": ["math"], "custom": ["os"]})


class Variables(PythonSandboxTest):
    def test_the_timeout_of_executions_that_name_none(self):
        for names in ({"SANDBOX_TIMEOUT": "0.7"}, {"SANDBOX_DEFAULT_TIMEOUT": "0.7", "SANDBOX_TIMEOUT": "1000"},
                      {"SANDBOX_MAX_TIMEOUT": "0.7"}):
            with self.subTest(names):
                self.failed(self.agent(**names), "while True: pass", "timeout")

    def test_the_longest_timeout_and_what_nobody_can_widen(self):
        agent = self.agent(SANDBOX_MAX_TIMEOUT="20", SANDBOX_DEFAULT_TIMEOUT="0.7")
        self.assertIn("SANDBOX_MAX_TIMEOUT", self.failed(agent, "1", "request", timeout=21)["error"])
        self.ok(agent, "import time\ntime.sleep(1.5)", timeout=20)  # the control
        wide = self.agent(SANDBOX_MAX_TIMEOUT="100000")
        self.assertIn("timeout: expected at most 300", self.failed(wide, "1", "request", timeout=301)["error"])

    def test_the_most_output_of_a_result(self):
        result = self.ok(self.agent(SANDBOX_MAX_OUTPUT_SIZE="40"), "print('ä' * 100)")
        self.assertEqual(result["stdout"], "ä" * 40 + "\n[Output truncated]")
        self.assertEqual(self.ok(self.agent(), "print('ä' * 100)")["stdout"], "ä" * 100 + "\n")  # the control

    def test_what_cannot_be_read_starts_nothing_and_other_tools_do_not_read_them(self):
        def start(tools, **variables):
            return subprocess.run([CELLGATE, "mcp", "--root", self.workspace.path, "--as", tools], text=True,
                                  capture_output=True, stdin=subprocess.DEVNULL,
                                  env=self.workspace.environment(**variables))
        for name, value, told in (("SANDBOX_TIMEOUT", "30s", "number"), ("SANDBOX_TIMOUT", "30", "Did you mean SANDBOX_TIMEOUT"),
                                  ("SANDBOX_ENABLE_NETWORK", "yes", "true or false"),
                                  ("SANDBOX_CONTAINER_IMAGE", "python:3.11", "cellgate run --image"),
                                  ("SANDBOX_API_TOKEN", "x" * 32, "--token-file"),
                                  ("SANDBOX_ENABLE_CONTAINER_MODE", "true", "cellgate run --image")):
            with self.subTest(name):
                ended = start("python-sandbox", **{name: value})
                self.assertNotEqual(ended.returncode, 0)
                self.assertIn(name, ended.stderr)
                self.assertIn(told, ended.stderr)
                self.assertEqual(start("all", **{name: value}).returncode, 0)
        self.assertNotIn("SANDBOX_CONTAINER_IMAGE", start("python-sandbox", SANDBOX_CONTAINERIMAGE="x").stderr)
        harmless = start("python-sandbox", SANDBOX_RUNTIME="1", SANDBOX_CONTAINER_IMAGE="python-sandbox:latest")
        self.assertEqual(harmless.returncode, 0, harmless.stderr)


if __name__ == "__main__":
    unittest.main()
