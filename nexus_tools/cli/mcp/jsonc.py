"""An editor for JSON files with comments, which changes one member and keeps all other text.

Editors such as VS Code and Zed accept comments and trailing commas in their JSON files. This editor
replaces both by spaces, so the standard library can parse the text, and each position in the parsed
text is also a position in the file.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

_STRING = r'"(?:[^"\\\r\n]|\\.)*"'
_PART = re.compile(rf"{_STRING}|//[^\r\n]*|/\*.*?\*/|[^ \t\r\n]", re.DOTALL)
_CONSTANT = re.compile(rf"{_STRING}|(-?Infinity|NaN)")
_NOT_A_LINE_BREAK = re.compile(r"[^\r\n]")
_SPACE = re.compile(r"[ \t\r\n]*")
_INDENTATION = re.compile(r"[ \t]*")
_LINE_TAIL = re.compile(r"(?:[ \t]*/\*(?:(?!\*/)[^\r\n])*\*/)*(?:[ \t]*//[^\r\n]*)?")
# Python limits the digits of an `int`, and the editor does not need exact numbers.
_DECODER = json.JSONDecoder(parse_int=float)
_TOKEN = re.compile(
    rf"(?P<comment>//[^\r\n]*|/\*.*?\*/)|(?P<value>{_STRING}(?!\s*:)|[\w.+-]+)|{_STRING}", re.DOTALL
)
_NOTHING: Any = object()

Span = tuple[int, int]
"""The start and the end of a value in a text."""


class JsoncError(ValueError):
    """The error for a text that cannot be read or edited, with its line and column from 1."""

    def __init__(self, reason: str, line: int, column: int) -> None:
        super().__init__(reason)
        self.line = line
        self.column = column


class CommentError(JsoncError):
    """The error for a comment or a trailing comma in a file of strict JSON."""


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of an object: its key, the position of the key, and the span of the value."""

    key: str
    start: int
    value_start: int
    end: int


class Document:
    """The text of a JSON file whose root is an object. An empty text counts as `{}`.

    Without `comments`, comments and trailing commas are errors, as in RFC 8259. Raises `JsoncError`
    if the text is not valid.
    """

    def __init__(self, text: str, *, comments: bool) -> None:
        self._has_comments = comments
        blank = _blanked if comments else _unchanged
        if not blank(text)[1].strip():
            text = f"{text.strip()}\n{{}}\n".lstrip()
        self.text = text
        # `_uncommented` contains trailing commas, `_parsed` does not.
        self._uncommented, self._parsed = blank(text)
        self._root = _skip_space(self._parsed, 0)
        try:
            self.value: dict[str, Any] = _DECODER.decode(self._parsed)
        except json.JSONDecodeError as error:
            self._fail_for_extension()
            raise JsoncError(error.msg, error.lineno, error.colno) from None
        except RecursionError:
            raise JsoncError("too many levels of nesting", 1, 1) from None
        self._require_object(self._root)
        constant = next((found for found in _CONSTANT.finditer(self._parsed) if found[1]), None)
        if constant is not None:
            self._fail(f"{constant[1]} is not valid in JSON", constant.start())

    def get(self, *path: str) -> Any:
        """Return the value at a path of keys, or None if it does not exist.

        Raises `JsoncError` if a value on the path is not an object, or if a key is not unique.
        """
        start, value = self._root, self.value
        for key in path:
            self._require_object(start)
            member = self._find(start, key)
            if member is None:
                return None
            start, value = member.value_start, value[key]
        return value

    def span(self, *path: str) -> Span | None:
        """Return the span of the value at a path of keys. Raises the errors of `get`."""
        if self.get(*path) is None:
            return None
        span = self._root, len(self.text)
        for key in path:
            member = self._find(span[0], key)
            assert member is not None
            span = member.value_start, member.end
        return span

    def with_value(self, path: Sequence[str], value: Any) -> "Document":
        """Return the document with a value at a path, which replaces an old value.

        Raises the errors of `get`.
        """
        start, member = self._root, None
        for depth, key in enumerate(path):
            self._require_object(start)
            member = self._find(start, key)
            if member is None:
                for missing in reversed(path[depth + 1 :]):
                    value = {missing: value}
                return self._checked(self._appended(start, key, value), path[: depth + 1], value)
            start = member.value_start
        assert member is not None
        is_tall = self._is_tall(start)
        rendered = self._render(value, _indentation(self.text, member.start), is_tall=is_tall)
        text = self.text[:start] + rendered + self.text[member.end :]
        return self._checked(text, path, value)

    def without(self, path: Sequence[str]) -> "Document":
        """Return the document without the member at a path, which must exist."""
        start = self._root
        for key in path[:-1]:
            member = self._find(start, key)
            assert member is not None
            start = member.value_start
        return self._checked(self._removed(start, path[-1]), path, _NOTHING)

    def _checked(self, text: str, path: Sequence[str], value: Any) -> "Document":
        """Parse an edited text, and verify that only the member at the path has changed."""
        document = Document(text, comments=self._has_comments)
        if document.value != _changed(self.value, path, value):
            raise RuntimeError(f"the edit of {'/'.join(path)} has changed another member")
        return document

    # --- Reading

    def _members(self, start: int) -> Iterator[_Member]:
        """Yield the members of the object at a position."""
        text = self._parsed
        at = _skip_space(text, start + 1)
        while text[at] != "}":
            key, colon = _DECODER.raw_decode(text, at)
            value_start = _skip_space(text, _skip_space(text, colon) + 1)
            _, end = _DECODER.raw_decode(text, value_start)
            yield _Member(key, at, value_start, end)
            at = _skip_space(text, end)
            if text[at] == ",":
                at = _skip_space(text, at + 1)

    def _find(self, start: int, key: str) -> _Member | None:
        members = [member for member in self._members(start) if member.key == key]
        if len(members) > 1:
            self._fail(f"the key {json.dumps(key)} is not unique", members[1].start)
        return members[0] if members else None

    def _require_object(self, start: int) -> None:
        if self._parsed[start] != "{":
            self._fail("expected an object", start)

    def _fail(self, reason: str, at: int, kind: type[JsoncError] = JsoncError) -> NoReturn:
        line = self.text.count("\n", 0, at) + 1
        raise kind(reason, line, at - self.text.rfind("\n", 0, at))

    def _fail_for_extension(self) -> None:
        """Raise `CommentError` if only comments and trailing commas make the text invalid."""
        blank = _blanked(self.text)[1]
        extensions = (at for at, char in enumerate(self.text) if blank[at] != char)
        at = next(extensions, None)
        if self._has_comments or at is None:
            return
        try:
            _DECODER.decode(blank)
        except json.JSONDecodeError:
            return
        part = "trailing comma" if self.text[at] == "," else "comment"
        self._fail(f"JSON does not allow a {part}", at, CommentError)

    def _comma_after(self, end: int) -> int | None:
        """Return the position of the comma after a value, or None if no comma follows."""
        at = _skip_space(self._uncommented, end)
        return at if self._uncommented[at] == "," else None

    # --- Editing

    def _appended(self, start: int, key: str, value: Any) -> str:
        """Return the text with a new last member of the object at a position."""
        members = [*self._members(start)]
        if not members:
            return self._with_first(start, key, value)
        text, last = self.text, members[-1]
        comma = self._comma_after(last.end)
        end = last.end if comma is None else comma + 1
        indentation, is_tall = _indentation(text, last.start), self._is_tall(start)
        member = f"{json.dumps(key)}: {self._render(value, indentation, is_tall=is_tall)}"
        if comma is not None:
            member += ","  # the style of an object with trailing commas
        between = "" if comma is not None else ","
        if not is_tall:
            return f"{text[:end]}{between} {member}{text[end:]}"
        # A comment at the end of the last member's line describes that member.
        tail = _line_tail(text, end)
        lines = f"{self._line_break}{indentation}{member}"
        return f"{text[:end]}{between}{text[end:tail]}{lines}{text[tail:]}"

    def _with_first(self, start: int, key: str, value: Any) -> str:
        """Return the text with the first member of the empty object at a position."""
        text, close = self.text, _skip_space(self._parsed, start + 1)
        outer = _indentation(text, start)
        inner = outer + self._unit
        member = f"{json.dumps(key)}: {self._render(value, inner, is_tall=True)}"
        comments = text[start + 1 : close].rstrip()
        lines = f"{self._line_break}{inner}{member}{self._line_break}{outer}"
        return text[: start + 1] + comments + lines + text[close:]

    def _removed(self, start: int, key: str) -> str:
        """Return the text without a member of the object at a position."""
        text, members = self.text, [*self._members(start)]
        [index] = [number for number, member in enumerate(members) if member.key == key]
        begin, end = members[index].start, members[index].end
        comma = self._comma_after(end)
        previous = None
        if comma is not None:
            end = comma + 1
        elif index:
            previous = self._comma_after(members[index - 1].end)
        tail = _line_tail(text, end)
        ends_line = _INDENTATION.match(text, tail).end()  # type: ignore[union-attr]  # always matches
        if _begins_line(text, begin) and text[ends_line] in "\r\n":
            begin = text.rfind("\n", 0, begin)
            begin -= text[begin - 1] == "\r"
        else:
            while text[begin - 1] in " \t":
                begin -= 1
        text = text[:begin] + text[end:]
        return text if previous is None else text[:previous] + text[previous + 1 :]

    # --- Style

    @property
    def _line_break(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"

    @property
    def _unit(self) -> str:
        """The indentation of the root's members, or two spaces."""
        first = next(self._members(self._root), None)
        return (_indentation(self.text, first.start) if first else "") or "  "

    def _is_tall(self, start: int) -> bool:
        """Return whether a value is not an object on one line."""
        if self._parsed[start] != "{":
            return True
        first = next(self._members(start), None)
        return first is None or _begins_line(self.text, first.start)

    def _render(self, value: Any, indentation: str, *, is_tall: bool) -> str:
        """Return a value as JSON. Its lines after the first one start with the indentation."""
        if not is_tall:
            return json.dumps(value, ensure_ascii=False)
        text = json.dumps(value, ensure_ascii=False, indent=self._unit)
        return text.replace("\n", self._line_break + indentation)


def redacted(text: str, visible: Sequence[Span]) -> str:
    """Return a text in which `…` replaces comments, strings, numbers and constants.

    Keys, line breaks, and values in the spans `visible` stay.
    """

    def replacement(match: re.Match[str]) -> str:
        if match["comment"]:
            return match[0][:2] + re.sub(r"[^\r\n]+", " …", match[0][2:])
        is_visible = any(start <= match.start() < end for start, end in visible)
        return match[0] if is_visible or not match["value"] else '"…"'

    return _TOKEN.sub(replacement, text)


def _blanked(text: str) -> tuple[str, str]:
    """Return the text without comments, and the text without comments and trailing commas.

    Spaces replace the removed characters.
    """
    characters = list(text)
    commas: list[int] = []
    last = before = ""
    comma = 0
    for match in _PART.finditer(text):
        part = match[0]
        if part[:2] in ("//", "/*"):
            characters[match.start() : match.end()] = _NOT_A_LINE_BREAK.sub(" ", part)
            continue
        if part in "}]" and last == "," and before not in ("", *"{[:,"):
            commas.append(comma)
        if part == ",":
            comma = match.start()
        last, before = part, last
    uncommented = "".join(characters)
    for position in commas:
        characters[position] = " "
    return uncommented, "".join(characters)


def _unchanged(text: str) -> tuple[str, str]:
    return text, text


def _changed(value: dict[str, Any], path: Sequence[str], new: Any) -> dict[str, Any]:
    """Return a copy of an object with a new value at a path, or without it for `_NOTHING`."""
    key, *rest = path
    if rest:
        return value | {key: _changed(value[key], rest, new)}
    if new is _NOTHING:
        return {name: old for name, old in value.items() if name != key}
    return value | {key: new}


def _skip_space(text: str, at: int) -> int:
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]  # the pattern always matches


def _line_tail(text: str, at: int) -> int:
    """Return the end of the comments that follow a position on its line."""
    return _LINE_TAIL.match(text, at).end()  # type: ignore[union-attr]  # the pattern always matches


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _indentation(text: str, at: int) -> str:
    """Return the spaces and tabs at the start of the line of a position."""
    return _INDENTATION.match(text, _line_start(text, at))[0]  # type: ignore[index]  # always matches


def _begins_line(text: str, at: int) -> bool:
    """Return whether only spaces and tabs precede a position on its line, after a line break."""
    begin = _line_start(text, at)
    return begin > 0 and not text[begin:at].strip(" \t")
