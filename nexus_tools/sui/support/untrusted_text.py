"""Safe display of untrusted text.

Names, descriptions and messages on chain can contain any characters. Some characters control a
terminal, or reverse the order of the displayed text. Other characters hide text that a language
model still reads. All code that displays untrusted text must use the functions of this module. JSON
output contains the exact data.
"""

import json
import re

# Invisible characters that Unicode does not classify as format characters, such as fillers, the
# combining grapheme joiner, and variation selectors.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U0001d173-\U0001d17a\U000e0100-\U000e01ef]"
)
# Emoji and several scripts join characters with these joiners. Text is readable without joiners.
_JOINERS = "\u200c\u200d\ufe0e\ufe0f"
_WITHOUT_JOINERS = str.maketrans("", "", _JOINERS)
_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
# Characters that Markdown interprets anywhere, at the start of a line, or in a plain URL.
_MARKUP = re.compile(
    r"[\\`*_\[\]<>&~|@!$]|^[#+=-]|(?<=^\d)[.)]|(?<=^\d\d)[.)]|:(?=//)|(?<=www)\.", re.IGNORECASE
)
_REPLACEMENT = "\ufffd"
_ELLIPSIS = "…"


def is_displayable(text: str) -> bool:
    """Return whether all characters of a text are visible and do not control the output."""
    return text.isprintable() and not _INVISIBLE.search(text)


def one_line(text: str, limit: int | None = None) -> str:
    """Return a text on one line, without invisible characters or characters that control output.

    Line ends and tabs become spaces. Each sequence of other removed characters is replaced by one
    U+FFFD, so that the reader notices the change. A text of more than `limit` characters is
    truncated and ends with `…`.
    """
    if is_displayable(text):
        return _cut(text, limit)
    return _cut(_cleaned(text.translate(_WITHOUT_JOINERS)), limit)


def many_lines(text: str, limit: int | None = None) -> str:
    """Clean each line of a text like `one_line`, and join the lines with line feeds."""
    lines = _LINE_ENDS.sub("\n", text).split("\n")
    return _cut("\n".join(map(one_line, lines)), limit)


def escaped_json(text: str) -> str:
    """Return a JSON text in which escapes replace the characters that `one_line` removes.

    The JSON value stays the same, because these characters only occur in strings. Line feeds
    between values are not replaced.
    """
    if is_displayable(text.replace("\n", "")):
        return text
    return "".join(
        character if character == "\n" or is_displayable(character) else json.dumps(character)[1:-1]
        for character in text
    )


def markdown_text(text: str) -> str:
    """Return a text on one line, with escapes so that Markdown displays it literally."""
    return _MARKUP.sub(lambda match: f"&#{ord(match[0])};", one_line(text).strip())


def _cleaned(text: str) -> str:
    parts: list[str] = []
    for character in text:
        if is_displayable(character):
            parts.append(character)
        elif character.isspace():
            parts.append(" ")
        elif parts[-1:] != [_REPLACEMENT]:
            parts.append(_REPLACEMENT)
    return "".join(parts)


def _cut(text: str, limit: int | None) -> str:
    return text if limit is None or len(text) <= limit else text[: limit - 1] + _ELLIPSIS
