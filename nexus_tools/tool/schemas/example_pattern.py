"""The generator of short strings that match a regular expression.

The generator supports literals, classes, escapes, groups, alternatives and repetitions. The
generator does not check that a string matches. For unsupported expressions, the generator yields
nothing.
"""

from collections.abc import Iterator

# The characters that are tried for a negated class, in this order.
_ALPHABET = "a0Ab1B-_ .cdefghijklmnopqrstuvwxyzCDEFGHIJKLMNOPQRSTUVWXYZ23456789!#$%&@/:;,é中"
_ESCAPES = {"d": "0", "w": "a", "s": " ", "D": "a", "W": "-", "S": "a"}
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}
_CLASS_MEMBERS = {"d": "0123456789", "w": "abcxyzABCXYZ0123456789_", "s": " \t\n"}
_PROPERTIES = {"N": "0", "Nd": "0", "Lu": "A", "P": "-", "S": "$", "Z": " ", "Zs": " "}
_NO_LIMIT = 10**6
_MAX_TEXT = 10_000


class _NotUnderstoodError(Exception):
    """The error for an expression that this generator does not support."""


def matching_texts(pattern: str, shortest: int) -> Iterator[str]:
    """Yield strings that probably match, from the shortest to those with `shortest` characters."""
    for extra in (0, 1, 2, max(0, shortest - 1), shortest):
        try:
            yield from _Writer(pattern, extra).texts()
        except (_NotUnderstoodError, RecursionError):
            return


class _Writer:
    """A parser of an expression that writes a matching string while it reads.

    Each repetition is written `extra` times more than necessary, if its maximum allows it.
    """

    def __init__(self, pattern: str, extra: int) -> None:
        self._pattern = pattern
        self._extra = extra
        self._at = 0

    def texts(self) -> list[str]:
        texts = self._alternatives()
        if self._at != len(self._pattern):
            raise _NotUnderstoodError
        return texts

    def _peek(self) -> str:
        return self._pattern[self._at : self._at + 1]

    def _take(self) -> str:
        character = self._peek()
        if not character:
            raise _NotUnderstoodError
        self._at += 1
        return character

    def _alternatives(self) -> list[str]:
        texts = [self._sequence()]
        while self._peek() == "|":
            self._take()
            texts.append(self._sequence())
        return texts

    def _sequence(self) -> str:
        text = ""
        while self._peek() not in ("", "|", ")"):
            atom = self._atom()
            repetitions = self._repetitions()
            if len(text) + len(atom) * repetitions > _MAX_TEXT:
                raise _NotUnderstoodError
            text += atom * repetitions
        return text

    def _atom(self) -> str:
        character = self._take()
        if character in "^$":
            return ""
        if character == "(":
            return self._group()
        if character == "[":
            return self._class()
        if character == "\\":
            return self._escape()
        return "a" if character == "." else character

    def _group(self) -> str:
        if self._peek() == "?":
            self._take()
            kind = self._take()
            if kind in ("P", "<"):
                self._skip_past(">")
            elif kind != ":":
                raise _NotUnderstoodError
        first = self._alternatives()[0]
        if self._take() != ")":
            raise _NotUnderstoodError
        return first

    def _escape(self) -> str:
        character = self._take()
        if character in ("b", "B"):
            return ""
        if character in ("p", "P"):
            return self._property()
        return _ESCAPES.get(character) or _CONTROLS.get(character, character)

    def _property(self) -> str:
        name = self._skip_past("}").strip("{}")
        return _PROPERTIES.get(name, "a")

    def _class(self) -> str:
        negated = self._peek() == "^"
        if negated:
            self._take()
        members = ""
        while not members or self._peek() != "]":
            members += self._class_member()
        self._take()
        if not negated:
            return members[0]
        allowed = [character for character in _ALPHABET if character not in members]
        if not allowed:
            raise _NotUnderstoodError
        return allowed[0]

    def _class_member(self) -> str:
        first = self._take()
        if first == "\\":
            character = self._take()
            if character in ("p", "P"):
                return self._property()
            if character in _CLASS_MEMBERS:
                return _CLASS_MEMBERS[character]
            first = _ESCAPES.get(character) or _CONTROLS.get(character, character)
        if self._peek() == "-" and self._pattern[self._at + 1 : self._at + 2] not in ("]", "\\"):
            self._take()
            last = self._take()
            return "".join(map(chr, range(ord(first), min(ord(last), ord(first) + 256) + 1)))
        return first

    def _repetitions(self) -> int:
        low, high = self._quantifier()
        if self._peek() == "?":
            self._take()
        return min(high, low + self._extra) if high > low else low

    def _quantifier(self) -> tuple[int, int]:
        simple = {"*": (0, _NO_LIMIT), "+": (1, _NO_LIMIT), "?": (0, 1)}
        if self._peek() in simple:
            return simple[self._take()]
        if self._peek() != "{":
            return 1, 1
        low, comma, high = self._skip_past("}").strip("{}").partition(",")
        if not low.isdecimal() or not (high or "0").isdecimal():
            raise _NotUnderstoodError
        return int(low), int(high or _NO_LIMIT) if comma else int(low)

    def _skip_past(self, end: str) -> str:
        stop = self._pattern.find(end, self._at)
        if stop < 0:
            raise _NotUnderstoodError
        skipped = self._pattern[self._at : stop + 1]
        self._at = stop + 1
        return skipped
