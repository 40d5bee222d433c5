"""Which calls of a trace are shown, and how long what they say may be."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Document = Mapping[str, Any]

_ADDRESS = re.compile(r"0x([0-9a-f]{64})")
_SMALL = 1 << 32
_FRAMEWORK = frozenset(f"0x{number:064x}" for number in (1, 2, 3))
_VALUE_LENGTH = 80


@dataclass(frozen=True, slots=True)
class View:
    """What of a trace is shown.

    `depth` is how many levels of calls below a command. `natives` shows native functions,
    `framework` what functions of the framework call in turn, `full` all of a value.
    """

    depth: int
    natives: bool = False
    framework: bool = False
    full: bool = False

    def short(self, text: str) -> str:
        """A text with its addresses shortened: `0x2`, `0x1f3a…09bc`."""
        return _ADDRESS.sub(self._address, text)

    def value(self, text: str) -> str:
        """The text of a value, shortened."""
        text = self.short(text)
        too_long = not self.full and len(text) > _VALUE_LENGTH
        return f"{text[: _VALUE_LENGTH - 1]}…" if too_long else text

    def _address(self, match: "re.Match[str]") -> str:
        digits = match[1]
        if int(digits, 16) < _SMALL:
            return f"0x{int(digits, 16):x}"
        return match[0] if self.full else f"0x{digits[:4]}…{digits[-4:]}"

    def steps(self, parent: Document, level: int) -> Iterator[Document]:
        """The calls and events of a call or a command that are shown below it.

        Of a call that is not, its events are, and the call in it that failed.
        """
        for step in parent["steps"]:
            if step["kind"] == "call" and self._shows(step, parent, level):
                yield step
            else:
                yield from _lifted(step)

    def hidden(self, parent: Document, level: int) -> int:
        """How many calls below it are not shown; natives do not count unless they are wanted."""
        hidden: int = parent["left_out"]
        for step in parent["steps"]:
            if step["kind"] == "call" and not self._shows(step, parent, level):
                hidden += self._count(step)
        return hidden

    def _shows(self, call: Document, parent: Document, level: int) -> bool:
        if level > self.depth:
            return False
        if call["outcome"] != "returned":
            return True
        if call["is_native"] and not self.natives:
            return False
        internal = is_framework(call) and parent["kind"] == "call" and is_framework(parent)
        return self.framework or not internal

    def _count(self, call: Document) -> int:
        inner = sum(self._count(step) for step in call["steps"] if step["kind"] == "call")
        if call["outcome"] == "failed":
            return 0
        own = 1 if self.natives or not call["is_native"] else 0
        return own + inner + int(call["left_out"])


def is_framework(call: Document) -> bool:
    """Whether a function is one of the packages 0x1, 0x2 and 0x3."""
    return call["package"] in _FRAMEWORK


def _lifted(step: Document) -> Iterator[Document]:
    """An event, or the call that failed, or those in any other call."""
    if step["kind"] == "event" or step["outcome"] == "failed":
        yield step
    else:
        for inner in step["steps"]:
            yield from _lifted(inner)
