"""The configuration file of the command line, and what `cellgate config` shows."""

import json
import tomllib
import unittest
from pathlib import Path

import jsonschema

from cli_testing import CliTest


class Config(CliTest):
    def configure(self, text):
        path = self.workspace.base / "config/cellgate/config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def setUp(self):
        super().setUp()
        self.variables = {"XDG_CONFIG_HOME": str(self.workspace.base / "config")}

    def run_with(self, *words, **variables):
        return self.cli(*words, rooted=False, variables=self.variables | variables)

    def test_options_come_from_the_file_and_the_command_line_wins(self):
        data = self.workspace.base / "data"
        data.mkdir()
        (data / "a.txt").write_text("shown")
        script = self.script(f"print(open({str(data / 'a.txt')!r}).read())\nimport os; print(os.environ.get('MARK'))")
        self.assertEqual(self.run_with("run", script).returncode, 1)  # the control
        path = self.configure(f'[run]\nallow-read = ["{data}"]\n[session.create]\nlanguage = "bash"\n')
        ran = self.run_with("run", script)
        self.assertEqual((ran.returncode, ran.stdout), (0, "shown\nNone\n"), ran.stderr)
        # What the command line says is instead of it.
        other = self.workspace.base / "other"
        other.mkdir()
        self.assertEqual(self.run_with("run", "--allow-read", str(other), script).returncode, 1)
        values = json.loads(self.run_with("config", "--json").stdout)["values"]
        self.assertEqual([(each["name"], each["values"], each["from"]) for each in values][:2],
                         [("run.allow-read", [str(data)], f"{path}:2"),
                          ("session.create.language", ["bash"], f"{path}:4")])

    def test_the_sandbox_is_chosen_there(self):
        script = self.script("print(1)")
        for text, expected in (("", "bwrap"), ('[run]\nsandbox = "landlock"\n', "landlock")):
            self.configure(text)
            self.assertEqual(self.run_with("run", script).stdout, "1\n")
            lines = self.run_with("record", "export", "--type", "session.created").stdout.splitlines()
            self.assertEqual(json.loads(lines[-1])["data"]["sandbox"], expected)

    def test_a_flag_and_a_path_below_the_home(self):
        self.configure('[run]\nallow-read = "~/data"\n[stats]\njson = true\n')
        shown = self.run_with("config", "show", "--json", CELLGATE_SECRET_TOKEN="do-not-show")
        values = {each["name"]: each["values"] for each in json.loads(shown.stdout)["values"]}
        self.assertEqual(values["run.allow-read"], [self.workspace.environment()["HOME"] + "/data"])
        self.assertEqual(values["CELLGATE_SECRET_TOKEN"], ["(a secret)"])
        self.assertNotIn("do-not-show", shown.stdout)
        self.assertRegex(self.run_with("config").stdout, r"run\.allow-read +/.*/data +/.*config\.toml:2\n")

    def test_a_file_of_the_users_choice(self):
        path = self.workspace.base / "mine.toml"
        path.write_text("[queue]\njson = true\n")
        shown = self.run_with("--config-file", str(path), "config", "--json")
        self.assertEqual([each["name"] for each in json.loads(shown.stdout)["values"]][:1], ["queue.json"])
        missing = self.run_with("--config-file", str(path) + "x", "config")
        self.assertEqual(missing.returncode, 2)
        self.assertIn("mine.tomlx", missing.stderr)

    def test_what_is_wrong_in_it_is_named_with_its_place(self):
        for text, words in (("[run]\nalow-read = 1\n", "line 2: run.alow-read is no option of a subcommand; did you mean run.allow-read?"),
                            ("[walk]\nfast = true\n", "walk.fast is no option of a subcommand\n"),
                            ("[rnu]\nsandbx = 1\n", "did you mean run.sandbox?"),
                            ("[sesion.craete]\nlanguage = 1\n", "did you mean session.create.language?"),
                            ("[run\n", "line 1, column"),
                            ("[run]\ntimeout = 1979-05-27\n", "line 2: no option has such a value")):
            with self.subTest(text):
                path = self.configure(text)
                result = self.run_with("kernels")
                self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
                self.assertIn(str(path), result.stderr)
                self.assertIn(words, result.stderr)

    def test_its_schema_takes_what_the_file_may_say_and_nothing_else(self):
        (Path(self.workspace.environment()["HOME"]) / "data").mkdir()
        schema = json.loads(self.run_with("config", "schema").stdout)
        jsonschema.Draft7Validator.check_schema(schema)
        for text, valid in (('[run]\nallow-read = ["~/data"]\nsandbox = "gvisor"\ntimeout = 5\n[session.create]\nprofile = "x"\n', True),
                            ('[stats]\njson = true\n', True), ('[stats]\njson = "yes"\n', False),
                            ('[run]\nalow-read = 1\n', False), ('[walk]\nfast = true\n', False), ('timeout = 1\n', False)):
            with self.subTest(text):
                self.configure(text)
                shown = self.run_with("config")
                self.assertEqual(jsonschema.Draft7Validator(schema).is_valid(tomllib.loads(text)), valid)
                if valid:
                    self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("description", schema["properties"]["run"]["properties"]["allow-read"])
        for command, option, names in (("mcp", "log-level", ["error", "warning", "info", "debug"]),
                                       ("generate", "language", ["python", "typescript"])):
            self.assertEqual(schema["properties"][command]["properties"][option]["enum"], names)

    def test_a_value_counts_for_its_subcommand_alone(self):
        self.configure('[run]\ntimeout = "soon"\n')
        self.assertEqual(self.run_with("kernels").returncode, 0)
        for words in (["run", self.script("1")], ["config"]):
            ran = self.run_with(*words)
            self.assertEqual(ran.returncode, 1 if words == ["config"] else 2)
            self.assertRegex(ran.stderr, r"config\.toml:.*2: run\.timeout: expected a number greater than 0")

    def test_an_option_of_the_command_line_drops_what_it_excludes(self):
        data = self.workspace.base / "data"
        data.mkdir()
        self.configure(f'[run]\nallow-read = ["{data}"]\nlanguage = "bash"\n')
        ran = self.run_with("run", "--no-sandbox", "--kernel", "python3", self.script("print(7)"))
        self.assertEqual((ran.returncode, ran.stdout), (0, "7\n"), ran.stderr)
        self.configure(f'[run]\nallow-read = ["{data}"]\nno-sandbox = true\n')
        self.assertRegex(self.run_with("run", self.script("1")).stderr, r"config\.toml: line \d: run\.\S+ excludes --")

    def test_defaults_are_shown_when_they_are_asked_for(self):
        self.configure("[run]\ntimeout = 5\n")
        shown = json.loads(self.run_with("config", "show", "--defaults", "--json").stdout)["values"]
        values = {each["name"]: (each["values"], each["from"].split(":")[-1]) for each in shown}
        self.assertEqual(values["run.timeout"], (["5"], "2"))
        self.assertEqual(values["run.no-sandbox"], (["false"], "default"))
        self.assertEqual(values["mcp.log-level"], (["info"], "default"))
        self.assertEqual(values["serve.log-level"], (["warning"], "default"))
        self.assertEqual(values["generate.language"], (["python"], "default"))
        self.assertEqual(values["run.allow-read"], ([], "default"))
        self.assertEqual(values["record.list.limit"][1], "default")
        self.assertNotEqual(values["record.list.limit"][0], [])

    def test_a_broken_file_is_found_by_what_examines_it(self):
        folder = self.configure("").parent
        (folder / "policy").mkdir(mode=0o700)
        for name in ("config.toml", "profiles.json", "agents.json", "record.json", "policy/user.json"):
            with self.subTest(name):
                (folder / name).write_text("{bad")
                for words in (["doctor"], ["config", "show"]):
                    ended = self.run_with(*words)
                    self.assertEqual(ended.returncode, 1, ended.stdout)
                    self.assertIn(name, ended.stdout if words == ["doctor"] else ended.stderr)
                (folder / name).unlink()
        (folder / "record.json").write_text("[]")
        self.assertIn("record.json: expected", self.run_with("config").stderr)
        (folder / "record.json").unlink()
        (folder / "config.toml").write_text("[rnu]\nsandbx = 1\n")
        self.assertIn("no subcommand has such an option; did you mean run.sandbox?", self.run_with("config").stderr)
        (folder / "config.toml").write_text("{bad")
        for command in ("status", "stop"):
            self.assertNotEqual(self.run_with(command).returncode, 2)

    def test_nothing_is_read_from_the_workspace(self):
        self.workspace.write("config.toml", "[nonsense")
        self.workspace.write("cellgate/config.toml", "[nonsense")
        shown = self.run_with("config")
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        self.assertNotIn(str(self.workspace.path), shown.stdout)


if __name__ == "__main__":
    unittest.main()
