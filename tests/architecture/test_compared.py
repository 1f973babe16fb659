"""compared.py finds what is wrong with a page, and nothing on ours."""

import json
import unittest

import compared

TESTS = {ids: ["test_file:test_it"] for ids in ("I1–I37", "P1–P31", "S1–S106")}
FILES = {"tests/integration/test_file.py": "def test_it(self): pass"}


def page(*rows):
    rows = rows or tuple(TESTS)
    return "\n".join(f"| {ids} | there | {here} |" for ids, here in ((row, "here") if isinstance(row, str) else row
                                                                  for row in rows))


def found(text, tests=None):
    return list(compared.faults(text, TESTS if tests is None else tests, FILES.get))


class Compared(unittest.TestCase):
    def test_ours_is_right(self):
        page, tests = compared.text_of(compared.PAGE), json.loads(compared.text_of(compared.TABLE))
        self.assertEqual(list(compared.faults(page, tests, compared.text_of)), [])

    def test_each_feature_is_there_once(self):
        self.assertEqual(found(page()), [])
        self.assertEqual(found(page("I1–I36", "P1–P31", "S1–S106"), {**TESTS, "I1–I36": ["test_file:test_it"]}),
                         ["I37 is 0 times on the page, not once", "tests are named for I1–I37, which is no row"])
        self.assertIn("P7 is 2 times on the page, not once",
                      found(page(*TESTS, "P7"), {**TESTS, "P7": ["test_file:test_it"]}))
        self.assertIn("S107 is no feature", found(page(*TESTS, "S107"), {**TESTS, "S107": ["test_file:test_it"]}))

    def test_each_row_has_tests_or_says_that_it_is_not_there(self):
        without = {ids: tests for ids, tests in TESTS.items() if ids != "P1–P31"}
        self.assertEqual(found(page("I1–I37", ("P1–P31", "not yet"), "S1–S106"), without), [])
        for wrong, tests in ((page(), without), (page("I1–I37", ("P1–P31", "not yet: but"), "S1–S106"), TESTS)):
            self.assertEqual(found(wrong, tests), ['P1–P31: expected tests, or the words "not yet", and not both'])
        self.assertEqual(compared.not_yet(page("I1", ("S67–S69", "not yet"))), ["S67", "S68", "S69"])

    def test_each_test_exists(self):
        for test in ("test_file:test_other", "test_nofile:test_it", "test_file", "/etc/passwd:test_it"):
            with self.subTest(test):
                self.assertEqual(found(page(), {**TESTS, "I1–I37": [test]}), [f"I1–I37: there is no test {test}"])

    def test_one_of_a_rows_tests_has_a_word_of_its_code(self):
        for here, wrong in (("`it`, `pass FILE`", []), ("`other`", ["I1–I37: none of its tests has a word of other"])):
            self.assertEqual(found(page(("I1–I37", here), "P1–P31", "S1–S106")), wrong)


if __name__ == "__main__":
    unittest.main()
