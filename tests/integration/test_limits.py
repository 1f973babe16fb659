"""Limits of a session, with real kernels: what an execution that goes beyond one ends in."""

import os
import unittest

from cellgate_client import PlaceTest, RpcError


class Limits(PlaceTest):
    def setUp(self):
        super().setUp()
        self.cellgate = self.sidecar()

    def refused(self, limits, **more):
        with self.assertRaises(RpcError) as caught:
            self.cellgate.session("refused", limits=limits, **more)
        return caught.exception

    def test_too_much_memory_is_an_error_of_the_cell_and_its_variables_stay(self):
        info = self.cellgate.session("small", limits={"memoryBytes": 512 << 20})
        self.assertIn("memory-limit", info["layers"])
        self.cellgate.run("x = 1", sessionId="small")
        result = self.cellgate.run("b = bytearray(1 << 30)", sessionId="small").result()
        self.assertEqual(result["error"]["ename"], "MemoryError")
        self.assertIn("memory-limit", result["layers"])
        self.assertEqual(self.cellgate.run("x", sessionId="small").data()["text/plain"], "1")
        self.assertEqual(self.cellgate.run("b = bytearray(1 << 30)").result()["status"], "ok")  # the control

    def test_too_much_processor_time_ends_the_kernel_and_says_why(self):
        self.cellgate.session("short", limits={"cpuSeconds": 3})
        result = self.cellgate.run("while True: pass", sessionId="short").result()
        self.assertEqual(result["status"], "killed")
        self.assertIn("used its 3 s of processor time", result["reason"])
        self.assertEqual(self.cellgate.run("1", sessionId="short").result()["status"], "ok")  # a new kernel

    def test_what_would_not_hold_is_refused(self):
        for limits in ({"memory": 1}, {"memoryBytes": 0}, {"cpuSeconds": 0}, {"processCount": -1}, {"memoryBytes": "1"}):
            with self.subTest(limits):
                self.assertEqual(self.refused(limits).code, -32602)
        self.assertEqual(self.refused({"memoryBytes": 1 << 30}, sandbox=False).code, 1005)
        if os.geteuid() == 0:
            self.assertEqual(self.refused({"processCount": 100}).code, 1005)
        self.assertEqual(self.cellgate.request("session/list")["sessions"], [])


if __name__ == "__main__":
    unittest.main()
