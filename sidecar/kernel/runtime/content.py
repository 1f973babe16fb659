from __future__ import annotations

import importlib
import json
from typing import Any, Callable, Dict, List, Optional, Type, Union, cast

from values import UNSET, Reader, Struct, ToolError, Unset

# ---- A tool's answer ----------------------------------------------------------------------------------------------

# Characters of a string in a block's repr(): a picture of a megabyte must not fill the output of a cell.
_SHOWN = 200


def _brief(value: Any) -> str:
    if isinstance(value, str) and len(value) > _SHOWN:
        return f"{value[:_SHOWN]!r}… ({len(value):,} characters)"
    if isinstance(value, dict):
        items = cast("Dict[Any, Any]", value).items()
        return "{" + ", ".join(f"{_brief(name)}: {_brief(item)}" for name, item in items) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_brief(item) for item in cast("List[Any]", value)) + "]"
    return repr(value)


def _bundle(mime: Any, data: Any, text: str) -> Dict[str, str]:
    """How a notebook shows base64 `data`: a picture, a player for a sound, else `text`."""
    bundle = {"text/plain": text}
    if not isinstance(mime, str) or not isinstance(data, str):
        return bundle
    if mime == "image/svg+xml":
        import base64

        try:
            bundle[mime] = base64.b64decode(data).decode("utf-8")
        except ValueError:
            pass  # then its text has to do
    elif mime.startswith("image/"):
        bundle[mime] = data
    elif mime.startswith("audio/"):
        import html

        bundle["text/html"] = f'<audio controls src="data:{html.escape(mime)};base64,{html.escape(data)}"></audio>'
    return bundle


def _media(mime: Any, data: Any) -> str:
    size = len(data) * 3 // 4 - data[-2:].count("=") if isinstance(data, str) else 0
    return f"{mime}, {size:,} bytes"


class Content(Struct):
    """One block of a tool's answer, of the kind `type`; members without a named field are in `extra`.

    A block that is the last value of a cell, or passed to `display()`, shows itself; its `repr()` is short.
    """

    __slots__ = ("type", "annotations")

    type: str
    annotations: Union[Dict[str, Any], Unset]

    def __repr__(self) -> str:
        return self._described(_brief)

    def _repr_mimebundle_(self, **_: Any) -> Dict[str, str]:
        return {"text/plain": repr(self)}


class TextContent(Content):
    __slots__ = ("text",)

    text: str

    def _repr_mimebundle_(self, **_: Any) -> Dict[str, str]:
        return {"text/plain": self.text}


class ImageContent(Content):
    """An image; `data` is base64."""

    __slots__ = ("data", "mime_type")
    __wire__ = {"mime_type": "mimeType"}

    data: str
    mime_type: str

    def __repr__(self) -> str:
        return f"<ImageContent {_media(self.mime_type, self.data)}>"

    def _repr_mimebundle_(self, **_: Any) -> Dict[str, str]:
        return _bundle(self.mime_type, self.data, repr(self))


class AudioContent(Content):
    """A sound; `data` is base64."""

    __slots__ = ("data", "mime_type")
    __wire__ = {"mime_type": "mimeType"}

    data: str
    mime_type: str

    def __repr__(self) -> str:
        return f"<AudioContent {_media(self.mime_type, self.data)}>"

    def _repr_mimebundle_(self, **_: Any) -> Dict[str, str]:
        return _bundle(self.mime_type, self.data, repr(self))


class ResourceLink(Content):
    """A resource by its address; nothing is read."""

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

    @property
    def text(self) -> Optional[str]:
        """Its text; None if it is binary."""
        text = self._get("text")
        return text if isinstance(text, str) else None

    def _get(self, name: str) -> Any:
        resource: Any = self.resource  # of a server, so it may be anything
        return cast("Dict[str, Any]", resource).get(name) if isinstance(resource, dict) else None

    def __repr__(self) -> str:
        blob = self._get("blob")
        if blob is None:
            return self._described(_brief)
        return f"<EmbeddedResource {_brief(self._get('uri'))}, {_media(self._get('mimeType'), blob)}>"

    def _repr_mimebundle_(self, **_: Any) -> Dict[str, str]:
        if self.text is not None:
            return {"text/plain": self.text}
        return _bundle(self._get("mimeType"), self._get("blob"), repr(self))


_CONTENT: Dict[str, Type[Content]] = {
    "text": TextContent,
    "image": ImageContent,
    "audio": AudioContent,
    "resource_link": ResourceLink,
    "resource": EmbeddedResource,
}


def _display(blocks: List[Content]) -> None:
    importlib.import_module("IPython.display").display(*blocks)


def _text_of(block: Content) -> Optional[str]:
    if isinstance(block, EmbeddedResource):
        return block.text
    return str(block.text) if isinstance(block, TextContent) else None


class Text(str):
    """The answer of a tool that is nothing but text."""

    __slots__ = ()

    @property
    def text(self) -> str:
        return str(self)


class Contents(List[Content]):
    """The answer of a tool that is more than text. Each block is displayed when this is the last value of a cell."""

    @property
    def text(self) -> str:
        """The text among the blocks, that of embedded resources too."""
        return "\n".join(text for text in map(_text_of, self) if text is not None)

    def _ipython_display_(self) -> None:
        _display(self)


class Structured(Struct):
    """The base of each `Result`: a structure, and the blocks that came with it."""

    __slots__ = ("_blocks",)

    _blocks: Contents

    def _content(self) -> Contents:
        return getattr(self, "_blocks", None) or Contents()  # an object that from_dict() made has none

    def _ipython_display_(self) -> None:
        _display([block for block in self._content() if not isinstance(block, TextContent)])
        raise NotImplementedError  # IPython shows the structure as it shows any object


class Answer(Structured):
    __slots__ = ()

    @property
    def content(self) -> Contents:
        """The blocks of the answer: its structure as text, images and so on."""
        return self._content()


class ContentAnswer(Structured):
    """An answer whose structure has a property named content."""

    __slots__ = ()

    @property
    def content_(self) -> Contents:
        """The blocks of the answer: its structure as text, images and so on."""
        return self._content()


def _texts(blocks: List[Any]) -> List[str]:
    return [str(block.get("text", "")) for block in blocks if block.get("type") == "text"]


def _contents(blocks: List[Any]) -> Contents:
    return Contents(_CONTENT.get(block.get("type"), Content).from_dict(block) for block in blocks)


def read_content(result: Dict[str, Any]) -> Union[Text, Contents]:
    """The answer of a tool without an output schema: its text or, when there is more than text, its blocks."""
    blocks: List[Any] = result.get("content") or []
    if all(block.get("type") == "text" for block in blocks):
        if not blocks and result.get("structuredContent") is not None:
            return Text(json.dumps(result["structuredContent"], ensure_ascii=False))
        return Text("\n".join(_texts(blocks)))
    return _contents(blocks)


def structured(reader: Optional[Reader] = None) -> Callable[[Dict[str, Any]], Any]:
    """Makes the reader for answers of a tool with an output schema."""

    def read(result: Dict[str, Any]) -> Any:
        found = result.get("structuredContent", UNSET)
        blocks: List[Any] = result.get("content") or []
        if found is UNSET:  # Servers without structuredContent answer with its JSON as text.
            text = "\n".join(_texts(blocks))
            try:
                found = json.loads(text)
            except ValueError:
                message = f"the tool promised structured content and answered without: {text}"
                raise ToolError(message, "resultInvalid") from None
        made = found if reader is None else reader(found)
        if isinstance(made, Structured):
            setattr(made, "_blocks", _contents(blocks))
        return made

    return read
