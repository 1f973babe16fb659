"""Answers that a security key confirms: ssh-keygen signs them, with the provider of OpenSSH's own tests as the key."""

import os
import shutil
import subprocess
import unittest
from pathlib import Path

from cellgate_client import WorkspaceSidecarTest
from cli_testing import CliTest
from executions import RpcError
from processes import wait_until
from tools_testing import ECHO, fixture_server
from workspaces import SYSTEM_PATH

# Of Debian's openssh-tests, where ./dev unpacks it.
PROVIDER = str(Path(__file__).resolve().parents[2] / "build/openssh-tests/usr/lib/openssh/regress/misc/sk-dummy/sk-dummy.so")
RULE = {"effect": "ask", "kind": "tool", "server": "fix", "tool": "tool-1", "confirm": "touch"}
NOT_CONFIRMED, RESOLVED, CANCELLED = 1029, 1010, -32800


def make_key(path, kind="ed25519-sk", *more):
    path.parent.mkdir(mode=0o700, exist_ok=True)
    provider = ["-w", PROVIDER] if kind.endswith("-sk") else []
    subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", "", "-C", "", "-f", path, *provider, *more], check=True,
                   stdin=subprocess.DEVNULL)
    return path


def checks(confirmation, folder, **changed):
    """Whether OpenSSH itself finds the signature good."""
    signature = folder / "checked.sig"
    signature.write_text(confirmation["signature"])
    run = subprocess.run(["ssh-keygen", "-Y", "check-novalidate", "-n", "cellgate", "-s", signature], check=False,
                         input=changed.get("text", confirmation["text"]), capture_output=True, text=True)
    return run.returncode == 0


class WithKey:
    """What a workspace with a key in ~/.ssh, and perhaps an ssh-keygen of the test's, has."""

    def prepare(self):
        self.key = make_key(self.workspace.home / ".ssh/id_ed25519_sk")
        self.folder = self.workspace.base / "bin"
        self.folder.mkdir()

    def variables(self, **more):
        return self.workspace.environment(**{**self.key_variables(), **more})

    def key_variables(self):
        return {"PATH": f"{self.folder}:{SYSTEM_PATH}", "SSH_SK_PROVIDER": PROVIDER}

    def replace_ssh_keygen(self, sign, folder=None):
        """A program that signs in its own way, and otherwise is ssh-keygen."""
        program = (folder or self.folder) / "ssh-keygen"
        program.write_text(f'#!/bin/sh\n[ "$2" = sign ] || exec /usr/bin/ssh-keygen "$@"\n{sign}\n')
        program.chmod(0o755)


class Touch(WithKey, WorkspaceSidecarTest):
    def setUp(self):
        super().setUp()
        self.prepare()

    def user(self, **more):
        user = self.editor(environment=self.variables(**more), options={"mcpServers": {"fix": fixture_server()}})
        user.request("policy/add", {"rule": RULE, "scope": "workspace"})
        user.request("wrappers/generate", {"server": "fix"})
        return user

    def ask(self, user, code="print(tool_1.run(s='hello'))"):
        execution = user.execute(ECHO + code)
        return execution, user.approval()

    def decisions(self, user):
        return user.request("policy/decisions")["decisions"]

    def assert_refused(self, user, approval, words, **answer):
        with self.assertRaises(RpcError) as caught:
            user.allow(approval, **answer)
        self.assertEqual(caught.exception.code, NOT_CONFIRMED, caught.exception)
        self.assertIn(words, caught.exception.message)
        self.assertEqual([each["approvalId"] for each in user.waiting()], [approval["approvalId"]])

    def assert_runs_once_confirmed(self, user, execution, approval):
        """The control: nothing but the key was wrong."""
        self.assertEqual(execution.text(), "")
        user.allow(approval)
        self.assertEqual(execution.result()["status"], "ok")
        self.assertIn("You passed to tool 1", execution.text())

    def test_a_yes_is_signed_and_recorded(self):
        user = self.user()
        execution, approval = self.ask(user)
        self.assertEqual(approval["confirm"], "touch")
        self.assertIn("a yes has to be confirmed by a touch of your security key", approval["display"])
        self.assert_runs_once_confirmed(user, execution, approval)
        decided = next(each for each in self.decisions(user) if each.get("approvalId") == approval["approvalId"])
        confirmation = decided["confirmation"]
        self.assertIn(f"id {approval['approvalId']}\ndecision allow\nscope once\npayload ", confirmation["text"])
        self.assertEqual(confirmation["publicKey"].split(), self.key.with_suffix(".pub").read_text().split()[:2])
        self.assertTrue(checks(confirmation, self.workspace.base))
        self.assertFalse(checks(confirmation, self.workspace.base, text=confirmation["text"] + "x"))  # the control
        entries = user.request("record/query", {"types": ["action.decided"]})["entries"]
        self.assertIn(confirmation, [entry["data"].get("confirmation") for entry in entries])
        self.assertEqual(list((self.workspace.runtime / "cellgate").glob("touch-*")), [])

    def test_a_no_needs_no_key(self):
        self.replace_ssh_keygen("touch '%s/called'; exit 1" % self.folder)
        user = self.user()
        execution, approval = self.ask(user)
        user.deny(approval)
        self.assertEqual(execution.result()["error"]["ename"], "ApprovalDenied")
        self.assertFalse((self.folder / "called").exists())

    def test_a_session_grant_that_was_confirmed_covers_what_follows_and_no_other_does(self):
        user = self.user()
        user.run("1")
        grant = {"effect": "allow", "kind": "tool", "server": "fix"}
        user.request("policy/add", {"rule": grant, "scope": "session", "sessionId": "default"})
        execution, approval = self.ask(user, "tool_1.run(s='1')\ntool_1.run(s='2')")
        self.assertNotIn("workspace", [choice["scope"] for choice in approval["choices"]])
        user.allow(approval, scope="session", rule={**grant, "tool": "tool-1"})
        self.assertEqual(execution.result()["status"], "ok")
        self.assertEqual(user.asked(), 1)

    def test_an_execution_that_may_do_all_is_asked_all_the_same(self):
        user = self.user()
        execution = user.execute(ECHO + "tool_1.run(s='x')", approvals="allow")
        user.deny(user.approval())
        self.assertEqual(execution.result()["error"]["ename"], "ApprovalDenied")
        for rule in user.request("policy/list")["rules"]:
            if "confirm" in rule:
                user.request("policy/remove", {"ruleId": rule["id"]})
        again = user.run(ECHO + "tool_1.run(s='x')", approvals="allow")  # the control
        self.assertEqual(again.result()["status"], "ok")

    def test_without_a_key_the_hint_says_how_to_make_one(self):
        shutil.rmtree(self.workspace.home / ".ssh")
        user = self.user()
        execution, approval = self.ask(user)
        with self.assertRaises(RpcError) as caught:
            user.allow(approval)
        self.assertEqual(caught.exception.code, NOT_CONFIRMED)
        self.assertIn("ssh-keygen -t ed25519-sk", caught.exception.hint)
        make_key(self.key)
        self.assert_runs_once_confirmed(user, execution, approval)

    def test_a_key_at_another_place_is_named(self):
        elsewhere = make_key(self.workspace.base / "keys/mine", "ecdsa-sk")
        shutil.rmtree(self.workspace.home / ".ssh")
        user = self.user(CELLGATE_TOUCH_KEY=str(elsewhere))
        execution, approval = self.ask(user)
        self.assert_runs_once_confirmed(user, execution, approval)
        confirmation = next(each["confirmation"] for each in self.decisions(user) if "confirmation" in each)
        self.assertTrue(confirmation["publicKey"].startswith("sk-ecdsa-sha2-nistp256@openssh.com "))

    def test_a_key_that_does_not_sign_is_no_yes(self):
        self.replace_ssh_keygen("echo 'device not found' >&2; exit 255")
        user = self.user()
        execution, approval = self.ask(user)
        self.assert_refused(user, approval, "device not found")
        (self.folder / "ssh-keygen").unlink()
        self.assert_runs_once_confirmed(user, execution, approval)

    def test_a_signature_of_yesterday_is_refused(self):
        user = self.user()
        execution, approval = self.ask(user)
        self.assert_runs_once_confirmed(user, execution, approval)
        old = next(each["confirmation"] for each in self.decisions(user) if "confirmation" in each)
        self.assertTrue(checks(old, self.workspace.base))
        (self.folder / "old.sig").write_text(old["signature"])
        self.replace_ssh_keygen(f"cat '{self.folder}/old.sig'")
        execution, approval = self.ask(user)
        self.assert_refused(user, approval, "not one of this answer")
        (self.folder / "ssh-keygen").unlink()
        self.assert_runs_once_confirmed(user, execution, approval)

    def sign_with(self, key):
        self.replace_ssh_keygen(f"exec /usr/bin/ssh-keygen -Y sign -n cellgate -f '{key}'")

    def test_a_signature_of_another_key_or_of_none_that_is_touched_is_refused(self):
        keys = self.workspace.base / "keys"
        wrong = {
            "by another key": make_key(keys / "other"),
            "expected a signature by a security key": make_key(keys / "plain", "ed25519"),
        }
        user = self.user()
        for words, key in wrong.items():
            with self.subTest(words):
                self.sign_with(key)
                execution, approval = self.ask(user)
                self.assert_refused(user, approval, words)
                self.sign_with(self.key)
                self.assert_runs_once_confirmed(user, execution, approval)

    def test_a_key_that_needs_no_touch_confirms_nothing(self):
        untouched = make_key(self.workspace.base / "keys/untouched", "ed25519-sk", "-O", "no-touch-required")
        user = self.user(CELLGATE_TOUCH_KEY=str(untouched))
        execution, approval = self.ask(user)
        self.assert_refused(user, approval, "was not touched")
        for suffix in ("", ".pub"):  # the control
            shutil.copy(f"{self.key}{suffix}", f"{untouched}{suffix}")
        self.assert_runs_once_confirmed(user, execution, approval)

    def test_a_plain_key_is_no_security_key(self):
        plain = make_key(self.workspace.base / "keys/plain", "ed25519")
        user = self.user(CELLGATE_TOUCH_KEY=str(plain))
        execution, approval = self.ask(user)
        self.assert_refused(user, approval, "found ssh-ed25519")
        for suffix in ("", ".pub"):
            shutil.copy(f"{self.key}{suffix}", f"{plain}{suffix}")
        self.assert_runs_once_confirmed(user, execution, approval)

    def test_an_ssh_keygen_of_the_workspace_is_not_run(self):
        inside = self.workspace.path / "bin"
        inside.mkdir()
        self.replace_ssh_keygen(f"touch '{self.folder}/called'; exit 1", inside)
        user = self.user(PATH=f"{inside}:{SYSTEM_PATH}")
        execution, approval = self.ask(user)
        self.assert_runs_once_confirmed(user, execution, approval)
        self.assertFalse((self.folder / "called").exists())
        # The control: outside the workspace, the first one in PATH is run.
        run = subprocess.run(["ssh-keygen", "-Y", "sign"], env={"PATH": f"{inside}:{SYSTEM_PATH}"}, check=False)
        self.assertEqual(run.returncode, 1)
        self.assertTrue((self.folder / "called").exists())

    # A touch that the test makes: a line in the pipe `touch`.
    def wait_for_touch(self):
        os.mkfifo(self.folder / "touched")
        self.replace_ssh_keygen(f"echo $$ > '{self.folder}/pid'\nread -r line < '{self.folder}/touched'\n"
                                'exec /usr/bin/ssh-keygen "$@"')

    def signer(self):
        """The pid of the ssh-keygen that waits for a touch."""
        path = self.folder / "pid"
        wait_until(lambda: path.exists() and path.read_text().strip(), "ssh-keygen to wait for a touch")
        pid = int(path.read_text())
        path.unlink()
        return pid

    def touch(self):
        (self.folder / "touched").write_text("x\n")

    def begin(self, user, approval, decision="allow"):
        return user.start("approval/respond", {"approvalIds": [approval["approvalId"]], "decision": decision})

    def assert_ends(self, pid):
        wait_until(lambda: not Path(f"/proc/{pid}").exists(), "the end of ssh-keygen")

    def assert_error(self, code, pending):
        with self.assertRaises(RpcError) as caught:
            pending.result()
        self.assertEqual(caught.exception.code, code, caught.exception)

    def test_a_user_who_gives_up_ends_ssh_keygen_and_the_question_stays(self):
        self.wait_for_touch()
        user = self.user()
        execution, approval = self.ask(user)
        pending = self.begin(user, approval)
        pid = self.signer()
        user.notify("$/cancelRequest", {"id": pending.id})
        self.assert_error(CANCELLED, pending)
        self.assert_ends(pid)
        self.assertEqual(user.waiting(), [approval])
        again = self.begin(user, approval)
        self.signer()
        self.touch()
        again.result()
        self.assertEqual(execution.result()["status"], "ok")

    def test_another_users_answer_counts_while_one_is_being_confirmed(self):
        self.wait_for_touch()
        user = self.user()
        other = self.editor(environment=self.variables())
        execution, approval = self.ask(user)
        pending = self.begin(user, approval)
        pid = self.signer()
        other.deny(other.approval(), reason="no")
        self.assertEqual(execution.result()["error"]["ename"], "ApprovalDenied")
        self.assert_error(RESOLVED, pending)
        self.assert_ends(pid)

    def test_of_two_confirmed_answers_the_first_counts(self):
        self.wait_for_touch()
        user = self.user()
        other = self.editor(environment=self.variables())
        execution, approval = self.ask(user)
        first = self.begin(user, approval)
        waiting = self.signer()
        self.replace_ssh_keygen('exec /usr/bin/ssh-keygen "$@"')
        self.begin(other, other.approval()).result()
        self.assertEqual(execution.result()["status"], "ok")
        self.assert_error(RESOLVED, first)
        self.assert_ends(waiting)


class AtTheCommandLine(WithKey, CliTest):
    def setUp(self):
        super().setUp()
        self.prepare()
        self.workspace.environment = self.with_key(self.workspace.environment)
        self.assertEqual(self.cli("generate", "host").returncode, 0)
        self.made = self.workspace.path / "made.txt"
        added = self.of_workspace("policy", "add", "ask host/write_file", "--touch")
        self.assertIn("ask host write_file of host, confirmed by a touch of a security key", added.stdout, added.stderr)

    def of_workspace(self, command, part, *arguments):
        return self.cli(command, part, "--root", str(self.workspace.path), *arguments, rooted=False)

    def with_key(self, environment):
        return lambda **more: environment(**{**self.key_variables(), **more})

    WRITE = "from mcptools.host import write_file\nwrite_file.run(path='made.txt', content='x')\n"

    def test_a_terminal_says_that_the_key_waits_and_asks_again(self):
        self.replace_ssh_keygen("echo 'device not found' >&2; exit 255")
        terminal = self.terminal("run", self.script(self.WRITE))
        terminal.expect(r"a yes has to be confirmed by a touch of your security key[\s\S]*your answer: $")
        terminal.type("1")
        terminal.expect(r"touch your security key…[\s\S]*device not found[\s\S]*touch it[\s\S]*your answer: $")
        self.assertFalse(self.made.exists())
        (self.folder / "ssh-keygen").unlink()
        terminal.type("1")
        self.assertEqual(terminal.wait_end(), 0, terminal.text)
        self.assertTrue(self.made.exists())
        listed = self.of_workspace("record", "list").stdout
        fingerprint = subprocess.run(["ssh-keygen", "-lf", f"{self.key}.pub"], capture_output=True, text=True,
                                     check=True).stdout.split()[1]
        self.assertIn(f"confirmed by a touch of a security key ({fingerprint})", listed)

    def test_no_option_says_yes_in_place_of_a_touch(self):
        allowing = ("run", "--allow", 'host/write_file ={"path":"made.txt","content":"x"}', self.script(self.WRITE))
        run = self.cli(*allowing)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("ApprovalDenied", run.stdout + run.stderr)
        self.assertIn("confirm with your security key", run.stdout + run.stderr)
        self.assertFalse(self.made.exists())
        # The control: without the rule it is enough.
        rules = self.of_workspace("policy", "list").stdout.splitlines()
        rule = next(line.split()[0] for line in rules if "confirmed by a touch" in line)
        self.assertEqual(self.of_workspace("policy", "remove", rule).returncode, 0)
        run = self.cli(*allowing)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertTrue(self.made.exists())


if __name__ == "__main__":
    unittest.main()
