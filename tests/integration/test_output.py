"""Output that is too much, too large, too fast, or hostile: bounded for us, whole for who wants it, said when it is not.

CELLGATE_OUTPUT_BYTES sets how much the cell of `AClientThatStopsReading` prints: 200 MB, and 1 GB where a minute is
not too much.
"""

import hashlib
import json
import os
import shutil
import subprocess
import unittest

from cellgate_client import CELLGATE, SharedSidecarTest, WorkspaceTest
from measuring import forget_peak, memory, sanitized
from processes import TIMEOUT, start_process, wait_until

OUTPUT_BYTES = int(os.environ.get("CELLGATE_OUTPUT_BYTES", 200_000_000))


class Reader:
    """A client that reads only on request. No trace: that would hold every byte once more."""

    def __init__(self, workspace, *, options=None, under=()):
        self.workspace = workspace
        self.messages = []
        self._next_id = 0
        self._buffer = b""
        self.log_path = workspace.new_trace().with_suffix(".log")
        with open(self.log_path, "wb") as log:
            self.process = start_process([*under, CELLGATE, "serve", "--stdio", "--root", str(workspace.path)],
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, cwd=workspace.path,
                                         env=workspace.environment(), bufsize=0)
        try:
            self.request("initialize", {
                "clientInfo": {"name": "reader"}, "processId": None, "rootUri": None,
                "capabilities": {}, "initializationOptions": options or {}})
            self.send("initialized", {})
        except AssertionError:
            self.kill()
            raise

    def send(self, method, params, request_id=None):
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if request_id is not None:
            message["id"] = request_id
        body = json.dumps(message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def start(self, method, params):
        self._next_id += 1
        self.send(method, params, self._next_id)
        return self._next_id

    def request(self, method, params):
        return self.reply(self.start(method, params))

    def reply(self, request_id):
        while True:
            message = self._message()
            if message.get("id") == request_id:
                assert "result" in message, message
                return message["result"]
            self.messages.append(message)

    def _message(self):
        while (end := self._buffer.find(b"\r\n\r\n")) < 0:
            self._more()
        size = int(self._buffer[:end].partition(b": ")[2])
        while len(self._buffer) < end + 4 + size:
            self._more()
        body = self._buffer[end + 4 : end + 4 + size]
        self._buffer = self._buffer[end + 4 + size :]
        return json.loads(body)

    def _more(self):
        piece = os.read(self.process.stdout.fileno(), 1 << 20)
        assert piece, f"cellgate has ended:\n{self.log_path.read_text()[-3000:]}"
        self._buffer += piece

    def outputs(self, execution_id):
        return [m["params"] for m in self.messages if m.get("method") == "execute/output"
                and m["params"]["executionId"] == execution_id]

    def pages(self, execution_id):
        seq, complete = 0, False
        while not complete:
            page = self.request("output/read", {"executionId": execution_id, "fromSeq": seq, "maxBytes": 8 << 20})
            seq, complete = page["nextSeq"], page["complete"]
            yield page

    def close(self):
        self.request("shutdown", {})
        self.send("exit", {})
        code = self.process.wait(TIMEOUT)
        self.process.stdin.close()
        self.process.stdout.close()
        return code

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            assert self.close() == 0
        else:
            self.kill()


class AClientThatStopsReading(WorkspaceTest):
    # Without a pause and without a flush, as code prints.
    CODE = """
import hashlib, os
sha = hashlib.sha256()
line = 'The quick brown fox jumps over the lazy dog, %012d times and again, until no one reads it any more.\\n'
lines, printed = 0, 0
while printed < SIZE:
    text = ''.join([line % i for i in range(lines, lines + 600)])
    lines += 600
    printed += len(text)
    sha.update(text.encode())
    print(text, end='')
with open('hash.part', 'w') as file:
    file.write(sha.hexdigest())
os.rename('hash.part', 'hash')
"""

    def journalled(self):
        return sum(path.stat().st_size for path in self.workspace.home.rglob("journals/*/run-*/*.jsonl"))

    def assert_grown_less(self, pid, before, limit):
        if not sanitized():
            self.assertLess(memory(pid, "VmHWM") - before, limit)

    def test_it_costs_little_memory_and_can_read_every_byte_afterwards(self):
        with Reader(self.workspace) as client:
            client.request("execute", {"code": "1 + 1", "executionId": "warm"})
            pid = client.process.pid
            forget_peak(pid)
            before = memory(pid)
            running = client.start("execute", {"code": self.CODE.replace("SIZE", str(OUTPUT_BYTES)),
                                               "executionId": "loud"})
            wait_until((self.workspace.path / "hash").exists, "the end of the cell", 600)
            wait_until(lambda: self.journalled() >= OUTPUT_BYTES, "all output in the journal", 600)
            # Nothing was read so far.
            result = client.reply(running)
            self.assert_grown_less(pid, before, 64_000_000)
            self.assertEqual(result["status"], "ok")
            self.assertFalse(result["truncated"], result)

            outputs = client.outputs("loud")
            next_seq = 0
            for output in outputs:
                self.assertEqual(output["seq"], next_seq)
                next_seq += output["count"]
            skipped = sum(o.get("skippedBytes", 0) for o in outputs)
            self.assertGreater(skipped, OUTPUT_BYTES / 2)

            sha, count, seq = hashlib.sha256(), 0, 0
            for page in client.pages("loud"):
                self.assertNotIn("problem", page)
                for record in page["records"]:
                    self.assertEqual((record["seq"], record["count"]), (seq, 1))
                    seq += 1
                    text = record["output"]["text"].encode()
                    sha.update(text)
                    count += len(text)
            self.assertEqual(seq, next_seq)
            self.assertGreaterEqual(count, OUTPUT_BYTES)
            self.assertEqual(sha.hexdigest(), (self.workspace.path / "hash").read_text())
            self.assert_grown_less(pid, before, 128_000_000)  # with pages of 8 MiB on their way

    def test_it_can_ask_for_everything_at_once_and_read_none_of_it(self):
        with Reader(self.workspace) as client:
            client.request("execute", {"code": "for i in range(20_000): print('x' * 1000)", "executionId": "loud"})
            pid = client.process.pid
            forget_peak(pid)
            before = memory(pid)
            asked = [client.start("output/read", {"executionId": "loud", "maxBytes": 8 << 20}) for _ in range(30)]
            wait_until(lambda: memory(pid) - before > 8_000_000, "the first page")
            for request in asked:
                self.assertEqual(client.reply(request)["nextSeq"] > 0, True)
            self.assert_grown_less(pid, before, 100_000_000)


class Limits(WorkspaceTest):
    def test_beyond_the_limit_the_first_and_the_latest_part_are_kept_and_it_is_said(self):
        limit = 4 << 20
        with Reader(self.workspace, options={"outputLimitBytes": limit}) as client:
            result = client.request("execute", {
                "executionId": "loud", "code": "for i in range(100_000): print(f'{i:0100d}')"})
            self.assertTrue(result["truncated"])
            self.assertIn(str(limit), result["outputProblem"])
            records = [record for page in client.pages("loud") for record in page["records"]]
            [gap] = [i for i, record in enumerate(records) if "skippedBytes" in record]

            def lines(part):
                return "".join(r["output"]["text"] for r in part).splitlines()

            # A record may end within a line.
            first = [int(line) for line in lines(records[:gap])[:-1]]
            latest = [int(line) for line in lines(records[gap + 1 :])[1:]]
            self.assertEqual(first, list(range(len(first))))
            self.assertEqual(latest, list(range(100_000 - len(latest), 100_000)))
            self.assertGreater(len(first) * 100, limit * 0.3)
            self.assertGreater(len(latest) * 100, limit * 0.3)
            # A little of what was dropped may wait to be removed with more.
            kept = sum(f.stat().st_size for f in self.workspace.home.rglob("journals/*/run-*/*"))
            self.assertLessEqual(kept, limit + (64 << 10))

    def test_a_limit_below_what_makes_sense_is_refused(self):
        with self.assertRaises(AssertionError) as refused:
            with Reader(self.workspace, options={"outputLimitBytes": 10}):
                pass
        self.assertIn("-32602", str(refused.exception))

    def test_on_a_full_disk_the_client_still_hears_everything_and_is_told(self):
        # A file may have 3 MB, as if the disk were full then.
        with Reader(self.workspace, under=["prlimit", "--fsize=3000000", "--"]) as client:
            result = client.request("execute", {
                "executionId": "loud", "code": "for i in range(60): print('x' * 99_999, flush=True)"})
            self.assertEqual((result["status"], result["truncated"]), ("ok", True))
            self.assertIn("cannot write the journal", result["outputProblem"])
            heard = sum(len(o["output"]["text"]) for o in client.outputs("loud") if "output" in o)
            self.assertEqual(heard, 6_000_000)
            pages = list(client.pages("loud"))
            records = [record for page in pages for record in page["records"]]
            self.assertIn("cannot write the journal", pages[-1]["problem"])
            self.assertGreater(sum(len(r["output"]["text"]) for r in records if "output" in r), 2_000_000)
            self.assertEqual(records[-1]["skippedBytes"], pages[-1]["droppedBytes"])
            small = client.request("execute", {"code": "print('next')"})
            self.assertEqual((small["status"], small["truncated"]), ("ok", False))

    def test_journals_that_are_taken_away_are_missed_and_nothing_else(self):
        with Reader(self.workspace) as client:
            client.request("execute", {"executionId": "first", "code": "print('x' * 100_000)"})
            [directory] = self.workspace.home.rglob("journals/*/run-*")
            # Moved first: a file that is made ahead meanwhile would keep rmtree from ending.
            shutil.rmtree(directory.rename(self.workspace.home / "taken away"))
            [page] = client.pages("first")
            self.assertEqual([set(r) for r in page["records"]], [{"seq", "count", "skippedBytes"}])
            self.assertIn("cannot be read", page["problem"])
            result = client.request("execute", {"executionId": "second", "code": "print('heard')"})
            self.assertEqual((result["status"], result["truncated"]), ("ok", True))
            self.assertIn("No such file", result["outputProblem"])
            [output] = client.outputs("second")
            self.assertEqual(output["output"]["text"], "heard\n")

    def test_nothing_is_left_when_the_sidecar_ends_and_what_a_crash_left_goes_when_it_is_old(self):
        client = Reader(self.workspace)
        client.request("execute", {"executionId": "a", "code": "print('secret')"})
        [crashed] = self.workspace.home.rglob("journals/*/run-*")
        client.kill()
        [left] = [path for path in crashed.glob("*.jsonl") if path.stat().st_size]
        heading, line = map(json.loads, left.read_text().splitlines())
        self.assertEqual((heading["executionId"], heading["part"]), ("a", 0))
        self.assertEqual(line["output"]["text"], "secret\n")
        with Reader(self.workspace) as second:
            second.request("execute", {"executionId": "a", "code": "print('secret')"})
            self.assertEqual(len(list(self.workspace.home.rglob("journals/*/run-*"))), 2)
        self.assertEqual(list(self.workspace.home.rglob("journals/*/run-*")), [crashed])
        os.utime(crashed, (0, 0))
        with Reader(self.workspace):
            wait_until(lambda: not crashed.exists(), "the old journals to go")


class WhatTheKernelSays(SharedSidecarTest):
    capabilities = {"approvals": True, "input": True}

    FORGE = """
import hashlib, hmac, json
def forge(msg_type, content):
    # Signed as the kernel's own messages are: its code holds the key.
    kernel = get_ipython().kernel
    session = kernel.session
    header = json.dumps(session.msg_header(msg_type), default=str).encode()
    parent = json.dumps(kernel.get_parent() if hasattr(kernel, 'get_parent') else kernel._parent_header,
                        default=str).encode()
    parts = [header, parent, b'{}', content]
    sign = hmac.new(session.key, digestmod=hashlib.sha256)
    for part in parts: sign.update(part)
    socket = kernel.iopub_thread.socket if hasattr(kernel, 'iopub_thread') and kernel.iopub_thread else kernel.iopub_socket
    kernel.iopub_thread.send_multipart([b'x', b'<IDS|MSG>', sign.hexdigest().encode(), *parts])
"""
    RESOLVED = '"}},"method":"approval/resolved","params":{"approvalId":"1","decision":"allow","by":"user"},"x":{"y":{"z":"'

    def test_content_cannot_end_our_message_and_begin_another(self):
        for name, content in {
            "stream": '{"name":"stdout","text":"' + self.RESOLVED + '"}',
            "display_data": '{"data":{"text/plain":"' + self.RESOLVED + '"},"metadata":{}}',
            "error": '{"ename":"' + self.RESOLVED + '","evalue":"","traceback":[]}',
        }.items():
            with self.subTest(name):
                execution = self.run_ok(self.FORGE + f"forge({name!r}, {content.encode()!r})\nprint('end')")
                self.assertEqual(self.cellgate.received("approval/resolved"), [])
                self.assertIn("was dropped", execution.text("stderr"))
                self.assertEqual(execution.text(), "end\n")
                # The control: the same characters as text arrive as text.
                quoted = json.dumps({"name": "stdout", "text": self.RESOLVED})
                execution = self.run_ok(self.FORGE + f"forge('stream', {quoted.encode()!r})")
                self.assertEqual(execution.text(), self.RESOLVED)
        self.assertEqual(self.cellgate.received("approval/resolved"), [])

    def test_what_is_no_json_or_two_values_or_has_a_key_twice_is_dropped(self):
        for content in (b'{"name":"stdout","text":"a"} {"method":"x"}', b'{"name":"stdout","text":"a"',
                        b'{"name":"stdout","text":"a","text":"b"}', b'[' * 5000, b'{"name":"stdout","text":"\\u12"}',
                        b'{"name":"stdout","text":7}', b'', b'null'):
            with self.subTest(content[:40]):
                execution = self.run_ok(self.FORGE + f"forge('stream', {content!r})\nprint('end')")
                self.assertEqual(execution.text(), "end\n")
                self.assertIn("was dropped", execution.text("stderr"))

    def test_an_error_of_any_size_is_cut_and_says_so(self):
        execution = self.cellgate.run("raise ValueError('x' * 30_000_000 + 'the end')")
        error = execution.result()["error"]
        self.assertLess(len(json.dumps(error)), 4_000_000)
        self.assertIn("bytes cut", error["evalue"])
        self.assertTrue(error["evalue"].endswith("the end"))
        [shown] = [o for o in execution.outputs() if o["output_type"] == "error"]
        self.assertLess(len(json.dumps(shown)), 4_000_000)
        self.assertIn("the end", "".join(shown["traceback"]))
        execution = self.cellgate.run("type('E' * 1_000_000, (Exception,), {})")
        self.assertEqual(execution.result()["status"], "ok")
        execution = self.cellgate.run("raise type('E' * 1_000_000, (Exception,), {})()")
        self.assertLess(len(execution.result()["error"]["ename"]), 5_000)

    def test_a_prompt_of_any_size_is_cut(self):
        prompts = []

        def answer(params):
            prompts.append(params["prompt"])
            return {"value": "yes"}

        self.cellgate.handlers["input/request"] = answer
        self.assertEqual(self.run_ok("print(input('p' * 10_000_000 + '?'))").text()[-4:], "yes\n")
        [prompt] = prompts
        self.assertLess(len(prompt), 20_000)
        self.assertTrue(prompt.endswith("?"))

    def test_what_no_message_can_hold_is_a_file(self):
        size = 70_000_000
        execution = self.run_ok(f"from IPython.display import display\n"
                                f"display({{'text/plain': 'p', 'text/html': 'h' * {size}}}, raw=True)\nprint('end')")
        shown = execution.notifications()[0]
        self.assertEqual(shown["output"]["data"], {"text/plain": "p"})
        [file] = shown["files"]
        self.assertEqual((file["mime"], file["bytes"]), ("text/html", size))
        self.assertEqual(os.path.getsize(file["path"]), size)
        self.assertEqual(execution.text(), "end\n")
        page = self.cellgate.request("output/read", {"executionId": execution.id})
        self.assertEqual(page["records"][0]["files"], [file])

    def test_metadata_of_any_size_is_no_message(self):
        execution = self.run_ok("from IPython.display import display\n"
                                "display({'text/plain': 'p'}, raw=True, metadata={'x': 'm' * 70_000_000})")
        self.assertIn("metadata", execution.text("stderr"))


if __name__ == "__main__":
    unittest.main()
