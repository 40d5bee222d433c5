"""Texts that people read: docstrings, comments, messages, Markdown, and Move comments."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_CODE = re.compile(r"``.+?``|`[^`]*`")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")
_HIDDEN = re.compile(r"<!--.*?-->", re.DOTALL)
# A string or a comment of Python 3.11. `tokenize` takes seven times as long.
_STRING_OR_COMMENT = re.compile(
    r"""(?P<quotes>"{3}|'{3})(?:[^\\]|\\.)*?(?P=quotes)"""
    r"""|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|(?P<comment>#[^\n]*)""",
    re.DOTALL,
)
_DIRECTIVE = re.compile(r"#\s*(noqa|type:|mypy:|pyright:|pragma|ruff:|!)")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')]*\s+(?=[A-Z`…\"'(])")
# Indented or aligned lines, tables and diagrams.
_EXAMPLE_LINE = re.compile(r"^\s{4,}|^\s*(>>>|\$ |[├└│┌▼▶|])|\S\s{3,}\S|─")
_ITEM = re.compile(r"^\s*([*-]|\d+\.)\s+")
_HEADING = re.compile(r"^-{3,} ")
# Move or Python in a string: a line that ends as code does, or the head of a statement.
_SOURCE = re.compile(r"[;{]\s*\n|\bfun \w+[<(]|^if not \w+:|\{ let ")
# The fields of syntax trees that contain statements. `ast.walk` also visits all expressions.
_BLOCK_FIELDS = ("body", "orelse", "finalbody", "handlers", "cases")
# Names to be split: many words without punctuation.
_NAMES = re.compile(r"[a-z0-9_\s]+")
_MANY = 30


@dataclass(frozen=True)
class Text:
    """A paragraph, where it starts, and its kind: docstring, comment, message, page or move."""

    path: Path
    line: int
    kind: str
    words: str

    def sentences(self) -> list[str]:
        """Return the sentences, with code and links replaced by one word each."""
        plain = _LINK.sub(r"\1", _CODE.sub("CODE", self.words))
        plain = _PLACEHOLDER.sub("VALUE", plain).replace("**", "").replace("*", "")
        return [part.strip() for part in _SENTENCE_END.split(plain) if part.strip()]


def texts_of(path: Path) -> Iterator[Text]:
    """Yield the texts of a Python, Markdown or Move file."""
    source = path.read_text(encoding="utf-8")
    match path.suffix:
        case ".py":
            yield from _python(path, source)
        case ".md":
            yield from _paragraphs(path, source)
        case ".move":
            yield from _move(path, source)


def _python(path: Path, source: str) -> Iterator[Text]:
    tree = ast.parse(source)
    docstrings = list(_docstrings(tree))
    for docstring, text in docstrings:
        for offset, paragraph in _split(_dedented(text)):
            yield Text(path, docstring.lineno + offset, "docstring", paragraph)
    yield from _comments(path, source)
    if "tests" in path.parts:
        return
    covered: set[ast.AST] = {docstring for docstring, _ in docstrings}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            covered.update(part for part in node.values if isinstance(part, ast.Constant))
        if isinstance(node, ast.Constant | ast.JoinedStr) and node not in covered:
            message = _message(node)
            if message:
                yield Text(path, node.lineno, "message", message)


def _docstrings(tree: ast.AST) -> Iterator[tuple[ast.Constant, str]]:
    """Yield docstrings, and the strings that describe the attribute above them."""
    blocks: list[ast.AST] = [tree]
    for block in blocks:
        for name in _BLOCK_FIELDS:
            for statement in getattr(block, name, ()):
                match statement:
                    case ast.Expr(value=ast.Constant(value=str() as text) as docstring):
                        yield docstring, text
                    case ast.stmt() | ast.ExceptHandler() | ast.match_case():
                        blocks.append(statement)


def _message(node: ast.Constant | ast.JoinedStr) -> str:
    """Return the text of a string that reads like a sentence, else nothing."""
    if isinstance(node, ast.JoinedStr):
        parts = [
            part.value if isinstance(part, ast.Constant) else "{}"
            for part in node.values
            if isinstance(part, ast.Constant | ast.FormattedValue)
        ]
        text = "".join(map(str, parts))
    else:
        text = node.value if isinstance(node.value, str) else ""
    if not re.search(r"[a-z]+ [a-z]+ [a-z]+", text) or _SOURCE.search(text):
        return ""
    is_list = len(text.split()) > _MANY and _NAMES.fullmatch(text)
    return "" if is_list else text


def _comments(path: Path, source: str) -> Iterator[Text]:
    """Yield the comments. Lines that follow each other are one comment."""
    lines: dict[int, str] = {}
    number, end = 1, 0
    for match in _STRING_OR_COMMENT.finditer(source):
        number += source.count("\n", end, match.start())
        end = match.start()
        comment = match["comment"]
        if comment and not _DIRECTIVE.match(comment):
            lines[number] = re.sub(r"^#+:? ?", "", comment)
    for first, block in _blocks(lines):
        for offset, paragraph in _split(block):
            yield Text(path, first + offset, "comment", paragraph)


def _blocks(lines: dict[int, str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the runs of consecutive lines with the numbers of their first lines."""
    block: list[str] = []
    first = 0
    for number, line in lines.items():
        if block and number != first + len(block):
            yield first, block
            block = []
        if not block:
            first = number
        block.append(line)
    if block:
        yield first, block


def _dedented(docstring: str) -> list[str]:
    first, *others = docstring.split("\n")
    indent = min((len(line) - len(line.lstrip()) for line in others if line.strip()), default=0)
    return [first, *(line[indent:] for line in others)]


def _split(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield paragraphs, headings and list items with their lines, without examples and tables."""
    paragraph: list[str] = []
    start = 0
    for number, line in enumerate([*lines, ""]):
        text = line.strip()
        is_heading = bool(_HEADING.match(text))
        if not text or is_heading or _EXAMPLE_LINE.search(line.rstrip()):
            if paragraph:
                yield start, " ".join(paragraph)
            paragraph = []
            if is_heading:
                yield number, text.strip("- ")
            continue
        if paragraph and _ITEM.match(line):
            yield start, " ".join(paragraph)
            paragraph = []
        if not paragraph:
            start = number
        paragraph.append(_ITEM.sub("", line).strip())


def _paragraphs(path: Path, source: str) -> Iterator[Text]:
    """Yield the paragraphs, headings, list items and table cells of a Markdown page."""
    in_block = False
    paragraph: list[str] = []
    first = 0
    shown = _HIDDEN.sub(lambda hidden: "\n" * hidden[0].count("\n"), source)
    for number, line in enumerate([*shown.split("\n"), ""], 1):
        if line.lstrip().startswith("```"):
            in_block = not in_block
        ends = in_block or not line.strip() or line.lstrip().startswith(("#", "|", "<", "```", "!"))
        begins_item = bool(_ITEM.match(line))
        if paragraph and (ends or begins_item):
            yield Text(path, first, "page", " ".join(paragraph))
            paragraph = []
        if in_block or line.lstrip().startswith(("```", "<", "!")):
            continue
        if line.startswith("|"):
            for cell in line.replace("\\|", "/").strip("|").split("|"):
                if " " in cell.strip() and not set(cell) <= set("-: "):
                    yield Text(path, number, "page", cell.strip())
        elif line.startswith("#"):
            yield Text(path, number, "page", line.lstrip("# "))
        elif line.strip():
            if not paragraph:
                first = number
            paragraph.append(_ITEM.sub("", line).strip())


def _move(path: Path, source: str) -> Iterator[Text]:
    """Yield the comments and the texts of the error constants of a Move module."""
    comments: dict[int, str] = {}
    for number, line in enumerate(source.split("\n"), 1):
        if comment := re.match(r"\s*//[/!]? ?(.*)", line):
            comments[number] = comment[1]
        elif message := re.search(r'b"([^"]* [^"]* [^"]*)"', line):
            yield Text(path, number, "move", message[1])
    for first, block in _blocks(comments):
        for offset, paragraph in _split(block):
            yield Text(path, first + offset, "move", paragraph)
