"""Sizes of the images in HTML pages, so that texts do not move while an image loads."""

import re
from functools import partial
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

_IMAGE = re.compile(r'<img [^>]*?src="([^"]+)"[^>]*?/?>')
_SVG_SIZE = re.compile(r'<svg [^>]*?width="(\d+)" height="(\d+)"')
_LAZY = ' loading="lazy"'
_WEBP_SIZE_AT = 24
"""The position of width and height in an extended WebP file, which Chromium writes."""


def add_sizes(site: Path) -> None:
    """Add its width and height to each local image.

    The first image of a page is loaded at once. Other images are loaded when a reader scrolls to
    them, so a hidden picture in dark colors is not loaded at all.
    """
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        sized = _IMAGE.sub(partial(_sized, path.parent), text).replace(_LAZY, "", 1)
        if sized != text:
            path.write_text(sized, encoding="utf-8")


def _sized(folder: Path, image: re.Match[str]) -> str:
    url = urlsplit(unescape(image[1]))
    if url.scheme or " width=" in image[0]:
        return image[0]
    width, height = size_of(folder / unquote(url.path))
    attributes = f'width="{width}" height="{height}" decoding="async"{_LAZY}'
    return image[0].replace("<img ", f"<img {attributes} ", 1)


def size_of(path: Path) -> tuple[int, int]:
    """Return the width and the height of an SVG or WebP file, in pixels.

    Raises `ValueError` if the file does not name its size.
    """
    content = path.read_bytes()
    if content[8:16] == b"WEBPVP8X":
        numbers = content[_WEBP_SIZE_AT : _WEBP_SIZE_AT + 6]
        width, height = numbers[:3], numbers[3:]
        return int.from_bytes(width, "little") + 1, int.from_bytes(height, "little") + 1
    size = _SVG_SIZE.search(content.decode(errors="replace"))
    if size is None:
        raise ValueError(f"{path} does not name its width and height")
    return int(size[1]), int(size[2])
