"""Cells of R in IRkernel."""

import shutil
import unittest

from language_testing import LanguageTest


def shown(execution):
    """The result of a cell, which IRkernel displays."""
    [data] = [output["data"] for output in execution.outputs() if "data" in output]
    return data


@unittest.skipUnless(shutil.which("R"), "R's kernel is not installed")
class R(LanguageTest):
    language = "R"

    def test_state_stays_and_results_are_rich(self):
        self.run_ok("rows <- data.frame(a = 1:2, b = c('x', 'y')); add <- function(n) n + nrow(rows)")
        self.assertEqual(shown(self.run_ok("add(40)"))["text/plain"], "[1] 42")
        self.assertIn("<table", shown(self.run_ok("rows"))["text/html"])
        self.assertEqual(self.run_ok("cat('out\\n'); message('err')").text(), "out\n")

    def test_an_error_has_its_message_and_the_next_cell_runs(self):
        _, error = self.fails("f <- function() stop('boom')\nf()")
        self.assertIn("boom", error["evalue"])
        self.assert_state_is_kept("cat('on')", "on")

    def test_a_plot_is_a_picture(self):
        pictures = [o for o in self.run_ok("plot(1:3)").outputs() if "image/png" in o.get("data", {})]
        self.assertEqual(len(pictures), 1)

    def test_readline_asks_the_user(self):
        self.cellgate.handlers["input/request"] = lambda params: {"value": f"to {params['prompt']}"}
        self.assertEqual(self.run_ok("cat(readline('name? '))").text(), "to name? ")
        self.cellgate.handlers.pop("input/request")

    def test_an_interrupt_ends_a_loop_and_a_timeout_too(self):
        self.run_ok("kept <- 'kept'")
        execution = self.execute("cat('begun\\n'); flush.console(); while (TRUE) {}")
        execution.wait_for_text("begun")
        self.interrupt()
        self.assertEqual(execution.result()["status"], "cancelled")
        self.assertEqual(self.execute("while (TRUE) {}", timeoutSeconds=1).result()["status"], "timeout")
        self.assert_state_is_kept("cat(kept)", "kept")

    def test_completion_and_documentation(self):
        self.run_ok("unusual_name <- 1")
        found = self.cellgate.request("kernel/complete", {"sessionId": "s", "code": "unusual_", "cursorPos": 8})
        self.assertIn("unusual_name", found["matches"])
        self.assertTrue(self.cellgate.request("kernel/inspect", {"sessionId": "s", "code": "mean", "cursorPos": 4})["found"])

    def variables(self):
        found = self.cellgate.request("kernel/variables", {"sessionId": "s"})
        return {each["name"]: (each["type"], each["value"], each.get("size")) for each in found["variables"]}

    def test_variables_are_listed_by_type_value_and_length(self):
        self.run_ok("rm(list = ls())\nn <- 1:3; text <- 'a \"b\"\\n'; table <- data.frame(a = 1:2, b = 3:4); rest <- list(1, x = 'y')\n"
                    "add <- function(a, b = 2) a + b; where <- new.env(); none <- NULL; bytes <- '\\xff'; long <- rep('x', 1e6); empty <- character(0)")
        found = self.variables()
        self.assertEqual({name: value for name, value in found.items() if name != "long"}, {
            "n": ("integer", "1:3", "3"), "text": ("character", '"a \\"b\\"\\n"', "1"),
            "table": ("data.frame", "2 rows, 2 columns", "2"), "rest": ("list", "list(numeric, x)", "2"),
            "add": ("function", "function(a, b = 2)", None), "where": ("environment", "<environment>", None),
            "none": ("NULL", "NULL", "0"), "bytes": ("character", '"<not UTF-8>"', "1"), "empty": ("character", "character(0)", "0")})
        self.assertEqual(found["long"][::2], ("character", "1000000"))

    def test_listing_variables_runs_none_of_their_code(self):
        self.run_ok("rm(list = ls())\nran <- 0; x <- structure(list(), class = 'mine')\n"
                    "length.mine <- print.mine <- format.mine <- as.character.mine <- function(...) { ran <<- ran + 1; 1L }\n"
                    "makeActiveBinding('active', function() { ran <<- ran + 1; 'y' }, globalenv())")
        found = self.variables()
        self.assertEqual((found["active"], found["x"]), (("active binding", "", None), ("mine", "list()", "0")))
        self.assert_state_is_kept("cat(ran)", "0")
        self.assert_state_is_kept("invisible(length(x)); invisible(active); cat(ran)", "2")  # the control

    def test_the_sandbox_holds(self):
        (self.workspace.home / "secret.txt").write_text("secret")
        path = str(self.workspace.home / "secret.txt")
        self.fails(f"readLines('{path}')")
        execution = self.cellgate.run("cat(system('id -u', intern = TRUE))", sessionId="s")
        self.assertEqual(execution.result()["status"], "ok")
        self.fails("socketConnection('127.0.0.1', 9, timeout = 5)", approvals="deny")


if __name__ == "__main__":
    unittest.main()
