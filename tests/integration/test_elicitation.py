"""What tool servers ask while a call runs: by the fixture server of both eras, and by npm's server-everything."""

import json
import os
import shutil
import signal
import unittest

from cellgate_client import FIXTURES, REPOSITORY, WorkspaceSidecarTest
from executions import RpcError
from tools_testing import text_of
from workspaces import SYSTEM_PATH

EVERYTHING = REPOSITORY / "tests/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
NODE = shutil.which("node") or shutil.which("node", path=SYSTEM_PATH)
CAPABILITIES = {"approvals": True, "input": True, "elicitation": True}
FIELDS = {
    "day": {"type": "string", "format": "date", "title": "Day"},
    "people": {"type": "integer", "minimum": 1, "maximum": 8, "default": 4},
    "room": {"type": "string", "enum": ["hall", "garden"], "enumNames": ["The hall", "The garden"]},
}
FORM = {"message": "When should the table be booked?",
        "requestedSchema": {"type": "object", "properties": FIELDS, "required": ["day"]}}
VALUES = {"day": "2026-02-01", "people": 3}
ALLOWED = {"effect": "allow", "kind": "tool"}


def asking_server(era="legacy", **more):
    return {"command": "/usr/bin/python3", "args": ["-B", str(FIXTURES / "asking_server.py"), "--era", era], **more}


def form(**fields):
    return {"message": "?", "requestedSchema": {"type": "object", "properties": fields}}


SERVERS = {"mcpServers": {"booking": asking_server(), "later": asking_server("modern")}}


def asked_by(client, count=1):
    """The first so many questions that came."""
    client.wait(lambda: len(client.notifications["elicitation/requested"]) >= count,
                lambda: f"{count} questions; there are {client.notifications['elicitation/requested']}")
    return client.received("elicitation/requested")[:count]


def respond(client, question, action, **more):
    return client.request("elicitation/respond", {"elicitationId": question["elicitationId"], "action": action, **more})


class Asking(WorkspaceSidecarTest):
    def setUp(self):
        super().setUp()
        self.user = self.asked_user(options=SERVERS)
        self.user.request("policy/add", {"rule": ALLOWED, "scope": "workspace"})

    def asked_user(self, **more):
        return self.editor(capabilities=CAPABILITIES, **more)

    def start(self, tool, client=None, server="booking", **arguments):
        return (client or self.user).start("tools/call", {"server": server, "tool": tool, "arguments": arguments})

    def answers(self, call):
        return json.loads(text_of(call.result()))

    def refused(self, code, *arguments, **more):
        with self.assertRaises(RpcError) as caught:
            respond(*arguments, **more)
        self.assertEqual(caught.exception.code, code)
        return caught.exception


class Forms(Asking):
    def test_an_answer_reaches_the_server_once_it_fits(self):
        call = self.start("ask", questions=[FORM])
        (question,) = asked_by(self.user)
        self.assertEqual((question["server"], question["tool"], question["mode"], question["message"]),
                         ("booking", "ask", "form", FORM["message"]))
        self.assertEqual([field["name"] for field in question["fields"]], ["day", "people", "room"])
        self.assertEqual(question["fields"][1]["initial"], 4)
        error = self.refused(1027, self.user, question, "accept", values={"day": "tomorrow"})
        self.assertIn("Day: expected a date", error.message)
        self.assertFalse(call.done)
        respond(self.user, question, "accept", values=VALUES)
        self.assertEqual(self.answers(call), [{"action": "accept", "content": VALUES}])
        self.refused(1028, self.user, question, "decline")
        resolved = self.user.wait_for("elicitation/resolved")
        self.assertEqual((resolved["action"], resolved["by"]), ("accept", "user"))

    def test_a_no_and_a_closed_question(self):
        for action in ("decline", "cancel"):
            call = self.start("ask", questions=[FORM])
            question = asked_by(self.user, 1 if action == "decline" else 2)[-1]
            respond(self.user, question, action)
            self.assertEqual(self.answers(call), [{"action": action}])

    def test_the_modern_era_asks_by_results(self):
        state = "opaque \\u0041 \u00e9 \U0001f600"
        call = self.start("ask", server="later", questions=[FORM, form(ok={"type": "boolean", "default": True})],
                          state=state)
        respond(self.user, asked_by(self.user)[0], "accept", values=VALUES)
        respond(self.user, asked_by(self.user, 2)[1], "accept")
        answers = self.answers(call)
        self.assertEqual(answers["state"], state)
        self.assertEqual(answers["answers"], [{"action": "accept", "content": VALUES},
                                              {"action": "accept", "content": {"ok": True}}])
        self.assertEqual(self.answers(self.start("forgetful", server="later", state="s")),
                         {"answers": None, "state": "s"})
        with self.assertRaises(RpcError) as caught:
            self.start("endless", server="later").result()
        self.assertIn("16 times", caught.exception.message)
        self.assertEqual(len(self.user.received("approval/requested")), 0)

    def test_a_cell_names_its_line_and_its_clock_stands_still(self):
        self.user.request("wrappers/generate", {"server": "booking"})
        code = f"from mcptools.booking import ask\nprint(ask.run({{'questions': [{FORM!r}]}}))"
        execution = self.user.execute(code, cell={"uri": "file:///home/ada/tour.py", "line": 10})
        (question,) = asked_by(self.user)
        self.assertEqual((question["executionId"], question["origin"]["line"]), (execution.id, 11))
        self.assertIn("ask.run", question["origin"]["text"])
        waits = self.user.wait_for("execute/progress", lambda p: "waits for the user" in p.get("message", ""))
        self.assertEqual((waits["server"], waits["tool"]), ("booking", "ask"))
        respond(self.user, question, "accept", values=VALUES)
        self.assertEqual(execution.result()["status"], "ok", execution.outputs())
        self.assertIn("2026-02-01", execution.text())


class WhoIsAsked(Asking):
    def test_two_clients_are_asked_and_a_later_one(self):
        other = self.asked_user()
        without = self.editor(capabilities={"approvals": True})
        call = self.start("ask", questions=[FORM])
        question = asked_by(self.user)[0]
        self.assertEqual(asked_by(other)[0], question)
        later = self.asked_user()
        self.assertEqual(asked_by(later)[0], question)
        respond(later, question, "accept", values=VALUES)
        self.assertEqual(self.answers(call)[0]["action"], "accept")
        for client in (self.user, other, later):
            client.wait_for("elicitation/resolved", lambda r: r["elicitationId"] == question["elicitationId"])
        without.request("session/list")
        self.assertEqual(without.received("elicitation/requested"), [])

    def test_nobody_is_there(self):
        without = self.editor(capabilities={"approvals": True}, options=SERVERS)
        self.user.close()
        call = self.start("ask", client=without, questions=[FORM], fails=True)
        self.assertIn("no editor or terminal was there", text_of(call.result()))
        self.assertIn("no editor or terminal was there", without.request("toolServers/log", {"server": "booking"})["text"])
        self.assertIn('"decline"', text_of(call.result()))
        call = self.start("ask", client=without, questions=[FORM], prose=True)  # whose server takes it for the user's no
        self.assertRegex(text_of(call.result()), r"^the user said decline(.|\n)*no editor or terminal was there")
        self.assertEqual(self.answers(self.start("ask", client=without, questions=[FORM])), [{"action": "decline"}])

    def test_an_agent_has_its_users_asked_and_cannot_answer(self):
        agent = self.agent()
        call = self.start("ask", client=agent, questions=[FORM])
        (question,) = asked_by(self.user)
        self.assertEqual(question["agent"], "integration-test")
        error = self.refused(1013, agent, question, "accept", values=VALUES)
        self.assertIn("elicitation/respond", error.message)
        self.assertEqual(agent.received("elicitation/requested"), [])
        respond(self.user, question, "accept", values=VALUES)
        self.assertEqual(self.answers(call)[0]["action"], "accept")


class Ends(Asking):
    def test_a_call_that_is_cancelled_withdraws_its_question(self):
        call = self.start("ask", questions=[FORM])
        (question,) = asked_by(self.user)
        self.user.notify("$/cancelRequest", {"id": call.id})
        resolved = self.user.wait_for("elicitation/resolved")
        self.assertEqual((resolved["elicitationId"], resolved["action"], resolved["by"]),
                         (question["elicitationId"], "cancel", "cancelled"))
        self.refused(1028, self.user, question, "accept", values=VALUES)

    def test_a_server_that_is_killed_withdraws_its_question(self):
        pid = int(text_of(self.start("pid").result()))
        call = self.start("ask", questions=[FORM])
        asked_by(self.user)
        os.kill(pid, signal.SIGKILL)
        self.assertEqual(self.user.wait_for("elicitation/resolved")["by"], "cancelled")
        with self.assertRaises(RpcError):
            call.result()


class Pages(Asking):
    PAGE = {"mode": "url", "elicitationId": "p", "message": "Please enter your card on our page.",
            "url": "https://pay.example/cards?state=4711"}

    def test_a_page_is_shown_with_its_host(self):
        call = self.start("ask", questions=[self.PAGE])
        (question,) = asked_by(self.user)
        self.assertEqual((question["mode"], question["url"], question["host"]),
                         ("url", self.PAGE["url"], "pay.example"))
        respond(self.user, question, "accept")
        self.assertEqual(self.answers(call), [{"action": "accept"}])

    def test_a_call_that_needs_a_page_is_made_again(self):
        for complete in (False, True):
            asked = len(self.user.received("elicitation/requested"))
            call = self.start("pages", url=f"https://pay.example/{complete}", complete=complete)
            page = asked_by(self.user, asked + 1)[-1]
            self.assertEqual(page["host"], "pay.example")
            respond(self.user, page, "accept")
            if not complete:
                confirmation = asked_by(self.user, asked + 2)[-1]
                self.assertEqual(confirmation["fields"], [])
                respond(self.user, confirmation, "accept")
            self.assertEqual(text_of(call.result()), "paid")

    def test_what_is_no_page_is_not_shown(self):
        for url in ("javascript:alert(1)", "https://pay.example@evil.example/", "https://evil.example\\@pay.example/",
                    "file:///etc/passwd"):
            answer = self.answers(self.start("ask", questions=[{**self.PAGE, "url": url}]))
            self.assertEqual(answer[0]["code"], -32602, url)
        self.assertEqual(self.user.received("elicitation/requested"), [])


class Hostile(Asking):
    def test_endless_questions_are_declined(self):
        call = self.start("flood", count=100)
        self.user.wait(lambda: len(self.user.notifications["elicitation/requested"]) >= 8, "eight questions")
        answered = 0
        while not call.done:
            questions = self.user.received("elicitation/requested")
            for question in questions[answered:]:
                respond(self.user, question, "accept")
            answered = len(questions)
            self.user.request("session/list")
        actions = json.loads(text_of(call.result()))
        self.assertEqual(len(actions), 100)
        self.assertGreaterEqual(actions.count("accept"), 8)  # the control
        self.assertLessEqual(actions.count("accept"), 64)

    def test_a_message_hides_nothing(self):
        call = self.start("ask", questions=[{**FORM, "message": "send \u202eyenom\nto \u200bx\x1b[2J"}])
        (question,) = asked_by(self.user)  # its schema refuses what is not escaped
        self.assertEqual(question["message"], "send \\u{202e}yenom\nto \\u{200b}x\\x1b[2J")
        respond(self.user, question, "cancel")
        call.result()

    def test_a_schema_that_is_no_form_is_an_error(self):
        nested = form(inner={"type": "object", "properties": {"x": {"type": "string"}}})
        self.assertEqual(self.answers(self.start("ask", questions=[nested]))[0]["code"], -32602)
        self.assertEqual(self.user.received("elicitation/requested"), [])

    def test_a_secret_is_not_asked_for(self):
        call = self.start("ask", questions=[form(password={"type": "string"})], fails=True)
        self.assertIn("asked for a secret in a form (password)", text_of(call.result()))
        self.assertIn("asked for a secret", self.user.request("toolServers/log", {"server": "booking"})["text"])
        self.assertEqual(self.user.received("elicitation/requested"), [])
        call = self.start("ask", questions=[form(day={"type": "string"})])  # the control
        respond(self.user, asked_by(self.user)[0], "accept", values={})
        self.assertEqual(self.answers(call)[0]["action"], "accept")


class OtherRequests(Asking):
    def test_the_folder_is_told_and_no_model_answers(self):
        roots = [{"uri": self.workspace.path.as_uri(), "name": self.workspace.path.name}]
        self.assertEqual(self.answers(self.start("roots")), {"roots": roots})
        self.assertEqual(self.answers(self.start("roots", server="later"))["answers"], {"r": {"roots": roots}})
        refusal = self.answers(self.start("sample"))
        self.assertEqual(refusal["code"], -32601)
        self.assertIn("no model", refusal["message"])
        with self.assertRaises(RpcError) as caught:
            self.start("sample", server="later").result()
        self.assertIn("no model", caught.exception.message)

    def test_what_a_server_logs_is_in_its_log(self):
        self.start("log", text="the till \u202eis open").result()
        self.assertIn("warning till: the till \\u{202e}is open",
                      self.user.request("toolServers/log", {"server": "booking"})["text"])


@unittest.skipUnless(NODE and EVERYTHING.exists(), "needs node and the npm packages of tests/package.json")
class Everything(Asking):
    def setUp(self):
        super().setUp()
        config = {"command": NODE, "args": [str(EVERYTHING), "stdio"]}
        self.user.request("toolServers/add", {"server": "everything", "config": config})

    def test_its_form_is_filled_in(self):
        call = self.start("trigger-elicitation-request", server="everything")
        (question,) = asked_by(self.user)
        self.assertEqual(len({field["type"] for field in question["fields"]}), 6)
        values = {field["name"]: field["initial"] for field in question["fields"] if "initial" in field}
        respond(self.user, question, "accept", values={**values, "name": "Ada", "birthdate": "1815-12-10"})
        text = text_of(call.result())
        self.assertIn("Ada", text)
        self.assertIn("1815-12-10", text)
        self.assertIn("dark and stormy", text)

    def test_its_page_is_shown(self):
        call = self.start("trigger-url-elicitation", server="everything", url="https://pay.example/x", message="Pay.")
        (question,) = asked_by(self.user)
        self.assertEqual((question["mode"], question["host"]), ("url", "pay.example"))
        respond(self.user, question, "decline")
        self.assertIn("decline", text_of(call.result()).lower())

    def test_its_task_is_followed_and_asks_meanwhile(self):
        call = self.start("simulate-research-query", server="everything", topic="python", ambiguous=True)
        (question,) = asked_by(self.user)
        self.assertIn("python", question["message"])
        respond(self.user, question, "accept", values={"interpretation": "snake"})
        self.assertIn("Research Report: python (snake)", text_of(call.result()))


if __name__ == "__main__":
    unittest.main()
