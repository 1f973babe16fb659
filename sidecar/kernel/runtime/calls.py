from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any, Callable, Dict, Mapping, Optional, Tuple, Type, cast

from channel import _call_from_loop, _thread_connection
from content import _texts
from values import ApprovalDenied, Struct, ToolCallError, ToolConnectionError, ToolError, _fields, _plain

if TYPE_CHECKING:
    from types import FrameType
    from typing import Coroutine

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
        try:
            answer = _thread_connection().call(request)
        except ToolConnectionError as error:
            raise self._named(error) from None
        return self._result(answer)

    def call_async(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Coroutine[Any, Any, Any]:
        # Not itself a coroutine function: the caller's line is known only now, not when the loop gets to it.
        return self._finish(self._request(args, kwargs))

    async def _finish(self, request: Dict[str, Any]) -> Any:
        try:
            answer = await _call_from_loop(request)
        except ToolConnectionError as error:
            raise self._named(error) from None
        return self._result(answer)

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

    def _result(self, answer: Dict[str, Any]) -> Any:
        failure = answer.get("error")
        if failure is not None:
            raise self._named(_failure(failure))
        result = answer["result"]
        if result.get("isError"):
            text = "\n".join(_texts(result.get("content") or []))
            raise self._named(ToolError(text or "the tool failed and said nothing about it", "toolError"))
        try:
            return self._read(result)
        except ToolError as error:
            raise self._named(error) from None

    def _named(self, error: ToolCallError) -> ToolCallError:
        error.server = self._server
        error.tool = self._name
        return error


_CONNECTION_KINDS = ("toolServerFailed", "loginRequired", "channelClosed")


def _failure(error: Dict[str, Any]) -> ToolCallError:
    data: Dict[str, Any] = error.get("data") or {}
    text = str(error.get("message", ""))
    kind = str(data.get("kind", "failed"))
    if kind == "denied":
        return ApprovalDenied(text, kind)
    if data.get("hint"):
        text += f" ({data['hint']})"
    return (ToolConnectionError if kind in _CONNECTION_KINDS else ToolCallError)(text, kind)


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
