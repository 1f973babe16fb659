"""Attempts to escape from the sandbox, for `cellgate sandbox test`.

    main.py list               the attempts, as JSON
    main.py stage FOLDER       runs outside: makes a folder with targets for each attempt, and checks it afterwards;
                               one request a line on stdin, one answer a line
    main.py attempt ID PLACE   runs one: prints "escaped WHAT" or "held WHY"

The sidecar carries these files as one text, in which each is a module (sidecar/cli/CMakeLists.txt).
"""

import importlib
import json
import os
import subprocess
import sys

from attempts import attempts, place
from stage import stage

for topic in ("files", "rights", "network", "resources"):  # each adds its attempts
    importlib.import_module(topic)


def listed():
    return [{"id": name, **{key: value for key, value in each.items() if key != "function"}}
            for name, each in attempts.items()]


def run(name):
    try:
        found = attempts[name]["function"]()
        print(f"escaped {found}" if found else "held", flush=True)
    except (OSError, MemoryError, subprocess.SubprocessError) as error:
        print("held", type(error).__name__, error, flush=True)
    os._exit(0)


def main(arguments):
    if arguments[0] == "list":
        print(json.dumps(listed()))
    elif arguments[0] == "stage":
        stage(arguments[1])
    else:
        place.update(json.loads(arguments[2]))
        run(arguments[1])


if __name__ == "__main__":
    main(sys.argv[1:])
