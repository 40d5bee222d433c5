"""Text files that users edit, in UTF-8 with or without a byte order mark."""

from codecs import BOM_UTF8
from pathlib import Path


def read_text(path: Path) -> str:
    r"""Return the text of a file, with `\n` between lines.

    Raises `OSError` and `UnicodeDecodeError`.
    """
    return path.read_text(encoding="utf-8-sig")


def without_byte_order_mark(data: bytes) -> bytes:
    """Remove the byte order mark, if any, from the bytes of a file."""
    return data.removeprefix(BOM_UTF8)
