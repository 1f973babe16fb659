"""comm_channel.py in a real kernel, with the sidecar's side played here: calls come over a comm while a cell waits for
them, each once, also over a carrier that loses and repeats messages by a seed."""

import base64
import json
import os
import random
import sys
import tempfile
import threading
import unittest
from pathlib import Path

import jupyter_client
import zmq

REPOSITORY = Path(__file__).resolve().parents[2]
SOURCE = (REPOSITORY / "sidecar/kernel/comm_channel.py").read_text()
TIMEOUT = 120

# A cell that calls as the wrappers' runtime does, and looks at each answer.
CALLS = """
import json, os, socket
def calls(count):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(os.environ["CELLGATE_CHANNEL"])
    with connection, connection.makefile("rwb") as lines:
        for number in range(count):
            lines.write(json.dumps({"id": number}).encode() + b"\\n")
            lines.flush()
            assert json.loads(lines.readline()) == {"id": number, "result": "é"}, number
calls(%d)
"""


def comm_channel():
    names = {"__name__": "comm_channel"}
    exec(compile(SOURCE, "comm_channel.py", "exec"), names)
    return names


class Answerer:
    """The sidecar's side: answers each line of each connection, and counts them. `lossy`: of the carrier."""

    def __init__(self, client, comm, lossy=None):
        self.session = client.session.clone()
        self.context = zmq.Context()
        self.iopub = self.context.socket(zmq.SUB)
        self.iopub.subscribe(b"")
        self.iopub.connect(client._make_url("iopub"))
        self.control = self.context.socket(zmq.DEALER)
        self.control.connect(client._make_url("control"))
        self.comm = comm
        self.lossy = lossy
        self.calls = []
        self.unfinished = {}
        self.link = comm_channel()["Link"](self.send, self.deliver)
        self.ended = threading.Event()
        self.reader = threading.Thread(target=self.read)
        self.repeater = threading.Thread(target=self.repeat)
        self.reader.start()
        self.repeater.start()

    def send(self, message):
        content = {"comm_id": self.comm, "data": message}
        for _ in range(1 if self.lossy is None else self.lossy.choice((0, 1, 1, 2))):
            self.session.send(self.control, "comm_msg", content)

    def deliver(self, message):
        if message.get("end"):
            return
        *lines, rest = (self.unfinished.pop(message["stream"], b"") + base64.b64decode(message["bytes"])).split(b"\n")
        self.unfinished[message["stream"]] = rest
        for line in lines:
            call = json.loads(line)
            self.calls.append((message["stream"], call["id"]))
            answer = json.dumps({"id": call["id"], "result": "é"}, ensure_ascii=False).encode() + b"\n"
            self.link.post({"stream": message["stream"], "bytes": base64.b64encode(answer).decode()})

    def read(self):
        while not self.ended.is_set():
            if not self.iopub.poll(200):
                continue
            _, message = self.session.recv(self.iopub)
            content = message["content"]
            if message["msg_type"] == "comm_msg" and content["comm_id"] == self.comm:
                for _ in range(1 if self.lossy is None else self.lossy.choice((0, 1, 1, 2))):
                    self.link.receive(dict(content["data"]))

    def repeat(self):
        while not self.ended.wait(0.2):
            self.link.repeat()

    def end(self):
        self.ended.set()
        self.reader.join()
        self.repeater.join()
        self.context.destroy(linger=0)


class Again(unittest.TestCase):
    def test_what_is_not_acknowledged_is_sent_when_it_is_asked_for(self):
        sent = []
        link = comm_channel()["Link"](sent.append, None)
        for number in range(3):
            link.post({"stream": number})
        sent.clear()
        link.receive({"ack": 1, "again": True})
        self.assertEqual([(each.get("seq"), each.get("stream"), each["ack"]) for each in sent],
                         [(None, None, 0), (2, 1, 0), (3, 2, 0)])


class CommChannel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.manager = jupyter_client.KernelManager()
        cls.manager.kernel_spec.argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        cls.manager.connection_file = os.path.join(cls.folder.name, "kernel.json")
        cls.manager.start_kernel(cwd=cls.folder.name)
        cls.client = cls.manager.client()
        cls.client.start_channels()
        cls.client.wait_for_ready(timeout=TIMEOUT)
        cls.comms = 0

    @classmethod
    def tearDownClass(cls):
        cls.client.stop_channels()
        cls.manager.shutdown_kernel(now=True)
        cls.folder.cleanup()

    def run_code(self, code):
        """The reply. Another thread reads iopub."""
        message_id = self.client.execute(code, silent=True)
        while True:
            reply = self.client.get_shell_msg(timeout=TIMEOUT)
            if reply["parent_header"].get("msg_id") == message_id:
                self.assertEqual(reply["content"]["status"], "ok", reply["content"])
                return reply["content"]

    def attach(self, lossy=None):
        type(self).comms += 1
        comm = f"cellgate-{self.comms}"
        self.run_code(f"(lambda names: [exec({SOURCE!r}, names), names['tools']().attach({comm!r})] and None)"
                      "({'__name__': '_cellgate_comm_channel'})")
        answerer = Answerer(self.client, comm, lossy)
        self.addCleanup(answerer.end)
        return answerer

    def test_calls_are_answered_while_their_cell_runs(self):
        answerer = self.attach()
        self.run_code(CALLS % 20)
        self.assertEqual([number for _, number in answerer.calls], list(range(20)))

    def test_each_call_arrives_once_over_a_carrier_that_loses_and_repeats(self):
        for seed in range(3):
            with self.subTest(seed=seed):
                answerer = self.attach(random.Random(seed))
                # What is in the kernel already waits longer before it repeats.
                self.run_code("import sys\nsys.modules['_cellgate_tools'].tools._channels"
                              f"['{answerer.comm}'].link.repeat.__globals__['REPEAT'] = 0.2")
                self.run_code(CALLS % 10)
                self.assertEqual([number for _, number in answerer.calls], list(range(10)))

    def test_files_are_on_the_path_and_are_replaced(self):
        self.attach()
        deliver = "import sys; sys.modules['_cellgate_tools'].tools.deliver(%r)\n"
        self.run_code(deliver % {"mcptools/a.py": "value = 'é'\n", "mcptools/__init__.py": ""})
        self.run_code("from mcptools.a import value; assert value == 'é'")
        self.run_code(deliver % {"mcptools/__init__.py": "", "mcptools/b/c.py": "value = 2"})
        self.run_code("from mcptools.b.c import value; assert value == 2\n"
                      "import os, mcptools; assert 'a.py' not in os.listdir(os.path.dirname(mcptools.__file__))")

    def test_the_folder_is_private_and_a_detached_channel_is_gone(self):
        answerer = self.attach()
        self.run_code("import os, stat\nchannel = os.environ['CELLGATE_CHANNEL']\n"
                      "assert stat.S_IMODE(os.stat(os.path.dirname(channel)).st_mode) == 0o700")
        with answerer.link._lock:
            answerer.send({"detach": True})
        self.run_code("import time\nwhile os.path.exists(channel): time.sleep(0.01)\n"
                      "assert os.environ.get('CELLGATE_CHANNEL') != channel")


if __name__ == "__main__":
    unittest.main()
