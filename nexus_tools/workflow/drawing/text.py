"""How wide texts are in a terminal, and texts that are cut to a width."""

from rich.cells import cell_len


def cells(text: str) -> int:
    """How many columns a text takes: Chinese characters, say, take two each."""
    return cell_len(text)


def tail_of(text: str, width: int) -> str:
    """A text of at most that width, which has lost its beginning: of names the end tells more."""
    if cell_len(text) <= width:
        return text
    start = max(1, len(text) - width)
    while cell_len(text[start:]) >= width:
        start += 1
    return f"…{text[start:]}"
