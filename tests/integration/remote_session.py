"""A session on a Jupyter server, for tests: `RemoteTest`."""

import tempfile
import unittest
from pathlib import Path

from cellgate_client import Sidecar, WorkspaceTest
from executions import RpcError
from remote_testing import TOKEN, JupyterServer, Relay, has_jupyter_server

WRITE = "from mcptools.host import write_file\nprint(write_file.run(path='made.txt', content='from afar'))\n"


@unittest.skipUnless(has_jupyter_server(), "needs python3-jupyter-server")
class RemoteTest(WorkspaceTest):
    """A Jupyter server for the tests of a class; each test has a sidecar and a session `far`, if it wants one."""

    arguments = ()
    namespace = False
    home_prefix = None  # of the name of the server's home

    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.TemporaryDirectory(prefix=cls.home_prefix)
        cls.addClassCleanup(cls.home.cleanup)
        cls.server = JupyterServer(Path(cls.home.name), *cls.arguments, namespace=cls.namespace)
        cls.addClassCleanup(cls.server.close)

    def sidecar(self, **more):
        self.addCleanup(lambda: self.assertEqual(self.server.kernels(), [], "left on the server"))
        cellgate = self.enterContext(Sidecar(self.workspace, **more))
        self.cellgate = cellgate
        return cellgate

    def enterContext(self, context):  # unittest has it since 3.11
        result = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return result

    def create(self, url=None, **server):
        return self.cellgate.session("far", kernel={"server": {"url": url or self.server.url, "token": TOKEN, **server}})

    def run_far(self, code, **more):
        return self.cellgate.run(code, sessionId="far", **more)

    def refused(self, code, method, params):
        with self.assertRaises(RpcError) as caught:
            self.cellgate.request(method, params)
        self.assertEqual(caught.exception.code, code, caught.exception)
        return caught.exception

    def relay(self, cuts=(), **more):
        relay = Relay(self.server, cuts, **more)
        self.addCleanup(relay.close)
        return relay

    def begin_with_tools(self, url=None):
        self.sidecar()
        self.cellgate.request("wrappers/generate", {"server": "host"})
        self.assertEqual(len(self.create(url)["sandboxNotices"]), 1)

    def asked_to_write(self):
        execution = self.cellgate.execute(WRITE, sessionId="far", cell={"uri": "file:///home/ada/tour.py", "line": 10})
        return execution, self.cellgate.approval()

    def made(self):
        return self.workspace.path / "made.txt"
