"""IPYBOX.md and SANDBOXES.md name tests that there are."""

import re
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
NAMED = re.compile(r"`([./\w]+?)(?:\.cpp|:(test_\w+))`")


class Table(unittest.TestCase):
    def test_every_test_that_it_names_is_there(self):
        named = {table: NAMED.findall((HERE / table).read_text(encoding="utf-8")) for table in ("IPYBOX.md", "SANDBOXES.md")}
        self.assertGreater(len(named["IPYBOX.md"]), 60)
        self.assertGreater(len(named["SANDBOXES.md"]), 20)
        for table, file, name in [(table, *each) for table, found in named.items() for each in found]:
            with self.subTest(table=table, file=file, name=name):
                path = HERE / (file + (".py" if name else ".cpp"))
                self.assertTrue(path.is_file(), path)
                if name:
                    self.assertTrue(f"def {name}(self)" in path.read_text(encoding="utf-8"))  # the text is long


if __name__ == "__main__":
    unittest.main()
