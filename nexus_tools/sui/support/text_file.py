"""Text files that users edit: UTF-8, with or without a byte order mark."""

from codecs import BOM_UTF8
from pathlib import Path


def read_text(path: Path) -> str:
    r"""Return the text of a file, with `\n` between lines.

    Raises `OSError` and `UnicodeDecodeError`.
    """
    return path.read_text(encoding="utf-8-sig")


def without_byte_order_mark(data: bytes) -> bytes:
    """Return the bytes of a file without a byte order mark."""
    return data.removeprefix(BOM_UTF8)
