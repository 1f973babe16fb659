"""The contract holds together, and the validator really rejects: each hazard below is one message away from a
conversation that passes."""

import copy
import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import check_schemas
import contract
import validate

CONTRACT = contract.Contract()
LAYERS = ["bwrap", "netns"]


def line(direction, message, client="1"):
    entry = {"time": "2026-01-05T09:30:00Z", "client": client, "direction": direction, "message": message}
    return json.dumps(entry, separators=(",", ":"))


def request(request_id, method, params):
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def notification(method, params):
    return {"jsonrpc": "2.0", "method": method, "params": params}


def result(request_id, value):
    return {"jsonrpc": "2.0", "id": request_id, "result": value}


def error(request_id, code, kind, message="expected something else"):
    data = {"kind": kind, "hint": ""}
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message, "data": data}}


CLIENT = {"clientInfo": {"name": "test"}, "processId": None, "rootUri": None, "capabilities": {}}
INITIALIZE = request(1, "initialize", CLIENT)


def initialized(role="user"):
    server = {"name": "cellgate", "version": "0"}
    answer = {"serverInfo": server, "protocolVersion": "1", "role": role, "capabilities": {}}
    return [("in", INITIALIZE), ("out", result(1, answer)), ("in", notification("initialized", {}))]


def output(seq, count=1, **more):
    text = {"output_type": "stream", "name": "stdout", "text": "x"}
    return notification("execute/output", {"executionId": "run", "seq": seq, "count": count, "output": text, **more})


FINISHED = {"executionId": "run", "status": "ok", "executionCount": 1, "outputBytes": 1, "truncated": False,
            "durationSeconds": 0.1, "waitedSeconds": 0, "layers": LAYERS}
EXECUTE = ("in", request(2, "execute", {"executionId": "run", "code": "1"}))


def follow(*messages, hostile=False):
    return CONTRACT.follow([line(*message) for message in messages], hostile)


class ContractTest(unittest.TestCase):
    def assert_violation(self, text, *messages, **options):
        violations = follow(*messages, **options).violations
        self.assertEqual(len(violations), 1, violations)
        self.assertIn(text, violations[0])

    def assert_passes(self, *messages, **options):
        conversation = follow(*messages, **options)
        self.assertEqual(conversation.violations, [])
        return conversation


class TheSchemas(ContractTest):
    def test_hold_together_with_their_examples_and_the_transcript(self):
        self.assertEqual(check_schemas.check_contract(), [])

    def test_the_transcript_shows_the_main_job(self):
        text = (contract.SCHEMAS / "transcript.md").read_text(encoding="utf-8")
        for method in ("initialize", "wrappers/generate", "execute", "tools/call", "approval/requested",
                       "approval/respond", "approval/resolved", "execute/output", "shutdown", "exit"):
            self.assertIn(f'"method": "{method}"', text)

    def test_an_agent_has_no_method_that_widens(self):
        for method, entry in CONTRACT.protocol_methods.items():
            if method.split("/")[0] in ("approval", "policy") or method.startswith("toolServers/"):
                allowed = ["user", "agent"] if method == "toolServers/list" else ["user"]
                if method == "approval/elicit":  # asked by the sidecar: an agent has no way to begin it
                    self.assertEqual(entry["direction"], "serverToClient")
                    allowed = ["agent"]
                self.assertEqual(entry["roles"], allowed, method)


class BrokenSchemas(unittest.TestCase):
    """Each breaks a copy of schemas/ in one place; the check has to find it."""

    def found(self, name, change):
        with tempfile.TemporaryDirectory() as folder:
            schemas = Path(folder) / "schemas"
            shutil.copytree(contract.SCHEMAS, schemas)
            path = schemas / name
            before = path.read_text(encoding="utf-8")
            if isinstance(change, tuple):
                self.assertIn(change[0], before)
                path.write_text(before.replace(*change), encoding="utf-8")
            else:
                document = json.loads(before)
                change(document)
                path.write_text(json.dumps(document), encoding="utf-8")
            return "\n".join(check_schemas.check_contract(schemas))

    def test_a_method_without_examples(self):
        def add(table):
            table["methods"]["new/method"] = copy.deepcopy(table["methods"]["session/list"])

        self.assertIn("new/method: has no examples", self.found("methods.json", add))

    def test_a_method_without_a_definition(self):
        def rename(table):
            table["methods"]["execute"]["result"] = "#/$defs/Nothing"

        self.assertIn("Nothing: is referred to, but not there", self.found("methods.json", rename))

    def test_a_parameter_for_users_that_is_not_there(self):
        for change in (("kernel.interpreter", "kernel.path"), ('"param": "outDir"', '"param": ""')):
            self.assertIn("userOnly names no parameter", self.found("methods.json", change))

    def test_a_definition_that_nothing_uses(self):
        def add(document):
            document["$defs"]["Spare"] = {"description": "spare", "type": "object"}

        self.assertIn("Spare: nothing refers to it", self.found("protocol.json", add))

    def test_a_schema_that_is_none(self):
        def spoil(document):
            document["$defs"]["Seconds"]["minimum"] = "zero"

        self.assertIn("protocol.json: not a JSON Schema", self.found("protocol.json", spoil))

    def test_a_schema_that_lets_everything_pass(self):
        def open_up(document):
            document["$defs"]["CancelRequestParams"] = {"description": "anything"}

        self.assertIn("$.cancelRequest.json params invalid[0] passes", self.found("protocol.json", open_up))

    def test_a_valid_example_that_fails(self):
        def spoil(examples):
            examples["params"]["valid"][0]["code"] = 1

        self.assertIn("valid[0] fails: /code: 1 is not of type 'string'", self.found("examples/execute.json", spoil))

    def test_two_invalid_examples_for_one_reason(self):
        def repeat(examples):
            examples["params"]["invalid"][1] = examples["params"]["invalid"][0]

        self.assertIn("fails for the same reason as invalid[0]", self.found("examples/execute.json", repeat))

    def test_an_invalid_example_that_fails_for_something_else_too(self):
        def spoil(examples):
            examples["params"]["invalid"][0]["value"]["silent"] = "no"

        self.assertIn("fails for more than one reason", self.found("examples/execute.json", spoil))

    def test_examples_of_a_method_that_is_gone(self):
        def drop(table):
            del table["methods"]["session/close"]

        self.assertIn("session.close.json: no such method", self.found("methods.json", drop))

    def test_two_codes_of_one_kind(self):
        def repeat(table):
            table["errors"]["1025"] = table["errors"]["1024"]

        self.assertIn("'limitExceeded' stands twice", self.found("errors.json", repeat))

    def test_a_transcript_that_breaks_the_contract(self):
        self.assertIn("/params/reason: 7 is not", self.found(
            "transcript.md", ('"status": "busy"', '"status": "busy", "reason": 7')))

    def test_a_transcript_in_which_a_request_is_not_answered(self):
        answer = '{"jsonrpc": "2.0", "id": 8, "result": null}'
        other = '{"jsonrpc": "2.0", "method": "execute/changed", "params": {"executionId": "run-2", "state": "finished"}}'
        self.assertIn("shutdown is never answered", self.found("transcript.md", (answer, other)))

    def test_a_transcript_whose_channel_breaks_the_contract(self):
        self.assertIn("/params/line: -2 is less than", self.found("transcript.md", ('"line": 2\n', '"line": -2\n')))


class Traces(ContractTest):
    def test_a_conversation_that_keeps_the_contract_passes(self):
        conversation = self.assert_passes(
            *initialized(), EXECUTE, ("out", output(0, 2)), ("out", output(2)), ("out", result(2, FINISHED)),
            ("out", output(3, late=True)))
        self.assertEqual(conversation.messages, 8)

    def attach(self, next_seq):
        session = {"sessionId": "s", "status": "busy", "kernel": {"name": "k", "language": "python"}, "cwd": "/w",
                   "sandbox": "bwrap", "layers": LAYERS, "executionCount": 0, "queueLength": 0,
                   "createdAt": "2026-01-05T09:30:00Z"}
        running = {"executionId": "run", "state": "running", "nextSeq": next_seq}
        return [("in", request(7, "session/attach", {"sessionId": "s"})),
                ("out", result(7, {"session": session, "executions": [running]}))]

    def test_who_attaches_gets_the_records_from_where_it_was_told(self):
        self.assert_passes(*initialized(), *self.attach(5), ("out", output(5)), ("out", output(6)))
        self.assert_passes(*initialized(), EXECUTE, ("out", output(0)), *self.attach(1), ("out", output(1)))
        self.assert_violation("6, but 5 comes next", *initialized(), *self.attach(5), ("out", output(6)))
        self.assert_violation("4, but 5 comes next", *initialized(), *self.attach(5), ("out", output(4)))
        self.assert_violation("nextSeq: 2, but 1 records were sent", *initialized(), EXECUTE, ("out", output(0)),
                              *self.attach(2))

    def test_a_result_with_a_field_that_is_not_in_the_contract(self):
        self.assert_violation("answer to execute at /result: Additional properties", *initialized(), EXECUTE,
                              ("out", result(2, {**FINISHED, "success": True})))

    def test_a_result_is_judged_by_its_own_request(self):
        # 2 and "2" are two requests.
        violations = follow(*initialized(), EXECUTE, ("in", request("2", "session/list", {})),
                            ("out", result(2, {"sessions": []})), ("out", result("2", {"sessions": []}))).violations
        self.assertTrue(violations and all("line 6" in violation for violation in violations), violations)

    def test_a_notification_that_drifted(self):
        self.assert_violation("execute/changed at /params: 'position' is a required property", *initialized(),
                              ("out", notification("execute/changed", {"executionId": "run", "state": "queued"})))

    def test_an_output_of_the_wrong_type_names_the_place(self):
        broken = output(0)
        broken["params"]["output"]["text"] = ["x"]
        self.assert_violation("/params/output/text: ['x'] is not of type 'string'", *initialized(), ("out", broken))

    def test_a_method_without_a_schema(self):
        self.assert_violation("'execute/finished' is not a method", *initialized(),
                              ("out", notification("execute/finished", {})))

    def test_a_method_in_the_wrong_direction(self):
        self.assert_violation("not a method in this direction", *initialized(),
                              ("out", notification("exit", {})))

    def test_an_extra_field_in_the_envelope(self):
        self.assert_violation("malformed message", *initialized(), ("out", {**output(0), "time": 1}))

    def test_two_answers_to_one_request(self):
        self.assert_violation("which answers no request", *initialized(), EXECUTE, ("out", result(2, FINISHED)),
                              ("out", result(2, FINISHED)))

    def test_an_answer_to_another_client(self):
        self.assert_violation("which answers no request", *initialized(), EXECUTE,
                              ("out", result(2, FINISHED), "2"))

    def test_an_unknown_error_code(self):
        self.assert_violation("1999 is not in errors.json", *initialized(), EXECUTE, ("out", error(2, 1999, "strange")))

    def test_a_code_with_the_kind_of_another(self):
        self.assert_violation("1001 is 'sessionNotFound'", *initialized(), EXECUTE, ("out", error(2, 1001, "denied")))

    def test_an_error_without_a_hint(self):
        broken = error(2, 1001, "sessionNotFound")
        del broken["error"]["data"]["hint"]
        self.assert_violation("/error/data: 'hint' is a required property", *initialized(), EXECUTE, ("out", broken))

    def test_an_error_that_is_empty(self):
        violations = follow(*initialized(), EXECUTE, ("out", {"jsonrpc": "2.0", "id": 2, "error": {}})).violations
        self.assertEqual(len(violations), 3, violations)

    def test_invalid_params_that_were_refused_are_in_order(self):
        conversation = self.assert_passes(*initialized(), ("in", request(2, "execute", {"code": 1})),
                                          ("out", error(2, -32602, "invalidParams")))
        self.assertEqual(conversation.refused, 1)

    def test_invalid_params_that_were_accepted(self):
        self.assert_violation("accepted, though it breaks the contract", *initialized(),
                              ("in", request(2, "session/list", [])), ("out", result(2, {"sessions": []})))

    def test_valid_params_that_were_refused_as_invalid(self):
        self.assert_violation("refused what the schema allows", *initialized(), EXECUTE,
                              ("out", error(2, -32602, "invalidParams")))

    def test_an_unknown_method_that_was_refused_is_in_order(self):
        self.assert_passes(*initialized(), ("in", request(2, "no/such", {})),
                           ("out", error(2, -32601, "methodNotFound")))

    def test_an_unknown_field_of_a_client_is_in_order(self):
        self.assert_passes(*initialized(), ("in", {**request(2, "shutdown", {"x": 1}), "y": 1}),
                           ("out", result(2, None)))

    def test_a_batch_is_answered_with_an_error_without_id(self):
        self.assert_passes(*initialized(), ("in", [EXECUTE[1]]), ("out", error(None, -32600, "invalidRequest")))
        self.assert_violation("never answered", *initialized(), ("in", [EXECUTE[1]]))

    def test_an_error_without_id_that_had_one(self):
        self.assert_violation("needs the id of a request", *initialized(),
                              ("out", error(None, 1001, "sessionNotFound")))

    def test_an_approval_that_reaches_an_agent(self):
        resolved = notification("approval/resolved", {"approvalId": "a", "decision": "deny", "by": "user"})
        self.assert_passes(*initialized("user"), ("out", resolved))
        self.assert_violation("not for the role agent", *initialized("agent"), ("out", resolved))

    def test_an_agent_whose_answer_was_taken(self):
        respond = ("in", request(2, "approval/respond", {"approvalIds": ["a"], "decision": "allow"}))
        self.assert_passes(*initialized("agent"), respond, ("out", error(2, 1013, "forbidden")))
        self.assert_violation("not for the role agent", *initialized("agent"), respond, ("out", result(2, {})))

    def test_a_gap_in_the_output(self):
        self.assert_violation("/params/seq: 2, but 1 comes next", *initialized(), EXECUTE, ("out", output(0)),
                              ("out", output(2)))

    def test_late_output_that_does_not_say_so(self):
        self.assert_violation("/params/late", *initialized(), EXECUTE, ("out", result(2, FINISHED)), ("out", output(0)))

    def test_a_reversing_character_in_what_a_user_reads(self):
        approval = {"approvalId": "a", "action": {"kind": "network", "host": "example.org"}, "hints": {},
                    "display": ["connect to gro.elpmaxe"], "choices": [{"label": "this call", "scope": "once"}],
                    "createdAt": "2026-01-05T09:30:00Z"}
        self.assert_passes(*initialized(), ("out", notification("approval/requested", approval)))
        hidden = {**approval, "display": ["connect to \u202eexample.org"]}
        self.assert_violation("/params/display/0", *initialized(), ("out", notification("approval/requested", hidden)))

    def test_a_key_that_stands_twice(self):
        twice = line("out", output(0)).replace('"seq":0', '"seq":0,"seq":0')
        lines = [line(*message) for message in initialized()]
        violations = CONTRACT.follow([*lines, twice]).violations
        self.assertEqual(len(violations), 1, violations)
        self.assertIn("'seq' stands twice", violations[0])
        twice = line(*EXECUTE).replace('"code":"1"', '"code":"1","code":"2"')
        accepted = CONTRACT.follow([*lines, twice, line("out", result(2, FINISHED))]).violations
        self.assertIn("accepted, though it breaks the contract", "\n".join(accepted))
        refused = CONTRACT.follow([*lines, twice, line("out", error(2, -32600, "invalidRequest"))]).violations
        self.assertEqual(refused, [])

    def test_what_a_hostile_client_says_is_not_judged_but_what_it_hears_is(self):
        nonsense = ("in", notification("$/cancelRequest", {}))
        stray = ("in", result(77, {}))
        self.assertEqual(len(follow(*initialized(), nonsense, stray).violations), 2)
        self.assert_passes(*initialized(), nonsense, stray, hostile=True)
        self.assert_violation("'x' is not a method", *initialized(), nonsense, ("out", notification("x", {})),
                              hostile=True)

    def test_a_client_that_answers_with_nonsense(self):
        ask = ("out", request(9, "input/request", {"executionId": "run", "prompt": "", "password": False}))
        self.assert_passes(*initialized(), ask, ("in", result(9, {"value": "x"})))
        refusal = {"jsonrpc": "2.0", "id": 9, "error": {"code": -32601, "message": "no"}}
        self.assert_passes(*initialized(), ask, ("in", refusal))
        self.assert_violation("answer to input/request at /result", *initialized(), ask, ("in", result(9, {})))

    def test_a_line_that_is_none(self):
        for text in ("{", "[]", '{"client":"1","direction":"up","message":{}}', '{"client":"1","direction":"in"}'):
            violations = CONTRACT.follow([text]).violations
            self.assertEqual(len(violations), 1, text)
            self.assertIn("not a line of a trace", violations[0])

    def test_the_command_line_fails_when_there_is_a_violation(self):
        with tempfile.TemporaryDirectory() as folder:
            def run(*messages):
                trace = Path(folder) / "trace.jsonl"
                trace.write_text("".join(line(*message) + "\n" for message in messages), encoding="utf-8")
                command = [sys.executable, validate.__file__, "--trace", str(trace)]
                return subprocess.run(command, capture_output=True, text=True, check=False)

            passed = run(*initialized())
            self.assertEqual(passed.returncode, 0, passed.stdout + passed.stderr)
            self.assertIn("3 messages, 0 refused, 0 violations", passed.stdout)
            failed = run(*initialized(), ("out", notification("x", {})))
            self.assertEqual(failed.returncode, 1)
            self.assertIn("line 4: cellgate → x at /method: 'x' is not a method in this direction", failed.stdout)


if __name__ == "__main__":
    unittest.main()
