"""The layout of Python source: lines of at most 100 columns, with the line breaks of ruff."""

import textwrap
from collections.abc import Iterator, Sequence

from msgspec import Struct

from nexus_tools.sui.support.untrusted_text import is_displayable, many_lines, one_line

WIDTH = 100
_INDENT = 4
_CODE_MARGIN = 4
_VERBATIM = ("|", "#", "```", "* ", "- ", "+ ", ">", "@")


class Group(Struct, frozen=True):
    """A list of items in brackets after a `head`, such as the arguments of a call.

    If the items are on separate lines, each item is followed by a comma.
    """

    head: str
    brackets: str
    items: tuple["Expression", ...]
    tail: str = ""
    is_definition: bool = False


class Text(Struct, frozen=True):
    """A string, which may be split into several literals."""

    text: str


class Sum(Struct, frozen=True):
    """A union: names with `|` between them."""

    names: tuple[str, ...]


Expression = str | Group | Text | Sum


def call(head: str, *items: Expression) -> Group:
    """Return a call of `head` with `items` as its arguments."""
    return Group(head, "()", items)


def lines_of(
    expression: Expression, indent: int = 0, before: str = "", after: str = ""
) -> list[str]:
    """Return the lines of an expression between `before` and `after`.

    If everything fits on one line, the result is one line.
    """
    single_line = f"{' ' * indent}{before}{_flat(expression)}{after}"
    if len(single_line) <= WIDTH or isinstance(expression, str):
        return [single_line]
    if isinstance(expression, Text):
        return _literals(expression.text, indent, before, after)
    if isinstance(expression, Sum):
        return _sum_lines(expression, indent, before, after)
    return _group_lines(expression, indent, before, after)


def _flat(expression: Expression) -> str:
    if isinstance(expression, Group):
        inner = ", ".join(map(_flat, expression.items))
        is_tuple = not expression.head and expression.brackets == "()"
        comma = "," if is_tuple and len(expression.items) == 1 else ""
        opening, end = tuple(expression.brackets)
        return f"{expression.head}{opening}{inner}{comma}{end}{expression.tail}"
    if isinstance(expression, Text):
        return literal(expression.text)
    return " | ".join(expression.names) if isinstance(expression, Sum) else expression


def _group_lines(group: Group, indent: int, before: str, after: str) -> list[str]:
    opening, end = tuple(group.brackets)
    first = f"{' ' * indent}{before}{group.head}{opening}"
    last = f"{' ' * indent}{end}{group.tail}{after}"
    inner = indent + _INDENT
    on_one = " " * inner + ", ".join(map(_flat, group.items))
    # Like ruff, put all arguments of a call on one separate line if they fit. Put each item of a
    # list, tuple or dict on a line of its own.
    is_display = not group.head or group.brackets != "()"
    if len(on_one) <= WIDTH and not is_display:
        return [first, on_one, last]
    comma = "," if len(group.items) > 1 or group.is_definition or is_display else ""
    return [
        first,
        *(line for item in group.items for line in lines_of(item, inner, after=comma)),
        last,
    ]


def _sum_lines(expression: Sum, indent: int, before: str, after: str) -> list[str]:
    inner = " " * (indent + _INDENT)
    on_one = inner + " | ".join(expression.names)
    first, *others = expression.names
    split = [inner + first, *(f"{inner}| {name}" for name in others)]
    return [
        f"{' ' * indent}{before}(",
        *([on_one] if len(on_one) <= WIDTH else split),
        f"{' ' * indent}){after}",
    ]


def _literals(text: str, indent: int, before: str, after: str) -> list[str]:
    """Return string literals, one per line, that Python concatenates to the text."""
    width = WIDTH - indent - len(before) - len(after) - len('""')
    parts = textwrap.wrap(
        text,
        width - 1,
        expand_tabs=False,
        replace_whitespace=False,
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=False,
    )
    rows = [f"{' ' * indent}{literal(part)}" for part in parts]
    return [*rows[:-1], rows[-1] + after]


def literal(text: str) -> str:
    """Return a string literal in the quotes (single or double) that are rarer in the text."""
    quote = "'" if text.count('"') > text.count("'") else '"'
    escaped = "".join(
        character if is_displayable(character) and character != "\\" else repr(character)[1:-1]
        for character in text
    )
    return f"{quote}{escaped.replace(quote, chr(92) + quote)}{quote}"


# --- Comments and docstrings


def comment(text: str) -> list[str]:
    """Return the lines of a comment. `text` starts with `# `."""
    return textwrap.wrap(
        one_line(text),
        WIDTH,
        subsequent_indent="# ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def docstring(doc: str, indent: int) -> list[str]:
    """Return the lines of a docstring. If possible, the first sentence has its own line."""
    doc = many_lines(doc.expandtabs())
    lines = list(_doc_lines(doc.replace('"""', "'''"), WIDTH - indent))
    margin = " " * indent
    opening = f'{margin}r"""' if "\\" in doc else f'{margin}"""'
    if len(lines) == 1 and len(opening) + len(lines[0]) + len('"""') <= WIDTH:
        return [f'{opening}{_closed(lines[0])}"""']
    later_lines = [f"{margin}{line}" if line else "" for line in lines[1:]]
    return [f"{opening}{lines[0]}", *later_lines, f'{margin}"""']


def _doc_lines(doc: str, width: int) -> Iterator[str]:
    blocks = _blocks(doc)
    first, rest = _first_sentence(blocks[0], width - len('""""""'))
    yield from first
    for block in (rest, *blocks[1:]):
        if block:
            yield ""
            yield from _filled(block, width)


def _blocks(doc: str) -> list[list[str]]:
    """Split a doc comment into paragraphs at empty lines.

    Code blocks are not split.
    """
    blocks: list[list[str]] = [[]]
    is_code = False
    for line in doc.split("\n"):
        is_code ^= line.lstrip().startswith("```")
        if line.strip() or is_code:
            blocks[-1].append(line.rstrip())
        elif blocks[-1]:
            blocks.append([])
    return [_dedented(block) for block in blocks if block] or [["Undocumented."]]


def _dedented(block: list[str]) -> list[str]:
    """Remove a common indentation of less than four spaces. Four or more mark a code block."""
    margin = min(len(line) - len(line.lstrip()) for line in block if line)
    return [line[margin:] for line in block] if margin < _CODE_MARGIN else block


def _first_sentence(block: Sequence[str], width: int) -> tuple[list[str], list[str]]:
    """Return the lines of a paragraph's first sentence, and the rest of the paragraph."""
    if any(_is_verbatim(line) for line in block):
        return [block[0].lstrip(), *block[1:]], []
    text = " ".join(line.strip() for line in block)
    end = next((at for at in _ends(text) if text[at + 1 : at + 2] in ("", " ")), len(text))
    sentence, rest = text[: end + 1], text[end + 1 :].strip()
    if len(sentence) <= width:
        return [sentence], [rest] if rest else []
    return _filled([text], width), []


def _ends(text: str) -> Iterator[int]:
    """Yield the positions where sentences may end. Skip abbreviations such as `e.g.`."""
    for at, sign in enumerate(text):
        if sign in ".!?" and text[max(0, at - 3) : at + 1] not in ("e.g.", "i.e.", " vs.", "etc."):
            yield at


def _filled(block: Sequence[str], width: int) -> list[str]:
    if any(_is_verbatim(line) for line in block):
        return list(block)
    text = " ".join(line.strip() for line in block)
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


def _is_verbatim(line: str) -> bool:
    return line.startswith((" ", *_VERBATIM)) or line[:1].isdigit()


def _closed(line: str) -> str:
    """Return a line that closing quotes can follow. If necessary, append a space to the line."""
    return f"{line} " if line.endswith(('"', "\\")) else line
