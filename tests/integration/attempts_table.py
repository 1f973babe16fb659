"""The table of docs/escape-attempts.md: what each launcher does with each attempt, by what `cellgate sandbox test` says.

    CELLGATE=build/cellgate /usr/bin/python3 -B tests/integration/attempts_table.py

writes it again. tests/integration/test_sandbox_check.py checks that it is what the program says.
"""

import json
import os
import subprocess

from cellgate_client import CELLGATE, REPOSITORY

DOCUMENT = REPOSITORY / "docs/escape-attempts.md"
LAUNCHERS = ("bwrap", "gvisor", "landlock")
MARK = "<!-- the table, by tests/integration/attempts_table.py -->\n"


def verdict(launcher, attempt):
    """A limit that this machine does not have holds elsewhere, by the same layer."""
    outcome = attempt["inSandbox"]["outcome"]
    if outcome == "lacking":
        return "gVisor's own" if launcher == "gvisor" else "lacks it"
    return attempt["layer"] if outcome in ("held", "notTried") else outcome


def table(reports):
    """`reports`: what the test says with --json, by launcher."""
    attempts = {launcher: {each["id"]: each for each in report["attempts"]} for launcher, report in reports.items()}
    lines = ["| attempt | it tries to | " + " | ".join(LAUNCHERS) + " |", "|---" * (2 + len(LAUNCHERS)) + "|"]
    for name in sorted(attempts["bwrap"]):
        verdicts = " | ".join(verdict(launcher, attempts[launcher][name]) for launcher in LAUNCHERS)
        lines.append(f"| `{name}` | {attempts['bwrap'][name]['title']} | {verdicts} |")
    return "\n".join(lines) + "\n"


def written_table():
    return DOCUMENT.read_text(encoding="utf-8").split(MARK)[1]


def main():
    reports = {}
    for launcher in LAUNCHERS:
        ended = subprocess.run([CELLGATE, "sandbox", "test", "--json", "--sandbox", launcher], stdin=subprocess.DEVNULL,
                               capture_output=True, text=True, env=os.environ)
        reports[launcher] = json.loads(ended.stdout)
    above = DOCUMENT.read_text(encoding="utf-8").split(MARK)[0]
    DOCUMENT.write_text(above + MARK + table(reports), encoding="utf-8")


if __name__ == "__main__":
    main()
