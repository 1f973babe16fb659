"""The contract, checked by machine.

`validate.py` checks schemas/ itself: that every method of the tables has definitions and examples, that the examples
that are meant to pass do and those that are meant to fail do not, and that every message of transcript.md is one that
the schemas allow at that place. `validate.py --trace FILE...` checks what was really said: each FILE is a trace that
`cellgate --trace FILE` wrote, one JSON object a line:

    {"time": "...", "client": "...", "direction": "in" | "out", "message": {...}}

"in" is what cellgate received from the client, "out" what it sent. Every message is judged: by its envelope, its params
by the method, its result by the method of the request that it answers, its error by errors.json, and whether the
client's role may send or see it. A request that breaks the contract is in order when cellgate refused it with an error;
one that keeps it and is refused with -32601 or -32602 shows that code and schema have drifted apart. With --hostile,
the client misbehaves on purpose and only what cellgate sends is judged.

What a conversation has to keep beyond single messages is judged too: each request is answered at most once, an
execution's output is numbered without gaps, and after the reply to `execute` it is marked late.

Exit code 1 and one line for each violation when there are any. As modules: `contract.Contract().follow(lines).violations`
and `check_schemas.check_contract()`, both lists of strings.
"""

import argparse
import sys

from check_schemas import check_contract
from contract import Contract


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Checks cellgate's contract, or traces against it.")
    parser.add_argument("--trace", nargs="+", metavar="FILE", help="traces to check in place of the contract")
    parser.add_argument("--hostile", action="store_true", help="judge only what cellgate sends")
    options = parser.parse_args(arguments)
    if not options.trace:
        violations = check_contract()
        print("\n".join(violations) or "contract: ok")
        return 1 if violations else 0
    contract = Contract()
    failed = False
    for path in options.trace:
        with open(path, encoding="utf-8") as lines:
            conversation = contract.follow(lines, options.hostile)
        for violation in conversation.violations:
            print(f"{path}: {violation}")
        print(f"{path}: {conversation.messages} messages, {conversation.refused} refused, "
              f"{len(conversation.violations)} violations")
        failed |= bool(conversation.violations)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
