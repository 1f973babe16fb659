"""IPYBOX.md names tests that there are."""

import re
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
NAMED = re.compile(r"`([./\w]+?)(?:\.cpp|:(test_\w+))`")


class Table(unittest.TestCase):
    def test_every_test_that_it_names_is_there(self):
        found = NAMED.findall((HERE / "IPYBOX.md").read_text(encoding="utf-8"))
        self.assertGreater(len(found), 60)
        for file, name in found:
            with self.subTest(file=file, name=name):
                path = HERE / (file + (".py" if name else ".cpp"))
                self.assertTrue(path.is_file(), path)
                if name:
                    self.assertIn(f"def {name}(self)", path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
