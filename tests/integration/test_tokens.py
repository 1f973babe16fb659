"""tests/tokens/measure.py runs, and the table of docs/tokens.md has its tasks. Characters are counted here: what counts
tokens comes from npm."""

import sys
import unittest
from unittest import mock

from cellgate_client import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "tests/tokens"))
import measure  # noqa: E402
import tasks  # noqa: E402


class Tokens(unittest.TestCase):
    def test_a_task_is_measured(self):
        with (mock.patch.object(measure, "tokens", lambda texts: [len(text) for text in texts]),
              mock.patch.object(tasks, "TASKS", tasks.TASKS[:1])):
            [(name, directly, here)], (all_tools, own_tools) = measure.measure(10)
        self.assertEqual(name, tasks.TASKS[0].name)
        self.assertGreater(directly, all_tools)
        self.assertGreater(here, own_tools)

    def test_the_table_has_each_task(self):
        table = measure.TABLE.search(measure.PAGE.read_text(encoding="utf-8"))[0]
        self.assertEqual([line.split(" | ")[0][2:] for line in table.splitlines() if line.startswith("| ")],
                         ["task", "*definitions of the tools*", *(task.name for task in tasks.TASKS), "*all ten*"])


if __name__ == "__main__":
    unittest.main()
