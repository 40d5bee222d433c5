"""All tools of the workflows here but those of `examples/tools.py`, for one server.

`nexus-tools tool serve` serves them, `nexus-tools workflow simulate --tools` runs them.
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
    """The lines that have words, in order."""

    lines: list[str]


@tool("xyz.example.text.split_lines@1")
async def split_lines(text: str) -> Lines:
    """Splits a text into its lines; those of white space alone are left out."""
    return Lines(lines=[line for line in text.splitlines() if line.strip()])


class Sum(Variant, name="ok"):
    """The sum, 0 of no numbers."""

    sum: int


@tool("xyz.example.math.sum@1")
async def add_up(numbers: list[int]) -> Sum:
    """Adds up integers."""
    return Sum(sum=sum(numbers))
