"""Titles and descriptions of HTML pages, which search engines and link previews show."""

import html
import re
from pathlib import Path

_ARTICLE = re.compile(r"<article\b.*?</h1>.*?<p>(.*?)</p>", re.DOTALL)
_DESCRIPTION = re.compile(r'(<meta name="description" content=)"[^"]*">')
_TAG = re.compile(r"<[^>]*>")
_TITLE = re.compile(r"<title>([^<]*?) - \1</title>")


def describe_pages(site: Path) -> None:
    """Describe each page by its first paragraph, and the home page by the text of all pages.

    The title of the home page contains the name of the website once.
    """
    for path in site.rglob("index.html"):
        text = path.read_text(encoding="utf-8")
        described = _TITLE.sub(r"<title>\1</title>", text)
        first, meta = _ARTICLE.search(text), _DESCRIPTION.search(text)
        if first and meta and path.parent != site:
            words = " ".join(html.unescape(_TAG.sub("", first[1])).split())
            described = described.replace(meta[0], f'{meta[1]}"{html.escape(words)}">', 1)
        if described != text:
            path.write_text(described, encoding="utf-8")
