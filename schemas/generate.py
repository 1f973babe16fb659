"""Makes the types of the protocol's messages from schemas/.

    python3 schemas/generate.py clients      TypeScript and Lua, which are committed
    python3 schemas/generate.py cpp FOLDER   C++, by CMake, into the build

A file that is as it should be is not written, so nothing that depends on it is built again."""

import sys
from pathlib import Path

from generator import lua, typescript
from generator.schema import Contract, UnknownConstruct

REPOSITORY = Path(__file__).resolve().parents[1]


def client_files(contract):
    return {**typescript.files(contract), **lua.files(contract)}


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def main(arguments):
    try:
        if arguments == ["clients"]:
            write(REPOSITORY, client_files(Contract()))
            return None
    except UnknownConstruct as problem:
        return f"schemas/{problem}"
    return __doc__


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
