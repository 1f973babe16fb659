"""Makes the types of the protocol's messages from schemas/.

    python3 schemas/generate.py clients              TypeScript and Lua, which are committed
    python3 schemas/generate.py messages FOLDER      C++ of the messages, into the build
    python3 schemas/generate.py error-codes FOLDER   C++ of the error codes, into the build

CMake does the last two. A file that is as it should be is not written, so nothing that depends on it is built again."""

import sys
from pathlib import Path

from generator import cpp, lua, typescript
from generator.cpp_model import NoType
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
        match arguments:
            case ["clients"]:
                write(REPOSITORY, client_files(Contract()))
            case ["messages", folder]:
                write(Path(folder), cpp.message_files(Contract()))
            case ["error-codes", folder]:
                write(Path(folder), cpp.error_files(Contract()))
            case _:
                return __doc__
    except (NoType, UnknownConstruct) as problem:
        return f"schemas/{problem}"
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
