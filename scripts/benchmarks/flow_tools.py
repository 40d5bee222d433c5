"""The tools of the measured workflows. Each tool answers immediately."""

from nexus_tools.tool_server import Variant, tool


class Text(Variant, name="ok"):
    """A text."""

    text: str


class Texts(Variant, name="ok"):
    """A list of texts."""

    texts: list[str]


@tool("xyz.example.bench.echo@1")
async def echo(text: str) -> Text:
    """Return a text unchanged."""
    return Text(text=text)


@tool("xyz.example.bench.split@1")
async def split(text: str) -> Texts:
    """Return the words of a text."""
    return Texts(texts=text.split())


@tool("xyz.example.bench.join@1")
async def join(texts: list[str], text: str) -> Text:
    """Join texts with a separator."""
    return Text(text=text.join(texts))
