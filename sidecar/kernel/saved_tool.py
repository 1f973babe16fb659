"""Runs a saved tool: `prepare` comes first in its kernel, `run` behind its code, in the same cell. What `run` finds is
displayed as one JSON object: `description`, `inputSchema`, `outputSchema`, and after a call `value`."""

import collections.abc
import dataclasses
import datetime
import enum
import importlib.util
import inspect
import json
import os
import pathlib
import re
import sys
import types
import typing

from IPython.display import display

SIMPLE = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    type(None): {"type": "null"},
    datetime.date: {"type": "string"},
    datetime.datetime: {"type": "string"},
    pathlib.Path: {"type": "string"},
}
ARRAYS = (list, tuple, set, frozenset, collections.abc.Sequence, collections.abc.Iterable)
OBJECTS = (dict, collections.abc.Mapping)
MIME_TYPE = "application/vnd.cellgate.saved-tool+json"


def schema_of(hint):
    """Of a type; one that JSON Schema does not have is any value."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if isinstance(hint, collections.abc.Hashable) and hint in SIMPLE:
        return dict(SIMPLE[hint])
    if origin is typing.Annotated:
        words = [each for each in args[1:] if isinstance(each, str)]
        return dict(schema_of(args[0]), **({"description": words[0]} if words else {}))
    if origin is typing.Literal:
        return {"enum": list(args)}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [schema_of(each) for each in args]}
    if hint in ARRAYS or origin in ARRAYS:
        items = schema_of(args[0]) if args and (origin is not tuple or args[1:] == (...,)) else {}
        return {"type": "array", **({"items": items} if items else {})}
    if hint in OBJECTS or origin in OBJECTS:
        values = schema_of(args[1]) if len(args) == 2 else {}
        return {"type": "object", **({"additionalProperties": values} if values else {})}
    return schema_of_class(hint) if isinstance(hint, type) else {}


def schema_of_class(hint):
    if typing.is_typeddict(hint) or dataclasses.is_dataclass(hint):
        hints = typing.get_type_hints(hint, include_extras=True)
        required = hint.__required_keys__ if typing.is_typeddict(hint) else required_fields(hint)
        properties = {name: schema_of(each) for name, each in hints.items()}
        return {"type": "object", "properties": properties, "required": sorted(required)}
    if issubclass(hint, enum.Enum):
        return {"enum": [each.value for each in hint]}
    return {"type": "object"} if hasattr(hint, "model_validate") else {}  # pydantic's


def required_fields(hint):
    missing = dataclasses.MISSING
    return [each.name for each in dataclasses.fields(hint) if each.default is missing and each.default_factory is missing]


def given(hint, value):
    """An argument, which is JSON, as its hint has it."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return given(args[0], value)
    if origin in (typing.Union, types.UnionType):
        kinds = [each for each in args if each is not type(None)]
        return value if value is None or len(kinds) != 1 else given(kinds[0], value)
    if isinstance(value, list) and (origin or hint) in (list, tuple, set, frozenset):
        items = [given(args[0], each) if args else each for each in value]
        return (origin or hint)(items)
    if isinstance(value, dict) and origin in OBJECTS and len(args) == 2:
        return {name: given(args[1], each) for name, each in value.items()}
    if not isinstance(hint, type):
        return value
    if dataclasses.is_dataclass(hint) and isinstance(value, dict):
        hints = typing.get_type_hints(hint, include_extras=True)
        return hint(**{name: given(hints.get(name), each) for name, each in value.items()})
    if hasattr(hint, "model_validate"):
        return hint.model_validate(value)
    if issubclass(hint, (datetime.datetime, datetime.date)):
        return hint.fromisoformat(value)
    return hint(value) if issubclass(hint, (enum.Enum, pathlib.Path)) else value


def words_of_parameters(text):
    """From the section "Args:" of a docstring: name -> description."""
    section = re.search(r"(?ms)^\s*(?:Args|Arguments|Parameters):\s*\n(.*?)(?:\n\s*\n|\Z)", text)
    lines = section[1].splitlines() if section else []
    found = (re.match(r"\s*(\w+)(?:\s*\([^)]*\))?:\s*(.+)", line) for line in lines)
    return {each[1]: each[2].strip() for each in found if each}


def describe(name, function):
    text = inspect.getdoc(function) or ""
    words = words_of_parameters(text)
    hints = typing.get_type_hints(function, include_extras=True)
    properties, required = {}, []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"{name}: a tool's parameters have names, and *{parameter.name} has none")
        schema = schema_of(hints.get(parameter.name, typing.Any))
        if parameter.name in words:
            schema.setdefault("description", words[parameter.name])
        if parameter.default is parameter.empty:
            required.append(parameter.name)
        else:
            try:
                schema["default"] = json.loads(json.dumps(parameter.default, allow_nan=False))
            except (TypeError, ValueError):
                pass  # it stays the function's own affair
        properties[parameter.name] = schema
    arguments = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    result = {"type": "object", "properties": {"result": schema_of(hints.get("return", typing.Any))}, "required": ["result"]}
    return {"description": text.split("\n\n")[0].replace("\n", " "), "inputSchema": arguments, "outputSchema": result}


def plain(value):
    """What JSON does not have, as something that it has."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, pathlib.PurePath):
        return str(value)
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if type(value).__module__.startswith("pandas.") and hasattr(value, "to_dict"):
        return value.to_dict("records") if value.ndim == 2 else value.tolist()
    if hasattr(value, "tolist"):  # NumPy's
        return value.tolist()
    raise TypeError(f"it returned a {type(value).__name__}, which JSON does not have: return a dict, a list or text")


async def run(defined, name, arguments):
    """`defined`: what the code has defined, by name. `arguments`: the text of a JSON object; None: the function is not
    called."""
    function = defined.get(name)
    if not inspect.isfunction(function):
        raise NameError(f"the code defines no function {name}")
    found = describe(name, function)
    if arguments is not None:
        hints = typing.get_type_hints(function, include_extras=True)
        value = function(**{each: given(hints.get(each), value) for each, value in json.loads(arguments).items()})
        if inspect.isawaitable(value):
            value = await value
        found["value"] = json.loads(json.dumps(value, default=plain, allow_nan=False))
    display({MIME_TYPE: found}, raw=True)


def prepare(folder):
    """Goes to the workspace, of which the wrappers alone can be imported: other modules there are what any code wrote."""
    sys.path[:] = [each for each in sys.path if each not in ("", os.getcwd())]
    os.chdir(folder)
    package = os.path.join(folder, "mcptools")
    if os.path.isfile(os.path.join(package, "__init__.py")):
        spec = importlib.util.spec_from_file_location(
            "mcptools", os.path.join(package, "__init__.py"), submodule_search_locations=[package]
        )
        sys.modules["mcptools"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["mcptools"])
    ours = types.ModuleType("_cellgate_saved_tool")
    ours.run = run
    sys.modules[ours.__name__] = ours
