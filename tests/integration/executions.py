"""What a client waits for: the answer to a request, and what an execution prints and becomes."""

from processes import TIMEOUT


class RpcError(Exception):
    """An error that cellgate answered; or, raised by a handler, one that this client answers."""

    def __init__(self, code, message, data=None):
        super().__init__(f"{code} {message} {data or ''}")
        self.code = code
        self.message = message
        self.data = data or {}

    @property
    def hint(self):
        return self.data.get("hint", "")


class Gone(Exception):
    """The sidecar ended before it answered."""


class Pending:
    """A request that was sent."""

    def __init__(self, sidecar, request_id, method):
        self.sidecar = sidecar
        self.id = request_id
        self.method = method
        self.reply = None

    @property
    def done(self):
        return self.reply is not None

    def result(self, timeout=TIMEOUT):
        self.sidecar.wait(lambda: self.done or self.sidecar.ended, f"the answer to {self.method}", timeout)
        if self.reply is None:
            raise Gone(f"{self.method}: the sidecar ended. Its log:\n{self.sidecar.log()}")
        if "error" in self.reply:
            error = self.reply["error"]
            raise RpcError(error["code"], error["message"], error.get("data"))
        return self.reply["result"]


class Execution:
    """A cell that was sent."""

    def __init__(self, sidecar, execution_id, pending):
        self.sidecar = sidecar
        self.id = execution_id
        self.pending = pending

    def result(self, timeout=TIMEOUT):
        return self.pending.result(timeout)

    def notifications(self):
        return [o for o in self.sidecar.received("execute/output") if o["executionId"] == self.id]

    def outputs(self):
        return [o["output"] for o in self.notifications() if "output" in o]

    def text(self, name="stdout"):
        return "".join(o["text"] for o in self.outputs() if o["output_type"] == "stream" and o["name"] == name)

    def data(self):
        """The MIME bundle of the cell's result."""
        bundles = [o["data"] for o in self.outputs() if o["output_type"] == "execute_result"]
        assert len(bundles) == 1, f"expected one execute_result, found {self.outputs()}"
        return bundles[0]

    def wait_for_text(self, text, timeout=TIMEOUT):
        self.sidecar.wait(lambda: text in self.text(), lambda: f"{text!r} from {self.id}, which printed "
                          f"{self.text()!r} {self.text('stderr')!r}", timeout)
        return self

    def wait_running(self, timeout=TIMEOUT):
        return self._wait_state("running", timeout)

    def wait_queued(self, timeout=TIMEOUT):
        return self._wait_state("queued", timeout)

    def _wait_state(self, state, timeout):
        self.sidecar.wait_for("execute/changed", lambda c: c["executionId"] == self.id and c["state"] == state, timeout)
        return self
