"""Three tools of different kinds; serve them with `nexus-tools tool serve examples/tools.py`."""

import asyncio
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, Field

from nexus_tools.tool_server import Call, Variant, tool


class Quotient(Variant, name="ok"):
    """The integer quotient, and the remainder."""

    quotient: int
    remainder: int


class DivisionByZero(Variant, name="err_division_by_zero"):
    """The divisor is zero."""

    reason: str


@tool("xyz.example.math.divide@1")
async def divide(dividend: int, divisor: int) -> Quotient | DivisionByZero:
    """Divide two integers; the remainder has the sign of the divisor."""
    if divisor == 0:
        return DivisionByZero(reason=f"{dividend} cannot be divided by zero")
    quotient, remainder = divmod(dividend, divisor)
    return Quotient(quotient=quotient, remainder=remainder)


class WordCount(BaseModel):
    """A word and how often it occurs."""

    word: str
    count: int


class Words(Variant, name="ok"):
    """The most frequent words first; equally frequent ones in alphabetical order."""

    words: list[WordCount]
    total: int


@tool("xyz.example.text.count_words@1")
def count_words(
    text: Annotated[str, Field(max_length=20_000, description="Words separated by white space.")],
    top: Annotated[int, Field(ge=1, le=100, description="How many words to list.")] = 10,
) -> Words:
    """Count the words of a text, ignoring case."""
    counts: dict[str, int] = {}
    for word in text.casefold().split():
        counts[word] = counts.get(word, 0) + 1
    ranked = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    words = [WordCount(word=word, count=count) for word, count in ranked[:top]]
    return Words(words=words, total=sum(counts.values()))


class Ending(StrEnum):
    """The way a nap ends."""

    WELL = "well"
    NIGHTMARE = "nightmare"
    CRASH = "crash"


class Rested(Variant, name="ok"):
    """The nap went well."""

    slept_ms: int


class Nightmare(Variant, name="err_nightmare"):
    """The nap failed for a reason that belongs to napping."""

    reason: str


@tool("xyz.example.time.nap@1", timeout_ms=5_000)
async def nap(
    call: Call,
    duration_ms: Annotated[int, Field(ge=0, le=60_000)] = 100,
    ending: Ending = Ending.WELL,
) -> Rested | Nightmare:
    """Sleep, then end as requested: well, with an error variant, or with a crash.

    A nap longer than five seconds exceeds the tool's own time limit.
    """
    await asyncio.sleep(duration_ms / 1_000)
    if ending is Ending.CRASH:
        raise RuntimeError(f"invocation {call.invocation} was asked to crash")
    if ending is Ending.NIGHTMARE:
        return Nightmare(reason="something was chasing me")
    return Rested(slept_ms=duration_ms)
