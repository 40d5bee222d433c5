"""How wide texts are in a terminal, and texts that are cut to a width."""

from rich.cells import cell_len


def cells(text: str) -> int:
    """How many columns a text takes: Chinese characters, say, take two each."""
    return cell_len(text)


def head_of(text: str, width: int) -> str:
    """A text of at most that width, which has lost its end."""
    if cell_len(text) <= width:
        return text
    end = min(len(text), width)
    while cell_len(text[:end]) >= width:
        end -= 1
    return f"{text[:end].rstrip()}…"


def tail_of(text: str, width: int) -> str:
    """A text of at most that width, which has lost its beginning: of an FQN the end tells more.

    It begins with a whole part, unless little were left.
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
