"""Tools of the workflows here; `nexus-tools workflow simulate --tools` runs them."""

from nexus_tools.toolkit import Variant, tool


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
