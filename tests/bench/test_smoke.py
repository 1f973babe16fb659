"""The bench runs and prints every line. How long anything takes decides nothing here."""

import json
import math
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import bench
from bench_lines import Line

HERE = Path(__file__).resolve().parent


class Smoke(unittest.TestCase):
    def test_a_quick_run_prints_every_line_and_fails_in_none(self):
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            done = subprocess.run(
                ["/usr/bin/python3", "-B", HERE / "bench.py", "--build", os.environ["CELLGATE_BUILD"], "--quick",
                 "--json", file.name], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=1100)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            records = json.load(file)["lines"]
        self.assertEqual([record["line"] for record in records], [line.name() for line in bench.LINES])
        for record in records:
            self.assertIn(record["work"], done.stdout)
            # A peer may not be installed here; cellgate and the floor are.
            problem = record.get("problem", "is not installed")
            self.assertIn("is not installed", problem)
            if "problem" not in record:
                self.assertTrue(math.isfinite(record["value"]))  # what connect adds is a difference: noise decides

    def test_a_filter_that_matches_nothing_lists_the_lines(self):
        done = subprocess.run(["/usr/bin/python3", "-B", HERE / "bench.py", "--build", ".", "FILTER=nothing at all"],
                              capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("tool call from a cell / direct MCP call", done.stderr)

    def test_a_ratio_above_its_goal_is_missed_and_one_below_is_met(self):
        line = Line("group", "work", "ours", "floor", 1.5)
        for ours, met in (([1.4, 1.4, 9], True), ([1.6, 1.6, 0], False)):
            record = bench.judged(line, {"group": {"ours": ours, "floor": [1.0]}}, None)
            self.assertEqual((record["met"], bench.row(record)[-1]), (met, "met" if met else "MISSED"))

    def test_a_line_of_a_percentile_is_judged_by_its_slow_samples(self):
        line = Line("group", "work", "ours", None, 0.1, percent=95)
        for slow, met in ((5, True), (6, False)):
            record = bench.judged(line, {"group": {"ours": [0.05] * (101 - slow) + [0.2] * slow}}, None)
            self.assertEqual(record["met"], met)


if __name__ == "__main__":
    unittest.main()
