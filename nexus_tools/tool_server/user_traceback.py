"""Where an author's code went wrong: in the author's own file, not in what called or was called."""

import linecache
import sysconfig
import traceback
from pathlib import Path

_OURS = Path(__file__).parents[1]
# What is installed, and what Python itself is made of.
_INSTALLED = tuple(
    Path(sysconfig.get_path(name)).resolve()
    for name in ("stdlib", "platstdlib", "purelib", "platlib")
)

_MAX_MESSAGE = 200


def traceback_of(error: BaseException) -> str:
    """The traceback as Python prints it, from the first frame that is the author's."""
    first = error.__traceback__
    while first is not None and not _is_authors(first.tb_frame.f_code.co_filename):
        first = first.tb_next
    return "".join(traceback.format_exception(error.with_traceback(first or error.__traceback__)))


def cause_of(error: BaseException) -> str:
    """What went wrong and where, in one line: `KeyError: 'title' in /home/ada/tools.py, line 8: …`.

    The message of an exception has 200 characters at most.
    """
    message = message_of(error)
    place = place_of(error)
    return f"{type(error).__name__}{message and ': '}{message}{place and ' in '}{place}"


def message_of(error: BaseException) -> str:
    """Return the message of an exception on one line, with 200 characters at most.

    pydantic nests what is wrong with an annotation; the cause stands on the last line.
    """
    text = str(error)
    if type(error).__name__ == "SchemaError":
        text = text.strip().rpartition("\n")[2].removeprefix("error: ")
        if "look-around" in text:
            text += ": patterns have the syntax of Rust's regex crate"
    message = " ".join(text.split())
    return message if len(message) <= _MAX_MESSAGE else f"{message[: _MAX_MESSAGE - 1]}…"


def place_of(error: BaseException) -> str:
    """File, line and text of the author's last line on the way to the error; empty without one.

    A file that cannot be parsed has no frame: the error itself knows the place.
    """
    if isinstance(error, SyntaxError) and error.filename:
        return _place(error.filename, error.lineno or 1)
    frames = [
        _place(frame.f_code.co_filename, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if _is_authors(frame.f_code.co_filename)
    ]
    return frames[-1] if frames else ""


def _place(file: str, line: int) -> str:
    text = linecache.getline(file, line).strip()
    return f"{file}, line {line}" + (f": {text}" if text else "")


def _is_authors(file: str) -> bool:
    """Whether a file is neither ours, nor installed, nor built into Python (`<frozen …>`)."""
    if file.startswith("<"):
        return False
    path = Path(file).resolve()
    return not any(path.is_relative_to(folder) for folder in (_OURS, *_INSTALLED))
