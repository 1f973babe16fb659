"""The runtime of the tool wrappers in this folder, made by cellgate; changes are overwritten.

A wrapper's `run` sends its call over the kernel's tool channel (a unix socket, one JSON-RPC 2.0 message per line),
waits for the decision and the tool's answer, and returns that. Nothing here is needed to use the wrappers except the
exceptions and `UNSET`, which `mcptools` itself exports.
"""

from __future__ import annotations

import enum
import json
from typing import Any, Callable, ClassVar, Dict, Final, List, Mapping, Optional, Tuple, Type, TypeVar, Union, cast


class Unset(enum.Enum):
    """The type of `UNSET`: an absent value, which is not the same as `None`."""

    UNSET = "UNSET"

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> bool:
        return False


UNSET: Final = Unset.UNSET


class ToolCallError(RuntimeError):
    """A tool call that failed without an answer. `kind` names the cause."""

    __module__ = "mcptools"  # where it is exported, and its name in tracebacks

    def __init__(self, message: str, kind: str = "failed") -> None:
        super().__init__(message)
        self.kind = kind

    def __reduce__(self) -> Any:
        return (type(self), (str(self), self.kind))


class ToolError(ToolCallError):
    """The tool ran and answered with an error; its text is the message."""

    __module__ = "mcptools"  # where it is exported, and its name in tracebacks

    def __init__(self, message: str, kind: str = "toolError") -> None:
        super().__init__(message, kind)


class ApprovalDenied(ToolCallError):
    """The call was not allowed; the reason is the message."""

    __module__ = "mcptools"  # where it is exported, and its name in tracebacks

    def __init__(self, message: str, kind: str = "denied") -> None:
        super().__init__(message, kind)


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
        shown = [
            f"{field}={value!r}"
            for field, value in ((field, getattr(self, field)) for field in _fields(type(self)))
            if value is not UNSET
        ]
        if self.extra:
            shown.append(f"extra={self.extra!r}")
        return f"{type(self).__name__}({', '.join(shown)})"


def _fields(cls: Type[Struct]) -> List[str]:
    bases = cast("List[Type[Struct]]", list(cls.__mro__[:-2]))  # without Struct and object
    return [field for base in reversed(bases) for field in base.__slots__]


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


# ---- A tool's answer ----------------------------------------------------------------------------------------------


class Content(Struct):
    """One block of a tool's answer, of the kind `type`; members without a named field are in `extra`."""

    __slots__ = ("type", "annotations")

    type: str
    annotations: Union[Dict[str, Any], Unset]


class TextContent(Content):
    __slots__ = ("text",)

    text: str


class ImageContent(Content):
    """An image; `data` is base64. A cell whose last value it is displays it."""

    __slots__ = ("data", "mime_type")
    __wire__ = {"mime_type": "mimeType"}

    data: str
    mime_type: str

    def _repr_mimebundle_(self, **_: Any) -> Dict[str, str]:
        return {self.mime_type: self.data, "text/plain": f"<{self.mime_type}, {len(self.data)} bytes of base64>"}


class AudioContent(Content):
    """A sound; `data` is base64."""

    __slots__ = ("data", "mime_type")
    __wire__ = {"mime_type": "mimeType"}

    data: str
    mime_type: str


class ResourceLink(Content):
    __slots__ = ("uri", "name", "title", "description", "mime_type", "size")
    __wire__ = {"mime_type": "mimeType"}

    uri: str
    name: str
    title: Union[str, Unset]
    description: Union[str, Unset]
    mime_type: Union[str, Unset]
    size: Union[int, Unset]


class EmbeddedResource(Content):
    """A resource with its contents: `resource` has `uri`, `mimeType` and `text` or (base64) `blob`."""

    __slots__ = ("resource",)

    resource: Dict[str, Any]


_CONTENT: Dict[str, Type[Content]] = {
    "text": TextContent,
    "image": ImageContent,
    "audio": AudioContent,
    "resource_link": ResourceLink,
    "resource": EmbeddedResource,
}


def _texts(blocks: List[Any]) -> List[str]:
    return [str(block.get("text", "")) for block in blocks if block.get("type") == "text"]


def read_content(result: Dict[str, Any]) -> Any:
    """The answer of a tool without an output schema: its text or, when there is more than text, its blocks."""
    blocks: List[Any] = result.get("content") or []
    if all(block.get("type") == "text" for block in blocks):
        if not blocks and result.get("structuredContent") is not None:
            return json.dumps(result["structuredContent"], ensure_ascii=False)
        return "\n".join(_texts(blocks))
    return [_CONTENT.get(block.get("type"), Content).from_dict(block) for block in blocks]


def structured(reader: Optional[Reader] = None) -> Callable[[Dict[str, Any]], Any]:
    """Makes the reader for answers of a tool with an output schema."""

    def read(result: Dict[str, Any]) -> Any:
        found = result.get("structuredContent", UNSET)
        if found is UNSET:  # Servers without structuredContent answer with its JSON as text.
            text = "\n".join(_texts(result.get("content") or []))
            try:
                found = json.loads(text)
            except ValueError:
                message = f"the tool promised structured content and answered without: {text}"
                raise ToolCallError(message, "resultInvalid") from None
        return found if reader is None else reader(found)

    return read
