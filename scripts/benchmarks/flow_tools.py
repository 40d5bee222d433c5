"""The tools of the workflows that are measured: each answers at once."""

from nexus_tools.tool_server import Variant, tool


class Text(Variant, name="ok"):
    """A text."""

    text: str


class Texts(Variant, name="ok"):
    """A list of texts."""

    texts: list[str]


@tool("xyz.example.bench.echo@1")
async def echo(text: str) -> Text:
    """Gives a text back."""
    return Text(text=text)


@tool("xyz.example.bench.split@1")
async def split(text: str) -> Texts:
    """Gives the words of a text."""
    return Texts(texts=text.split())


@tool("xyz.example.bench.join@1")
async def join(texts: list[str], text: str) -> Text:
    """Puts texts together, with another one between them."""
    return Text(text=text.join(texts))
