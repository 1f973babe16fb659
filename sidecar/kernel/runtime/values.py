"""The runtime of the tool wrappers in this folder, made by cellgate; changes are overwritten.

A wrapper's `run` sends its call over the kernel's tool channel (a unix socket, one JSON-RPC 2.0 message per line),
waits for the decision and the tool's answer, and returns that. What users of the wrappers need of it, `mcptools` itself
exports.
"""

from __future__ import annotations

import enum
from typing import Any, Callable, ClassVar, Dict, Final, List, Mapping, Optional, Tuple, Type, TypeVar, cast


class Unset(enum.Enum):
    """The type of `UNSET`: an absent value, which is not the same as `None`."""

    UNSET = "UNSET"

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> bool:
        return False


UNSET: Final = Unset.UNSET


class ToolCallError(RuntimeError):
    """A call that brought no result. `server` and `tool` are what was called, and `kind` names the cause."""

    __module__ = "mcptools"  # where it is exported, and its name in tracebacks

    def __init__(self, message: str, kind: str = "failed", server: str = "", tool: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.server = server
        self.tool = tool

    def __str__(self) -> str:
        message = super().__str__()
        return f"{self.server}.{self.tool}: {message}" if self.tool else message

    @property
    def message(self) -> str:
        """The text without the names of server and tool."""
        return super().__str__()

    def __reduce__(self) -> Any:
        return (type(self), (self.message, self.kind, self.server, self.tool))


class ToolError(ToolCallError):
    """The tool server answered that the call failed, or with something that its own schema does not allow."""

    __module__ = "mcptools"


class ToolConnectionError(ToolCallError):
    """No answer came: the tool server did not start, ended or broke the protocol, or cellgate itself is gone.

    The tool may have run nevertheless.
    """

    __module__ = "mcptools"


class ApprovalDenied(ToolCallError):
    """The call was not allowed; the reason is the message."""

    __module__ = "mcptools"

    def __str__(self) -> str:
        return self.message


# ---- Values: typed classes on this side, JSON in the wire's own names on the other --------------------------------

Reader = Callable[[Any], Any]
S = TypeVar("S", bound="Struct")


class Struct:
    """The base of the generated classes.

    A subclass's `__slots__` are its fields, in the schema's order. A field that is absent is `UNSET`; properties that
    the schema does not name are in `extra`. `from_dict` and `to_dict` keep everything, even values that do not fit.
    """

    __slots__ = ("extra",)
    # Python name -> wire name, where they differ.
    __wire__: ClassVar[Dict[str, str]] = {}
    # Python name -> reader that makes typed values of plain ones; "extra" is for additional properties.
    __readers__: ClassVar[Dict[str, Reader]] = {}

    extra: Dict[str, Any]

    @classmethod
    def from_dict(cls: Type[S], value: Mapping[str, Any]) -> S:
        """An object of this class from a dict in wire names."""
        made = cls.__new__(cls)
        rest = dict(value)
        readers = cls.__readers__
        for field in _fields(cls):
            found = rest.pop(cls.__wire__.get(field, field), UNSET)
            reader = readers.get(field)
            setattr(made, field, found if reader is None or found is UNSET else reader(found))
        reader = readers.get("extra")
        made.extra = rest if reader is None else {name: reader(item) for name, item in rest.items()}
        return made

    def to_dict(self) -> Dict[str, Any]:
        """This object as plain values in wire names, without what is `UNSET`."""
        return cast("Dict[str, Any]", _plain(self, ""))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.to_dict() == cast(Struct, other).to_dict()

    def __repr__(self) -> str:
        return self._described(repr)

    def _described(self, describe: Callable[[Any], str]) -> str:
        shown = [
            f"{field}={describe(value)}"
            for field, value in ((field, getattr(self, field)) for field in _fields(type(self)))
            if value is not UNSET
        ]
        if self.extra:
            shown.append(f"extra={describe(self.extra)}")
        return f"{type(self).__name__}({', '.join(shown)})"


def _fields(cls: Type[Struct]) -> List[str]:
    bases = cast("List[Type[Struct]]", list(cls.__mro__[:-2]))  # without Struct and object
    return [field for base in reversed(bases) for field in base.__slots__ if not field.startswith("_")]


def _plain(value: Any, where: str) -> Any:
    """`value` as JSON; refuses values that JSON would change silently (keys that are not strings, say)."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    out: Dict[str, Any] = {}
    if isinstance(value, Struct):
        wire = value.__wire__
        for field in _fields(type(value)):
            item = getattr(value, field)
            if item is not UNSET:
                name = wire.get(field, field)
                out[name] = _plain(item, f"{where}.{name}")
        for name, item in value.extra.items():
            if name in out:
                raise TypeError(f"{_at(where)}: extra repeats the property {name!r}")
            out[name] = _plain(item, f"{where}.{name}")
        return out
    if isinstance(value, Mapping):
        for name, item in cast("Mapping[Any, Any]", value).items():
            if not isinstance(name, str):
                raise TypeError(f"{_at(where)}: the key {name!r} is not a string")
            out[name] = _plain(item, f"{where}.{name}")
        return out
    if isinstance(value, (list, tuple)):
        items = cast("List[Any]", value)
        return [_plain(item, f"{where}[{index}]") for index, item in enumerate(items)]
    if value is UNSET:
        raise TypeError(f"{_at(where)}: UNSET cannot stand inside a list or a dict; leave the value out")
    kind = type(value).__name__
    raise TypeError(f"{_at(where)}: {kind} is not a JSON value; pass a str, number, bool, None, list or dict")


def _at(where: str) -> str:
    return "arguments" + where


def list_of(reader: Reader) -> Reader:
    """A reader of lists. Like every reader it returns values of another shape unchanged."""

    def read(value: Any) -> Any:
        if not isinstance(value, list):
            return value
        return [reader(item) for item in cast("List[Any]", value)]

    return read


def dict_of(reader: Reader) -> Reader:
    def read(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {name: reader(item) for name, item in cast("Dict[str, Any]", value).items()}

    return read


def tuple_of(*readers: Optional[Reader]) -> Reader:
    def read(value: Any) -> Any:
        if not isinstance(value, list):
            return value
        items = cast("List[Any]", value)
        if len(items) != len(readers):
            return items
        return tuple(item if reader is None else reader(item) for reader, item in zip(readers, items))

    return read


def struct(cls: Type[Struct]) -> Reader:
    def read(value: Any) -> Any:
        return cls.from_dict(cast("Dict[str, Any]", value)) if isinstance(value, dict) else value

    return read


def variant(cls: Type[Struct], required: Tuple[str, ...], values: Mapping[str, Tuple[Any, ...]]) -> Reader:
    """A reader that takes only objects that have the `required` properties and, where named, one of the `values`."""

    def read(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        found = cast("Dict[str, Any]", value)
        fits = all(name in found for name in required) and all(
            name not in found or found[name] in allowed for name, allowed in values.items()
        )
        return cls.from_dict(found) if fits else found

    return read


def first_of(*readers: Reader) -> Reader:
    """Uses the first reader that accepts the value."""

    def read(value: Any) -> Any:
        for reader in readers:
            made = reader(value)
            if made is not value:
                return made
        return value

    return read
