from __future__ import annotations

import json
import os
import threading
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple
from weakref import WeakKeyDictionary

from values import ToolConnectionError

if TYPE_CHECKING:
    import asyncio
    import socket

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


def _place() -> Tuple[int, Optional[str]]:
    """Where a connection belongs: a forked child must not use its parent's, nor one session the other's in a kernel that
    cellgate did not start."""
    return os.getpid(), os.environ.get("CELLGATE_CHANNEL")


def _gone(error: Optional[OSError] = None) -> ToolConnectionError:
    why = f": {error.strerror}" if error is not None else ""
    return ToolConnectionError(f"the connection to cellgate is gone{why}; restart the kernel's session", "channelClosed")


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


class _ThreadConnection:
    """A thread's own connection, for one call at a time."""

    def __init__(self) -> None:
        self.place = _place()
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
        return answer

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
    if connection is None or connection.place != _place():
        connection = _thread.connection = _ThreadConnection()
    return connection


class _LoopConnection:
    """An event loop's own connection, for any number of calls at a time. It ends with its loop."""

    def __init__(self) -> None:
        self.place = _place()
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
            return await answer
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
    if connection is None or connection.place != _place():
        connection = _loops[loop] = _LoopConnection()
    return await connection.call(request, loop)
