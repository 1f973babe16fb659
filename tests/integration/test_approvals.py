"""A cell calls a tool, a user is asked, and the answer decides: what is asked, what an answer covers."""

import unittest

from cellgate_client import SharedSidecarTest, arguments_of
from executions import RpcError
from processes import wait_until
from tools_testing import ECHO, ToolsTest, fixture_server, text_of



def whole(display):
    """The lines without what the sidecar breaks them with."""
    return "\n".join(display).replace("\n↳ ", "")


class Asking(ToolsTest):
    def test_the_main_job(self):
        execution = self.cellgate.execute(ECHO + "\nanswer = tool_1.run(s='hello')\nprint(answer)", cell=self.CELL)
        approval = self.cellgate.approval()
        self.assertFalse(execution.pending.done)
        action = approval["action"]
        self.assertEqual((action["kind"], action["server"], action["tool"], arguments_of(approval)),
                         ("tool", "fix", "tool-1", {"s": "hello"}))
        self.assertTrue(action["serverIdentity"] and action["toolIdentity"])
        self.assertEqual((approval["sessionId"], approval["executionId"]), ("default", execution.id))
        self.assertEqual(approval["origin"], {"uri": self.CELL["uri"], "line": 12, "reportedBy": "code",
                                              "text": "answer = tool_1.run(s='hello')"})
        shown = "\n".join(approval["display"])
        for word in ("tool-1", "fix", "hello"):
            self.assertIn(word, shown)
        self.assertEqual(approval["choices"][0]["scope"], "once")
        self.assertNotIn("rule", approval["choices"][0])
        self.assertEqual(self.cellgate.waiting(), [approval])

        self.assertEqual(self.cellgate.allow(approval), {})
        result = execution.result()
        self.assertEqual(result["status"], "ok", execution.outputs())
        self.assertIn("You passed to tool 1: hello", execution.text())
        self.assertGreater(result["waitedSeconds"], 0)
        self.assertGreaterEqual(result["durationSeconds"], result["waitedSeconds"])
        resolved = self.cellgate.resolved(approval)
        self.assertEqual((resolved["decision"], resolved["by"]), ("allow", "user"))

    def test_a_no_reaches_the_code_with_its_reason_and_nothing_of_ours(self):
        execution = self.cellgate.execute(ECHO + "def ask():\n    return tool_1.run(s='x')\nask()", cell=self.CELL)
        approval = self.cellgate.approval()
        self.cellgate.deny(approval, reason="not on a Friday")
        error = self.assert_denied(execution, "not on a Friday")
        self.assertEqual([(f["uri"], f["line"], f["function"]) for f in error["frames"]],
                         [(self.CELL["uri"], 13, "<module>"), (self.CELL["uri"], 12, "ask")])
        resolved = self.cellgate.resolved(approval)
        self.assertEqual((resolved["decision"], resolved["by"], resolved["reason"]),
                         ("deny", "user", "not on a Friday"))

    def test_the_code_may_catch_a_no_and_go_on(self):
        execution = self.cellgate.execute(
            ECHO + "from mcptools import ApprovalDenied\ntry:\n    tool_1.run(s='x')\nexcept ApprovalDenied as no:\n"
                   "    print('caught', no)")
        self.cellgate.deny(self.cellgate.approval(), reason="because")
        execution.result()
        self.assertIn("caught because", execution.text())

    def test_ipybox_users_write_it_their_way(self):
        execution = self.cellgate.execute("from mcptools.fix.tool_3 import Params, run\n"
                                          "r = run(Params(name='ab', level=2))\n"
                                          "print(r.status, r.count, r.inner.code)")
        approval = self.cellgate.approval()
        self.assertEqual(arguments_of(approval), {"name": "ab", "level": 2})
        self.cellgate.allow(approval)
        execution.result()
        self.assertEqual(execution.text(), "completed_ab 2 200\n", execution.outputs())

    def test_two_tools_in_a_cell_are_two_questions_with_output_between(self):
        execution = self.cellgate.execute("from mcptools.fix import tool_1, tool_2\nprint('a', flush=True)\n"
                                          "tool_1.run(s='1')\n"
                                          "print('b', flush=True)\ntool_2.run(s='2')\nprint('c')")
        first = self.cellgate.approval()
        self.assertEqual(execution.wait_for_text("a\n").text(), "a\n")
        self.cellgate.allow(first)
        second = self.cellgate.approval()
        self.assertEqual([a["action"]["tool"] for a in (first, second)], ["tool-1", "tool_2"])
        self.assertEqual(execution.wait_for_text("b\n").text(), "a\nb\n")
        self.cellgate.allow(second)
        self.assertEqual(execution.result()["status"], "ok")
        self.assertEqual(execution.text(), "a\nb\nc\n")

    def test_what_certainly_does_not_fit_asks_nobody(self):
        asked = self.cellgate.asked()
        for call in ("tool_1.run(s=5)", "tool_1.run({})", "tool_1.run({'s': None})"):
            with self.subTest(call):
                self.assertEqual(self.cellgate.run(ECHO + call).result()["status"], "error")
        self.assert_error(1020, self.cellgate.request, "tools/call",
                          {"server": "fix", "tool": "tool-1", "arguments": {"s": 5}})
        self.assert_error(1020, self.cellgate.request, "tools/call",
                          {"server": "fix", "tool": "tool-1", "arguments": {}})
        self.assert_error(1019, self.cellgate.request, "tools/call",
                          {"server": "fix", "tool": "tool_1", "arguments": {"s": ""}})
        self.assert_error(1017, self.cellgate.request, "tools/call",
                          {"server": "fax", "tool": "tool-1", "arguments": {"s": ""}})
        self.assertEqual(self.cellgate.asked(), asked)

    def test_what_is_shown_hides_nothing(self):
        text = "a\u202eb\u200bc\x1b[2Jd\ne\\n"
        execution = self.cellgate.execute(ECHO + f"print(tool_1.run(s={text!r}))")
        approval = self.cellgate.approval()
        shown = "".join(approval["display"])
        for hidden in ("202e", "200b", "1b"):
            self.assertIn(hidden, shown.lower())
        self.assertEqual(arguments_of(approval), {"s": text})
        self.cellgate.allow(approval)
        self.assertEqual(execution.result()["status"], "ok")
        self.assertIn(text, execution.text())

    def test_a_long_payload_is_shown_to_its_end(self):
        text = "x" * 100_000 + "THE END"
        execution = self.cellgate.execute(ECHO + "tool_1.run(s='x' * 100_000 + 'THE END')")
        approval = self.cellgate.approval()
        self.assertIn(text, whole(approval["display"]))
        self.assertLess(max(map(len, approval["display"])), 80)
        self.cellgate.deny(approval)
        execution.result()

    def test_padding_does_not_move_text_to_where_our_lines_begin(self):
        attack = "x" + " " * 300 + "Allow this call? [y/n]"
        execution = self.cellgate.execute(ECHO + f"tool_1.run(s={attack!r})")
        approval = self.cellgate.approval()
        self.assertIn(attack, whole(approval["display"]))
        for line in approval["display"]:
            self.assertLess(len(line), 80)
            self.assertFalse(line.lstrip().startswith("Allow"), line)
        self.cellgate.deny(approval)
        execution.result()
        # Control: in one line, a terminal of 80 columns would begin a row with these words.
        self.assertTrue(('s: "' + attack)[240:].lstrip().startswith("Allow"))

    def test_what_a_cell_that_asks_nobody_left_behind_asks_nobody(self):
        later = ("import threading, os\n"
                 "def later():\n"
                 "    while not os.path.exists('call-now'): pass\n"
                 "    try:\n"
                 "        tool_1.run(s='left behind')\n"
                 "    except Exception as error:\n"
                 "        open('answer', 'w').write(type(error).__name__ + ': ' + str(error))\n"
                 "threading.Thread(target=later).start()\n")
        self.addCleanup(lambda: [(self.workspace.path / name).unlink(missing_ok=True)
                                 for name in ("call-now", "answer")])
        asked = self.cellgate.asked()
        self.run_ok(ECHO + later, approvals="deny")
        self.workspace.write("call-now", "")
        answer = self.workspace.path / "answer"
        wait_until(lambda: answer.exists() and answer.read_text(), "the answer to the thread")
        self.assertIn("ApprovalDenied", answer.read_text())
        self.assertEqual(self.cellgate.asked(), asked)
        # Control: the next cell asks, and so does what it leaves behind.
        answer.unlink()
        (self.workspace.path / "call-now").unlink()
        self.run_ok(ECHO + later)
        self.workspace.write("call-now", "")
        self.cellgate.deny(self.cellgate.approval())
        wait_until(lambda: answer.exists() and answer.read_text(), "the answer to the thread")

    def test_a_direct_call_passes_the_same_gate(self):
        result = self.call("fix", "tool-1", {"s": "direct"})
        self.assertIn("You passed to tool 1: direct", text_of(result))
        self.assertNotIn("sessionId", self.approval)
        self.assertNotIn("origin", self.approval)
        error = self.call("fix", "tool-1", {"s": "direct"}, "deny", reason="no more")
        self.assertEqual(error.code, 1014)
        self.assertIn("no more", error.message)

    def test_a_call_that_nobody_waits_for_any_more_is_withdrawn(self):
        pending = self.cellgate.start("tools/call", {"server": "fix", "tool": "tool-1", "arguments": {"s": "x"}})
        approval = self.cellgate.approval()
        self.cellgate.notify("$/cancelRequest", {"id": pending.id})
        with self.assertRaises(RpcError) as caught:
            pending.result()
        self.assertEqual(caught.exception.code, -32800)
        self.assertEqual(self.cellgate.resolved(approval)["by"], "cancelled")
        self.assert_error(1010, self.cellgate.allow, approval)

    def test_a_thread_of_a_cell_that_has_ended_still_asks(self):
        execution = self.run_ok(
            ECHO + "import threading, os\n"
            "def later():\n    while not os.path.exists('call-now'): pass\n"
            "    print(tool_1.run(s='late'), flush=True)\n"
            "threading.Thread(target=later).start()")
        self.workspace.write("call-now", "")
        approval = self.cellgate.approval()
        self.assertNotIn("executionId", approval)
        self.cellgate.allow(approval)
        execution.wait_for_text("You passed to tool 1: late")


class Answers(ToolsTest):
    def test_an_answer_that_comes_too_late_changes_nothing(self):
        execution = self.cellgate.execute(ECHO + "tool_1.run(s='x')")
        approval = self.cellgate.approval()
        self.cellgate.allow(approval)
        self.assert_error(1010, self.cellgate.deny, approval)
        self.assertEqual(execution.result()["status"], "ok")

    def test_several_are_answered_all_or_none(self):
        execution = self.cellgate.execute(
            ECHO + "from concurrent.futures import ThreadPoolExecutor\n"
            "with ThreadPoolExecutor(4) as pool:\n    print(*pool.map(lambda i: tool_1.run(s=str(i)), range(4)))")
        approvals = self.cellgate.approvals(4)
        ids = [approval["approvalId"] for approval in approvals]
        self.assertEqual(sorted(arguments_of(a)["s"] for a in approvals), ["0", "1", "2", "3"])
        self.assert_error(1011, self.cellgate.request, "approval/respond",
                          {"approvalIds": [*ids, "nobody"], "decision": "allow"})
        self.assertEqual(len(self.cellgate.waiting()), 4)
        self.assertFalse(execution.pending.done)
        self.cellgate.request("approval/respond", {"approvalIds": ids, "decision": "allow"})
        self.assertEqual(execution.result()["status"], "ok")
        for i in range(4):
            self.assertIn(f"You passed to tool 1: {i}", execution.text())

    def test_tools_run_at_the_same_time(self):
        # The first to be allowed ends last: neither waits for the other.
        execution = self.cellgate.execute(
            "import asyncio\nfrom mcptools.fix import tool_1\n"
            "print(*await asyncio.gather(*(tool_1.run_async(s=s) for s in 'ab')))")
        first, second = self.cellgate.approvals(2)
        self.cellgate.allow(second)
        self.cellgate.resolved(second)
        self.assertFalse(execution.pending.done)
        self.cellgate.allow(first)
        self.assertEqual(execution.result()["status"], "ok", execution.outputs())

    def test_unknown_approvals_are_said_to_be(self):
        self.assert_error(1011, self.cellgate.request, "approval/respond",
                          {"approvalIds": ["nobody"], "decision": "allow"})

    def test_edited_arguments_run_in_place_of_those_that_were_shown(self):
        execution = self.cellgate.execute(ECHO + "print(tool_1.run(s='mine'))")
        approval = self.cellgate.approval()
        error = self.assert_error(1012, self.cellgate.allow, approval, arguments={"s": 7})
        self.assertIn("s", error.message)
        self.assertEqual(len(self.cellgate.waiting()), 1)
        self.cellgate.allow(approval, arguments={"s": "yours"})
        execution.result()
        self.assertIn("You passed to tool 1: yours", execution.text())
        self.assertNotIn("mine", execution.text())

    def test_an_edit_covers_itself_alone(self):
        execution = self.cellgate.execute(ECHO + "for _ in range(2): print(tool_1.run(s='mine'))")
        self.cellgate.allow(self.cellgate.approval(), arguments={"s": "yours"}, scope="execution")
        # The code's own arguments were never agreed to.
        self.cellgate.deny(self.cellgate.approval(), reason="not these")
        self.assert_denied(execution, "not these")

    def test_a_rule_that_does_not_match_what_it_answers_is_refused(self):
        execution = self.cellgate.execute(ECHO + "tool_1.run(s='x')")
        approval = self.cellgate.approval()
        for rule in ({"effect": "allow", "kind": "tool", "server": "fix", "tool": "tool_2"},
                     {"effect": "allow", "kind": "host"},
                     {"effect": "allow", "kind": "tool", "server": "fix", "arguments": {"/s": {"equals": "y"}}}):
            with self.subTest(rule):
                self.assert_error(1015, self.cellgate.allow, approval, rule=rule, scope="session")
        self.assertEqual(len(self.cellgate.waiting()), 1)
        self.cellgate.allow(approval)
        self.assertEqual(execution.result()["status"], "ok")

    def test_every_choice_that_is_offered_is_accepted(self):
        execution = self.cellgate.execute(ECHO + "tool_1.run(s='x')")
        choices = self.cellgate.approval()["choices"]
        self.cellgate.request("execute/cancel", {"executionId": execution.id})
        execution.result()
        labels = [choice["label"] for choice in choices]
        self.assertEqual(len(set(labels)), len(labels))
        for choice in choices:
            with self.subTest(choice):
                execution = self.cellgate.execute(ECHO + "tool_1.run(s='x')")
                self.cellgate.allow(self.cellgate.approval(), **{k: v for k, v in choice.items() if k != "label"})
                self.assertEqual(execution.result()["status"], "ok")
                self.remove_new_rules()


class Coverage(ToolsTest):
    """What an answer covers, and what it does not."""

    def test_once_is_once(self):
        execution = self.cellgate.execute(ECHO + "for _ in range(2): tool_1.run(s='same')")
        self.cellgate.allow(self.cellgate.approval(), scope="once")
        self.cellgate.allow(self.cellgate.approval())
        self.assertEqual(execution.result()["status"], "ok")

    def test_a_thousand_equal_calls_ask_once(self):
        asked = self.cellgate.asked()
        execution = self.cellgate.execute(ECHO + "for _ in range(1000): answer = tool_1.run(s='same')\nprint(answer)")
        self.cellgate.allow(self.cellgate.approval(), scope="execution")
        self.assertEqual(execution.result(timeout=300)["status"], "ok")
        self.assertIn("You passed to tool 1: same", execution.text())
        self.assertEqual(self.cellgate.asked(), asked + 1)
        # The next cell asks again.
        execution = self.cellgate.execute(ECHO + "tool_1.run(s='same')")
        self.cellgate.deny(self.cellgate.approval())
        self.assert_denied(execution, "")

    def test_another_payload_another_tool_and_another_spelling_ask_again(self):
        execution = self.cellgate.execute(
            "from mcptools.fix import tool_1, tool_2\ntool_1.run(s='same')\ntool_1.run(s='same ')\n"
            "tool_2.run(s='same')\ntool_1.run(s='same')")
        seen = []
        for _ in range(3):
            approval = self.cellgate.approval()
            seen.append((approval["action"]["tool"], arguments_of(approval)["s"]))
            self.cellgate.allow(approval, scope="execution")
        self.assertEqual(execution.result()["status"], "ok")
        self.assertEqual(seen, [("tool-1", "same"), ("tool-1", "same "), ("tool_2", "same")])

    def test_a_session_is_one_session(self):
        code = ECHO + "print(tool_1.run(s='session'))"
        execution = self.cellgate.execute(code)
        self.cellgate.allow(self.cellgate.approval(), scope="session")
        execution.result()
        asked = self.cellgate.asked()
        self.run_ok(code)
        self.assertEqual(self.cellgate.asked(), asked)
        self.cellgate.session("another")
        execution = self.cellgate.execute(code, sessionId="another")
        self.cellgate.deny(self.cellgate.approval())
        self.assert_denied(execution, "")
        self.cellgate.request("session/close", {"sessionId": "another"})

    def test_a_wider_answer_is_a_rule_that_was_shown(self):
        execution = self.cellgate.execute(ECHO + "for i in range(3): print(tool_1.run(s=str(i)))")
        approval = self.cellgate.approval()
        asked = self.cellgate.asked()
        wide = [c for c in approval["choices"] if "rule" in c and "arguments" not in c["rule"]]
        [choice] = [c for c in wide if c["scope"] == "session"]
        self.assertIn("tool-1", choice["label"])
        self.assertEqual(choice["rule"]["tool"], "tool-1")
        self.cellgate.allow(approval, scope="session", rule=choice["rule"])
        self.assertEqual(execution.result()["status"], "ok")
        self.assertEqual(self.cellgate.asked(), asked)
        resolved = self.cellgate.resolved(approval)
        rule = self.rules()[resolved["ruleId"]]
        self.assertEqual((rule["source"], rule["sessionId"], rule["tool"]), ("session", "default", "tool-1"))
        self.cellgate.request("policy/remove", {"ruleId": rule["id"]})
        execution = self.cellgate.execute(ECHO + "tool_1.run(s='again')")
        self.cellgate.deny(self.cellgate.approval())
        execution.result()

    def test_what_waits_is_decided_by_the_rule_that_an_answer_made(self):
        execution = self.cellgate.execute(
            ECHO + "from concurrent.futures import ThreadPoolExecutor\n"
            "with ThreadPoolExecutor(3) as pool:\n    print(*pool.map(lambda i: tool_1.run(s=str(i)), range(3)))")
        first, *others = self.cellgate.approvals(3)
        rule = {"effect": "allow", "kind": "tool", "server": "fix", "tool": "tool-1"}
        self.cellgate.allow(first, scope="execution", rule=rule)
        self.assertEqual(execution.result()["status"], "ok")
        for approval in others:
            self.assertEqual((self.cellgate.resolved(approval)["decision"], self.cellgate.resolved(approval)["by"]),
                             ("allow", "rule"))


class Hostile(ToolsTest):
    """Code that speaks with the channel itself. The next call of honest code works."""

    CONNECT = r"""
import os, socket, json
def connect():
    s = socket.socket(socket.AF_UNIX)
    s.connect(os.environ['CELLGATE_CHANNEL'])
    return s
def call(i, arguments='{}'):
    start = '{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"server":"fix","tool":"raw","arguments":' % i
    return (start + arguments + '}}\n').encode('utf-8', 'surrogateescape')
s = connect()
f = s.makefile('rb')
"""

    def honest_call_works(self):
        execution = self.cellgate.execute(ECHO + "print(tool_1.run(s='honest'))")
        self.cellgate.wait(lambda: any(arguments_of(each) == {"s": "honest"} for each in
                                       self.cellgate.notifications["approval/requested"][self.before:]), "the question")
        [approval] = [each for each in self.cellgate.notifications["approval/requested"][self.before:]
                      if arguments_of(each) == {"s": "honest"}]
        self.cellgate.allow(approval)
        execution.result()
        self.assertIn("honest", execution.text())

    def setUp(self):
        super().setUp()
        self.before = self.cellgate.asked()

    def test_ten_thousand_calls_at_once_are_bounded_and_end_with_their_connection(self):
        execution = self.run_ok(
            self.CONNECT + "s.sendall(b''.join(call(i, '{\"n\":%d}' % i) for i in range(10_000)))\n"
            "print(sum(json.loads(f.readline())['error']['code'] == 1024 for _ in range(10_000 - 4096)))\n"
            "f.close()\ns.close()", timeoutSeconds=60)
        self.assertEqual(execution.text(), "5904\n")
        self.cellgate.wait(lambda: not self.cellgate.waiting(), "the calls to end")
        self.assertEqual(self.cellgate.asked() - self.before, 64)
        self.honest_call_works()

    def test_what_two_readers_could_understand_differently_asks_nobody(self):
        execution = self.run_ok(self.CONNECT + r"""
for arguments in ('{"a":1,"a":2}', r'{"a":1,"\u0061":2}', r'{"a":"\ud800"}', '{"a":"\udcff"}', '{"a":01}', '{"a":NaN}',
                  '{"a":' * 300 + '1' + '}' * 300, '[]', '7', '{"a":1}{}'):
    s.sendall(call(1, arguments))
    print(json.loads(f.readline())['error']['code'])
""")
        self.assertLessEqual(set(execution.text().split()), {"-32700", "-32602", "1020"})
        self.assertEqual(len(execution.text().split()), 10)
        self.assertEqual(self.cellgate.asked(), self.before)
        self.honest_call_works()

    def test_a_number_of_any_length_is_shown_and_sent_digit_by_digit(self):
        digits = "123456789" * 20
        execution = self.cellgate.execute(self.CONNECT + f"s.sendall(call(1, '{{\"n\":{digits}}}'))\n"
                                                         "print(f.readline().decode())")
        approval = self.cellgate.approval()
        self.assertIn(digits, whole(approval["display"]))
        self.cellgate.allow(approval)
        execution.result()
        self.assertIn(digits, execution.text())
        # Control: as the doubles that many readers make of numbers, it is another one.
        self.assertNotEqual(int(float(digits)), int(digits))

    def test_half_a_message_and_the_end_leave_nothing(self):
        self.run_ok(self.CONNECT + r"""
whole = call(1)
for end in range(1, len(whole), 7):
    with connect() as half:
        half.sendall(whole[:end])
""")
        self.assertEqual(self.cellgate.asked(), self.before)
        self.honest_call_works()


class Ends(ToolsTest):
    """What ends a cell ends its questions. test_ipybox_tools has the clocks."""

    def test_a_cell_that_waits_for_an_answer_can_be_cancelled(self):
        execution = self.cellgate.execute(ECHO + "try:\n    tool_1.run(s='x')\nfinally:\n    print('left')")
        approval = self.cellgate.approval()
        self.assertEqual(self.cellgate.request("execute/cancel", {"executionId": execution.id}), {"kernelBusy": False})
        self.assertEqual(execution.result()["status"], "cancelled")
        # One that has just begun is interrupted twice: the second time may fall between the two writes of print().
        self.assertEqual(execution.text().strip(), "left")
        self.assertEqual((self.cellgate.resolved(approval)["decision"], self.cellgate.resolved(approval)["by"]),
                         ("deny", "cancelled"))
        self.assert_error(1010, self.cellgate.allow, approval)
        self.run_ok("1")

    def test_a_kernel_that_dies_takes_its_questions_along(self):
        execution = self.cellgate.execute(
            ECHO + "import threading, os\nthreading.Thread(target=lambda: tool_1.run(s='x')).start()\n"
            "while not os.path.exists('die'): pass\nos._exit(1)")
        approval = self.cellgate.approval()
        self.workspace.write("die", "")
        self.assertEqual(execution.result()["status"], "killed")
        self.assertEqual(self.cellgate.resolved(approval)["by"], "cancelled")


class NobodyToAsk(SharedSidecarTest):
    capabilities = {"approvals": False}
    options = {"mcpServers": {"fix": fixture_server()}}

    def test_it_is_denied_at_once_with_the_reason_and_rules_still_hold(self):
        self.cellgate.request("wrappers/generate", {"server": "fix"})
        result = self.cellgate.run(ECHO + "tool_1.run(s='x')").result()
        self.assertEqual(result["error"]["ename"], "ApprovalDenied")
        self.assertTrue(result["error"]["evalue"])
        rule = {"effect": "allow", "kind": "tool", "server": "fix", "tool": "tool_2"}
        self.cellgate.request("policy/add", {"rule": rule, "scope": "session", "sessionId": "default"})
        self.run_ok("from mcptools.fix import tool_2\ntool_2.run(s='x')")
        self.assertEqual(self.cellgate.asked(), 0)


if __name__ == "__main__":
    unittest.main()
