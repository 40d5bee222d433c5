"""The width of text in a terminal, and the truncation of text to a width."""

from rich.cells import cell_len


def cells(text: str) -> int:
    """Return the number of columns of a text.

    For example, a Chinese character takes two columns.
    """
    return cell_len(text)


def truncate_end(text: str, width: int) -> str:
    """Return the start of a text, truncated to `width` columns."""
    if cell_len(text) <= width:
        return text
    end = min(len(text), width)
    while cell_len(text[:end]) >= width:
        end -= 1
    return f"{text[:end].rstrip()}…"


def truncate_start(text: str, width: int) -> str:
    """Return the end of a text, truncated to `width` columns.

    The end of an FQN is more specific than its start. The result starts with a whole label if it
    then still fills at least half of the width.
    """
    if cell_len(text) <= width:
        return text
    start = max(1, len(text) - width)
    while cell_len(text[start:]) >= width:
        start += 1
    dot = text.find(".", start)
    if dot != -1 and 2 * cell_len(text[dot:]) >= width:
        start = dot + 1
    return f"…{text[start:]}"
