"""Texts that people read: docstrings, comments, messages, Markdown, and Move comments."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_CODE = re.compile(r"``.+?``|`[^`]*`")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")
_DIRECTIVE = re.compile(r"#\s*(noqa|type:|mypy:|pyright:|pragma|ruff:|!)")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')]*\s+(?=[A-Z`…\"'(])")
_EXAMPLE_LINE = re.compile(r"^\s{4,}|^\s*(>>>|\$ |[├└│┌▼▶])")


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
    covered = set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        for statement in body:  # covered, and strings that describe the attribute above them
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                value = statement.value
                if isinstance(value.value, str):
                    covered.add(value)
                    for offset, paragraph in _split(value.value):
                        yield Text(path, value.lineno + offset, "docstring", paragraph)
    yield from _comments(path, source)
    if "tests" not in path.parts:
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                covered.update(part for part in node.values if isinstance(part, ast.Constant))
            if isinstance(node, ast.Constant | ast.JoinedStr) and node not in covered:
                message = _message(node)
                if message:
                    yield Text(path, node.lineno, "message", message)


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
    return text if re.search(r"[a-z]+ [a-z]+ [a-z]+", text) else ""


def _comments(path: Path, source: str) -> Iterator[Text]:
    """Yield the comments. Lines that follow each other are one comment."""
    lines: list[str] = []
    first = last = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT or _DIRECTIVE.match(token.string):
            continue
        if lines and token.start[0] != last + 1:
            yield Text(path, first, "comment", " ".join(lines))
            lines = []
        if not lines:
            first = token.start[0]
        last = token.start[0]
        lines.append(token.string.lstrip("#: "))
    if lines:
        yield Text(path, first, "comment", " ".join(lines))


def _split(text: str) -> Iterator[tuple[int, str]]:
    """Yield the paragraphs of a docstring with their line numbers, without code examples."""
    paragraph: list[str] = []
    start = 0
    lines = text.split("\n")
    indent = min((len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()), default=0)
    for number, line in enumerate(lines):
        stripped = (line[indent:] if number else line).rstrip()
        if not stripped or _EXAMPLE_LINE.match(stripped):
            if paragraph:
                yield start, " ".join(paragraph)
            paragraph = []
            continue
        if not paragraph:
            start = number
        paragraph.append(stripped.strip())
    if paragraph:
        yield start, " ".join(paragraph)


def _paragraphs(path: Path, source: str) -> Iterator[Text]:
    """Yield the paragraphs, headings, list items and table cells of a Markdown page."""
    in_block = False
    paragraph: list[str] = []
    first = 0
    for number, line in enumerate([*source.split("\n"), ""], 1):
        if line.lstrip().startswith("```"):
            in_block = not in_block
        ends = in_block or not line.strip() or line.lstrip()[:1] in ("#", "|", "<", "`", "!")
        begins_item = bool(re.match(r"\s*([*-]|\d+\.)\s", line))
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
            paragraph.append(re.sub(r"^\s*([*-]|\d+\.)\s+", "", line).strip())


def _move(path: Path, source: str) -> Iterator[Text]:
    """Yield the comments and the texts of the error constants of a Move module."""
    paragraph: list[str] = []
    first = 0
    for number, line in enumerate([*source.split("\n"), ""], 1):
        comment = re.match(r"\s*//[/!]?\s?(.*)", line)
        if comment and comment[1]:
            if not paragraph:
                first = number
            paragraph.append(comment[1])
            continue
        if paragraph:
            yield Text(path, first, "move", " ".join(paragraph))
            paragraph = []
        message = re.search(r'b"([^"]* [^"]* [^"]*)"', line)
        if message:
            yield Text(path, number, "move", message[1])
