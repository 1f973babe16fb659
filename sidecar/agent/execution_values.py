"""Shows the value of the cell before it and the names of its variables, as data of a MIME type of its own.

Runs in a Python kernel after an agent's code, in a namespace of its own, with a call of `show` at its end."""

import json
import math

from IPython import get_ipython
from IPython.display import publish_display_data

MAX_ITEMS = 100  # of a container
MAX_DEPTH = 20
MAX_TEXT = 1000  # of what JSON does not have, as text


def plain(value, depth=0):
    """The value as JSON has it; what JSON does not have becomes text."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(value)
    if depth < MAX_DEPTH and isinstance(value, (list, tuple)):
        return [plain(each, depth + 1) for each in value[:MAX_ITEMS]]
    if depth < MAX_DEPTH and isinstance(value, dict):
        return {str(key): plain(value[key], depth + 1) for key in list(value)[:MAX_ITEMS]}
    return str(value)[:MAX_TEXT]


def bounded(value, max_characters):
    try:
        made = plain(value)
        return made if len(json.dumps(made)) <= max_characters else str(value)[:MAX_TEXT]
    except Exception as error:  # of a class of the code
        return "<%s that fails with %s>" % (type(value).__name__, type(error).__name__)


def show(has_value, max_characters, mime_type):
    """`has_value`: whether the code ended with an expression that has a value."""
    shell = get_ipython()
    variables = shell.user_ns
    names = [name for name in variables if name not in shell.user_ns_hidden and not name.startswith("_")]
    shown = "_" if has_value else next((name for name in ("result", "output") if name in names), None)
    value = variables.get(shown)
    publish_display_data({mime_type: {"result": bounded(value, max_characters), "variables": names}})
