"""Text that other people wrote, made safe to show.

Names, descriptions, and messages on the chain can hold any characters. Some of them control a
terminal, reverse the order of what a reader sees, or hide text from people that a language model
reads. Every place that shows such text uses these functions; JSON output keeps the exact data.
"""

import json
import re

# Default-ignorable characters and blanks that Unicode does not count as format characters: fillers,
# the combining grapheme joiner, variation selectors.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U0001d173-\U0001d17a\U000e0100-\U000e01ef]"
)
# Emoji and several scripts join letters with these; without them the text is still readable.
_JOINERS = "\u200c\u200d\ufe0e\ufe0f"
_WITHOUT_JOINERS = str.maketrans("", "", _JOINERS)
_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
# Characters that mark up text anywhere, those that begin a block, and those of links without marks.
_MARKUP = re.compile(
    r"[\\`*_\[\]<>&~|@!$]|^[#+=-]|(?<=^\d)[.)]|(?<=^\d\d)[.)]|:(?=//)|(?<=www)\.", re.IGNORECASE
)
_REPLACEMENT = "\ufffd"
_ELLIPSIS = "…"


def is_displayable(text: str) -> bool:
    """Return whether a reader sees each character of the text, and none of them controls output."""
    return text.isprintable() and not _INVISIBLE.search(text)


def one_line(text: str, limit: int | None = None) -> str:
    """Return the text on one line, without characters that control output or are invisible.

    Line ends and tabs become spaces. A run of other such characters becomes one U+FFFD, so that a
    reader sees that something was there. Text of more than `limit` characters ends with `…`.
    """
    if is_displayable(text) and (limit is None or len(text) <= limit):
        return text
    return _cut(_cleaned(text.translate(_WITHOUT_JOINERS)), limit)


def many_lines(text: str, limit: int | None = None) -> str:
    """Return the text as `one_line` does, but keep its line ends, as line feeds."""
    lines = _LINE_ENDS.sub("\n", text).split("\n")
    return _cut("\n".join(map(one_line, lines)), limit)


def escaped_json(text: str) -> str:
    """Return a JSON text in which escapes stand for the characters that `one_line` replaces.

    It is the same value: such characters only occur in strings. Line ends between values stay.
    """
    if is_displayable(text.replace("\n", "")):
        return text
    return "".join(
        one if one == "\n" or is_displayable(one) else json.dumps(one)[1:-1] for one in text
    )


def markdown_text(text: str) -> str:
    """Return the text on one line, escaped so that Markdown shows it, without links, as it is."""
    return _MARKUP.sub(lambda match: f"&#{ord(match[0])};", one_line(text).strip())


def _cleaned(text: str) -> str:
    parts: list[str] = []
    for one in text:
        if is_displayable(one):
            parts.append(one)
        elif one.isspace():
            parts.append(" ")
        elif parts[-1:] != [_REPLACEMENT]:
            parts.append(_REPLACEMENT)
    return "".join(parts)


def _cut(text: str, limit: int | None) -> str:
    return text if limit is None or len(text) <= limit else text[: limit - 1] + _ELLIPSIS
