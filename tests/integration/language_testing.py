"""Sessions of other languages than Python, for tests."""

import unittest

from cellgate_client import REPOSITORY, SharedSidecarTest
from workspaces import SYSTEM_PATH

DENO = REPOSITORY / "tests/node_modules/deno/deno"


class LanguageTest(SharedSidecarTest):
    """Cells run in one session of `language`. `programs`: a folder that is on PATH of the sidecar."""

    language = None
    programs = None

    @classmethod
    def setUpClass(cls):
        if cls.programs:
            cls.environment = {**(cls.environment or {}), "PATH": f"{cls.programs}:{SYSTEM_PATH}"}
        super().setUpClass()
        cls.session = cls.cellgate.session("s", language=cls.language)

    def execute(self, code, **params):
        return self.cellgate.execute(code, **{"sessionId": "s", **params})

    def run_ok(self, code, **params):
        return super().run_ok(code, **{"sessionId": "s", **params})

    def fails(self, code, **params):
        """The execution, and its error."""
        execution = self.execute(code, **params)
        result = execution.result()
        self.assertEqual(result["status"], "error", (result, execution.outputs()))
        return execution, result["error"]

    def interrupt(self):
        self.cellgate.request("session/interrupt", {"sessionId": "s"})

    def assert_state_is_kept(self, code, expected):
        self.assertEqual(self.run_ok(code).text().strip(), expected)


class DenoTest(LanguageTest):
    language = "typescript"
    programs = DENO.parent

    @classmethod
    def setUpClass(cls):
        if not DENO.exists():
            raise unittest.SkipTest("npm's packages are not installed")
        super().setUpClass()
