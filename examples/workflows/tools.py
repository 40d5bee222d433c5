"""All tools of these workflows except those of `examples/tools.py`, for one server.

`nexus-tools tool serve` serves the tools, and `nexus-tools workflow simulate --tools` runs them.
"""

from badge import mark
from job import look, start
from rates import convert, kept_rate, latest_rate
from root import improve_root

from nexus_tools.tool_server import Variant, tool

__all__ = [
    "add_up",
    "convert",
    "improve_root",
    "kept_rate",
    "latest_rate",
    "look",
    "mark",
    "split_lines",
    "start",
]


class Lines(Variant, name="ok"):
    """The lines that contain words, in order."""

    lines: list[str]


@tool("xyz.example.text.split_lines@1")
async def split_lines(text: str) -> Lines:
    """Split a text into its lines; omit those with only white space."""
    return Lines(lines=[line for line in text.splitlines() if line.strip()])


class Sum(Variant, name="ok"):
    """The sum, which is 0 for an empty list."""

    sum: int


@tool("xyz.example.math.sum@1")
async def add_up(numbers: list[int]) -> Sum:
    """Add up integers."""
    return Sum(sum=sum(numbers))
