"""The text that the copy button of a console block copies: only the commands, without output."""

import html
import re
from pathlib import Path

from documents.page import COMMAND

_BLOCK = re.compile(
    r'<div class="([^"]*\bhighlight)">((?:(?!</div>).)*?<code>(.*?)</code>)', re.DOTALL
)
_TAG = re.compile(r"<[^>]*>")


def mark_commands(site: Path) -> None:
    """Add the commands of each console block to the page, where the theme looks for them."""
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        marked = _BLOCK.sub(_marked, text)
        if marked != text:
            path.write_text(marked, encoding="utf-8")


def _marked(block: re.Match[str]) -> str:
    kind, inside, code = block.groups()
    shown = html.unescape(_TAG.sub("", code))
    commands = [command for command, _ in COMMAND.findall(f"{shown}\n")]
    if not commands:
        return block[0]
    copied = html.escape("\n".join(commands)).replace("\n", "&#10;")
    return f'<div class="{kind} console" data-copy="{copied}">{inside}'
