"""A unified diff of a client's file, without the values of other entries, which may be secret."""

import difflib
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from nexus_tools.cli.mcp.jsonc import Span, redacted

_CONTEXT = 1


@dataclass(frozen=True, slots=True)
class Version:
    """The lines of a file, and the same lines without secret values."""

    lines: Sequence[str]
    shown: Sequence[str]

    @classmethod
    def of(cls, text: str, visible: Sequence[Span] = ()) -> Self:
        """Return the lines of a text. Only the values in the spans `visible` are shown."""
        return cls(_lines(text), _lines(redacted(text, visible)))

    def part(self, begin: int, end: int) -> "Version":
        """Return the lines from `begin` on, without the last `end` lines."""
        stop = len(self.lines) - end
        return Version(self.lines[begin:stop], self.shown[begin:stop])


def unified_diff(path: Path, before: Version, after: Version) -> str:
    """Return the diff of two versions of a file, or an empty text if they are equal.

    The line numbers are the line numbers of the file.
    """
    if before.lines == after.lines:
        return ""
    shorter = min(len(before.lines), len(after.lines))
    first = _common(before.lines, after.lines, shorter)
    last = _common(before.lines[::-1], after.lines[::-1], shorter - first)
    # A file may have a million lines, so only the changed part and its context are compared.
    begin, end = max(0, first - _CONTEXT), max(0, last - _CONTEXT)
    hunks = _hunks(begin, before.part(begin, end), after.part(begin, end))
    return "".join((f"--- {path}\n+++ {path}\n", *hunks))


def _hunks(begin: int, before: Version, after: Version) -> Iterator[str]:
    matcher = difflib.SequenceMatcher(None, before.lines, after.lines, autojunk=False)
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        (_, start, _, new_start, _), (_, _, stop, _, new_stop) = group[0], group[-1]
        old_range = _range(begin + start, stop - start)
        yield f"@@ -{old_range} +{_range(begin + new_start, new_stop - new_start)} @@\n"
        for kind, old_from, old_to, new_from, new_to in group:
            if kind == "equal":
                yield from (_marked(" ", line) for line in before.shown[old_from:old_to])
                continue
            yield from (_marked("-", line) for line in before.shown[old_from:old_to])
            yield from (_marked("+", line) for line in after.shown[new_from:new_to])


def _range(start: int, length: int) -> str:
    """Return a range of lines in the form of `diff -u`."""
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _marked(mark: str, line: str) -> str:
    text = mark + line.rstrip("\r\n") + "\n"
    return text if line.endswith("\n") else f"{text}\\ No newline at end of file\n"


def _lines(text: str) -> list[str]:
    """Return the lines of a text. Only a line feed ends a line."""
    return [*io.StringIO(text, newline="\n")]


def _common(one: Sequence[str], other: Sequence[str], limit: int) -> int:
    """Return the number of equal first lines, at most `limit`."""
    return next((at for at in range(limit) if one[at] != other[at]), limit)
