"""What the checkers share: findings at places in code, and programs that are run to read what they print."""

import json
import os
import subprocess

MAX_FINDINGS = 1000
MAX_MESSAGE = 500
PATIENCE = 15  # seconds, with a program


def one_line(message):
    return " ".join(message.split())[:MAX_MESSAGE]


def code_points(line, units):
    """Code points in the first `units` UTF-16 units of a line."""
    return len(line.encode("utf-16-le", "surrogatepass")[:2 * units].decode("utf-16-le", "ignore"))


def finding(place, severity, rule, message, **more):
    """`place`: line, column, last line, last column."""
    line, column, end_line, end_column = place
    return {"line": line, "column": column, "endLine": end_line, "endColumn": end_column, "severity": severity,
            "rule": rule, "message": one_line(message), **more}


class Programs:
    """The programs of a check, and the folder that they share."""

    def __init__(self, asked):
        self.folder = asked["folder"]
        self._paths = asked["programs"]

    def has(self, name):
        """Whether it is there, and shown in here: what a link names outside the workspace is not."""
        return name in self._paths and os.access(self._paths[name], os.X_OK)

    def file_of(self, name):
        """Behind the link that npm makes."""
        return os.path.realpath(self._paths[name])

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        return os.path.join(self.folder, name)

    def write_json(self, name, value):
        return self.write(name, json.dumps(value))

    def run(self, name, *arguments, errors=False):
        """What it prints; with `errors`, what it prints on stderr. None: it took too long."""
        environment = dict(os.environ, HOME=self.folder, DENO_DIR=os.path.join(self.folder, "deno"), NO_COLOR="1",
                           DENO_NO_UPDATE_CHECK="1", NODE_OPTIONS="--max-old-space-size=1024")
        try:
            done = subprocess.run([self._paths[name], *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, cwd=self.folder, env=environment, check=False, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            return None
        return (done.stderr if errors else done.stdout).decode("utf-8", "replace")

    @staticmethod
    def read_json(text):
        try:
            value = json.loads(text or "")
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}
