"""Templates of `0x2::display::Display`: text with the paths of fields between braces.

`{name} of level {stats . level}` has two paths; a backslash takes the meaning from what follows it.
Source: `sui-display/src/v1`, the sentences too, in which offsets count bytes.
"""

import re

from msgspec import Struct

MAX_DEPTH = 10
"""How many names a path may have (`MAX_DISPLAY_NESTED_LEVEL`)."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*|_[A-Za-z0-9_]+", re.ASCII)
_TEXT_TOKEN = re.compile(r"\\(?P<escaped>.)|(?P<text>\\|[^\\{}]+)|(?P<brace>[{}])", re.DOTALL)
_PATH_TOKEN = re.compile(r"\s*(?:(?P<mark>[{}.])|(?P<name>[^\s.{}]+)|$)")


class TemplateError(Exception):
    """The template is none."""


class FieldPath(Struct, frozen=True):
    """The names that lead from an object to a field in it."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        return ".".join(self.names)


Template = tuple[str | FieldPath, ...]


def parse_template(source: str) -> Template:
    """The parts of a template, in order. Raises `TemplateError`."""
    parts: list[str | FieldPath] = []
    position = 0
    while match := _TEXT_TOKEN.match(source, position):
        position = match.end()
        if match["brace"] == "{":
            path, position = _parse_path(source, position)
            parts.append(path)
        elif match["brace"]:
            raise _unexpected(
                "'}'", source, match.start(), "one of text, an escaped character, or '{'"
            )
        else:
            parts.append(match["text"] or match["escaped"])
    return tuple(parts)


def _parse_path(source: str, position: int) -> tuple[FieldPath, int]:
    """The path that begins behind a brace, and where it ends."""
    names: list[str] = []
    while True:
        name, position = _parse_name(source, position)
        names.append(name)
        match = _token(source, position, "one of '}', or '.'")
        position, start = match.end(), match.start("mark")
        if match["mark"] == "}":
            return FieldPath(tuple(names)), position
        if match["mark"] != ".":
            raise _unexpected(_described(match), source, _start_of(match), "one of '}', or '.'")
        if len(names) >= MAX_DEPTH:
            offset = _offset(source, start)
            raise TemplateError(
                f"Field access at offset {offset} deeper than the maximum of {MAX_DEPTH}"
            )


def _parse_name(source: str, position: int) -> tuple[str, int]:
    match = _token(source, position, "an identifier")
    name = match["name"]
    if name is None:
        raise _unexpected(_described(match), source, _start_of(match), "an identifier")
    if not _NAME.fullmatch(name):
        offset = _offset(source, match.start("name"))
        raise TemplateError(f'Invalid identifier "{name}" at offset {offset}')
    return name, match.end()


def _token(source: str, position: int, expected: str) -> re.Match[str]:
    match = _PATH_TOKEN.match(source, position)
    if match is None or match.lastgroup is None:
        raise TemplateError(f"Unexpected end-of-string, expected {expected}")
    return match


def _start_of(match: re.Match[str]) -> int:
    assert match.lastgroup is not None
    return match.start(match.lastgroup)


def _described(match: re.Match[str]) -> str:
    return f"'{match['mark']}'" if match["mark"] else f'identifier "{match["name"]}"'


def _unexpected(what: str, source: str, start: int, expected: str) -> TemplateError:
    return TemplateError(
        f"Unexpected {what} at offset {_offset(source, start)}, expected {expected}"
    )


def _offset(source: str, position: int) -> int:
    return len(source[:position].encode())
