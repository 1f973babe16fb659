"""`ExistingKernel` is an ipykernel that was not started by cellgate, for tests."""

import os
import subprocess
import tempfile

from processes import TIMEOUT

import jupyter_client
from jupyter_client.connect import write_connection_file


class ExistingKernel:
    """An ipykernel that a user has started, in a folder of its own."""

    def __init__(self, transport="tcp", name="kernel-existing.json"):
        self.folder = tempfile.TemporaryDirectory(prefix="k")
        self.file = os.path.join(self.folder.name, name)
        # ZeroMQ names the sockets PREFIX-1 to PREFIX-5.
        ip = {"ip": os.path.join(self.folder.name, "s")} if transport == "ipc" else {}
        write_connection_file(self.file, transport=transport, key=os.urandom(16).hex().encode(), **ip)
        environment = {"PATH": "/usr/bin:/bin", "HOME": self.folder.name, "LANG": "C.UTF-8"}
        self.process = subprocess.Popen(["/usr/bin/python3", "-m", "ipykernel_launcher", "-f", self.file],
                                        cwd=self.folder.name, env=environment, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.client = jupyter_client.BlockingKernelClient(connection_file=self.file)
        self.client.load_connection_file()
        self.client.start_channels(hb=False)
        self.client.wait_for_ready(timeout=TIMEOUT)

    def value(self, expression):
        """What another client of the kernel sees."""
        reply = self.client.execute("", user_expressions={"value": expression}, reply=True, timeout=TIMEOUT)
        return reply["content"]["user_expressions"]["value"]["data"]["text/plain"]

    def run(self, code):
        return self.client.execute(code, reply=True, timeout=TIMEOUT)

    def end(self):
        self.client.stop_channels()
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()
