"""The runtime of the tool wrappers in this folder, made by cellgate; changes are overwritten.

A wrapper's `run` sends its call over the kernel's tool channel (a unix socket, one JSON-RPC 2.0 message per line),
waits for the decision and the tool's answer, and returns that. Nothing here is needed to use the wrappers except the
exceptions and `UNSET`, which `mcptools` itself exports.
"""

from __future__ import annotations

import enum
import json
import os
import re
import sys
import threading
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    ClassVar,
    Dict,
    Final,
    List,
    Mapping,
    NoReturn,
    Optional,
    Tuple,
    Type,
    TypeVar,
    Union,
    cast,
)
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    import asyncio
    import socket
    from types import FrameType
    from typing import Coroutine


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


# ---- Calls --------------------------------------------------------------------------------------------------------


class Tool:
    """One tool as its wrapper calls it; `read` makes what `run` returns of an MCP CallToolResult."""

    def __init__(self, server: str, name: str, params: Type[Struct], read: Callable[[Dict[str, Any]], Any]) -> None:
        self._server = server
        self._name = name
        self._params = params
        self._read = read

    def describe(self, function: Callable[..., Any]) -> None:
        """Makes `help()` and `?` show the names of the arguments."""
        function.__wrapped__ = self._params  # type: ignore[attr-defined] # pyright: ignore[reportFunctionMemberAccess]

    def call(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        request = self._request(args, kwargs)
        return self._result(_thread_connection().call(request))

    def call_async(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Coroutine[Any, Any, Any]:
        # Not itself a coroutine function: the caller's line is known only now, not when the loop gets to it.
        return self._finish(self._request(args, kwargs))

    async def _finish(self, request: Dict[str, Any]) -> Any:
        return self._result(await _call_from_loop(request))

    def _request(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Dict[str, Any]:
        execution, line = _origin(sys._getframe())  # pyright: ignore[reportPrivateUsage]
        return {
            "server": self._server,
            "tool": self._name,
            "arguments": self._arguments(args, kwargs),
            "execution": execution,
            "line": line,
        }

    def _arguments(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        if not args:
            given: Any = self._from_keywords(kwargs)
        elif len(args) == 1 and not kwargs:
            given = args[0]
        else:
            raise TypeError("pass keyword arguments, or one Params object, or one dict; not several of them")
        if not isinstance(given, (self._params, Mapping)):
            raise TypeError(f"expected Params or a dict, not {type(given).__name__}; or pass keyword arguments")
        try:
            return _plain(cast(Any, given), "")
        except RecursionError:
            raise ValueError("the arguments are nested too deeply") from None

    def _from_keywords(self, kwargs: Dict[str, Any]) -> Struct:
        try:
            return self._params(**kwargs)
        except TypeError as error:
            # Python names a class that the caller may never have seen.
            problem = re.sub(r"^.*?__init__\(\)", f"{self._name}.run()", str(error))
            names = ", ".join(_fields(self._params)) or "no named argument"
            raise TypeError(f"{problem}; it takes {names}") from None

    def _result(self, result: Dict[str, Any]) -> Any:
        if result.get("isError"):
            text = "\n".join(_texts(result.get("content") or []))
            raise ToolError(text or f"{self._name} failed and said nothing about it")
        return self._read(result)


_CELL_FILE = re.compile(r"<ipython-input-|.*[/\\]ipykernel_\d+[/\\]")


def _origin(frame: Optional[FrameType]) -> Tuple[Optional[str], Optional[int]]:
    """Execution and 0-based line of the innermost frame of a cell's code."""
    cells = sys.modules.get("_cellgate_kernel")  # present if cellgate started the kernel
    while frame is not None:
        name = frame.f_code.co_filename
        if cells is not None:
            place = cells.place(name, frame.f_lineno)
            if place is not None:
                return place
        elif _CELL_FILE.match(name):
            return None, frame.f_lineno - 1
        frame = frame.f_back
    return None, None


# ---- The channel --------------------------------------------------------------------------------------------------

# Bytes that are read at a time. For more, Python gets fresh pages from the system at every call.
_AT_ONCE = 1 << 16


def _open() -> socket.socket:
    path = os.environ.get("CELLGATE_CHANNEL")
    if not path:
        raise RuntimeError(
            "tools can be called only from a kernel that cellgate started: run this code as a cell in an editor with "
            "cellgate, or with `cellgate run FILE`"
        )
    import socket

    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(path)
    except OSError as error:
        connection.close()
        raise _gone(error) from None
    except BaseException:
        connection.close()
        raise
    return connection


def _gone(error: Optional[OSError] = None) -> ToolCallError:
    why = f": {error.strerror}" if error is not None else ""
    return ToolCallError(f"the connection to cellgate is gone{why}; restart the kernel's session", "channelClosed")


_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _encode(message: Dict[str, Any]) -> bytes:
    try:
        return _json.encode(message).encode("utf-8") + b"\n"
    except UnicodeEncodeError:
        raise ValueError("the arguments hold a lone surrogate, which JSON text cannot carry") from None
    except ValueError as error:
        raise ValueError(f"the arguments are not JSON: {error}") from None


def _call_message(number: int, request: Dict[str, Any]) -> bytes:
    return _encode({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": request})


def _cancel_message(number: int) -> bytes:
    return _encode({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": number}})


def _decode(line: bytes) -> Dict[str, Any]:
    try:
        return json.loads(line)
    except ValueError as error:  # an integer of more digits than Python reads: all else has been checked
        number = json.loads(line, parse_int=float)["id"]
        failure = {"message": f"the tool's answer cannot be read: {error}", "data": {"kind": "resultInvalid"}}
        return {"id": number, "error": failure}


def _answer(message: Dict[str, Any]) -> Dict[str, Any]:
    error = message.get("error")
    if error is None:
        return message["result"]
    _fail(error)


def _fail(error: Dict[str, Any]) -> NoReturn:
    data: Dict[str, Any] = error.get("data") or {}
    text = str(error.get("message", ""))
    if data.get("kind") == "denied":
        raise ApprovalDenied(text)
    if data.get("hint"):
        text += f" ({data['hint']})"
    raise ToolCallError(text, str(data.get("kind", "failed")))


class _ThreadConnection:
    """A thread's own connection, for one call at a time."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._socket: Optional[socket.socket] = None
        self._number = 0

    def call(self, request: Dict[str, Any]) -> Dict[str, Any]:
        self._number += 1
        message = _call_message(self._number, request)
        if self._socket is None:
            self._socket = _open()
        sent = False
        try:
            self._socket.sendall(message)
            sent = True
            answer = self._receive(self._socket)
        except OSError as error:
            self._close()
            raise _gone(error) from None
        except EOFError:
            self._close()
            raise _gone() from None
        except BaseException:
            # KeyboardInterrupt above all. Half a message may be in transit in either direction, so the
            # connection is unusable.
            if sent:
                self._cancel(self._socket)
            self._close()
            raise
        return _answer(answer)

    def _receive(self, connection: socket.socket) -> Dict[str, Any]:
        import select

        parts: List[bytes] = []
        answered = select.poll()
        answered.register(connection, select.POLLIN)
        while True:
            answered.poll()  # recv() would also wake when sent bytes are read
            part = connection.recv(_AT_ONCE)
            if not part:
                raise EOFError
            parts.append(part)
            if part.endswith(b"\n"):
                return _decode(b"".join(parts))

    def _cancel(self, connection: socket.socket) -> None:
        try:
            connection.settimeout(1)
            connection.sendall(_cancel_message(self._number))
        except OSError:
            pass  # the sidecar treats the end of the connection as a cancellation, too

    def _close(self) -> None:
        connection, self._socket = self._socket, None
        if connection is not None:
            connection.close()

    def __del__(self) -> None:
        self._close()


_thread = threading.local()


def _thread_connection() -> _ThreadConnection:
    connection: Optional[_ThreadConnection] = getattr(_thread, "connection", None)
    if connection is None or connection.pid != os.getpid():  # a forked child must not use its parent's connection
        connection = _thread.connection = _ThreadConnection()
    return connection


class _LoopConnection:
    """An event loop's own connection, for any number of calls at a time. It ends with its loop."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._socket: Optional[socket.socket] = None
        self._number = 0
        self._waiting: Dict[int, asyncio.Future[Dict[str, Any]]] = {}
        self._unsent = bytearray()
        self._received: List[bytes] = []

    async def call(self, request: Dict[str, Any], loop: asyncio.AbstractEventLoop) -> Dict[str, Any]:
        self._number += 1
        number = self._number
        message = _call_message(number, request)
        if self._socket is None:
            self._socket = _open()
            self._socket.setblocking(False)
            loop.add_reader(self._socket, self._readable, loop)
        connection = self._socket
        answer = self._waiting[number] = loop.create_future()
        try:
            self._send(message, loop)
            return _answer(await answer)
        finally:
            self._waiting.pop(number, None)
            if answer.cancelled() and self._socket is connection:
                self._send(_cancel_message(number), loop)

    def _send(self, message: bytes, loop: asyncio.AbstractEventLoop) -> None:
        idle = not self._unsent
        self._unsent += message
        if idle:
            self._writable(loop)

    def _writable(self, loop: asyncio.AbstractEventLoop) -> None:
        connection = self._socket
        if connection is None:
            return
        try:
            del self._unsent[: connection.send(self._unsent)]
        except BlockingIOError:
            pass
        except OSError as error:
            self._lose(error, loop)
            return
        if self._unsent:
            loop.add_writer(connection, self._writable, loop)
        else:
            loop.remove_writer(connection)

    def _readable(self, loop: asyncio.AbstractEventLoop) -> None:
        connection = self._socket
        if connection is None:
            return
        try:
            part = connection.recv(_AT_ONCE)
        except BlockingIOError:
            return
        except OSError as error:
            self._lose(error, loop)
            return
        if not part:
            self._lose(None, loop)
            return
        self._received.append(part)
        if b"\n" not in part:
            return
        *lines, rest = b"".join(self._received).split(b"\n")
        self._received = [rest] if rest else []
        for line in lines:
            message = _decode(line)
            answer = self._waiting.get(message["id"])  # None when the call was cancelled meanwhile
            if answer is not None and not answer.done():
                answer.set_result(message)

    def _lose(self, error: Optional[OSError], loop: asyncio.AbstractEventLoop) -> None:
        connection, self._socket = self._socket, None
        if connection is not None:
            loop.remove_reader(connection)
            loop.remove_writer(connection)
            connection.close()
        self._unsent.clear()
        self._received.clear()
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(_gone(error))

    def __del__(self) -> None:
        if self._socket is not None:
            self._socket.close()


_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopConnection] = WeakKeyDictionary()


async def _call_from_loop(request: Dict[str, Any]) -> Dict[str, Any]:
    import asyncio

    loop = asyncio.get_running_loop()
    connection = _loops.get(loop)
    if connection is None or connection.pid != os.getpid():
        connection = _loops[loop] = _LoopConnection()
    return await connection.call(request, loop)
