"""Locations of errors in the author's files, without frames of this package or of libraries."""

import linecache
import sysconfig
import traceback
from pathlib import Path

_PACKAGE_ROOT = Path(__file__).parents[1]
# The folders of installed packages and of Python's standard library.
_INSTALLED_ROOTS = tuple(
    Path(sysconfig.get_path(name)).resolve()
    for name in ("stdlib", "platstdlib", "purelib", "platlib")
)

_MAX_MESSAGE = 200


def traceback_of(error: BaseException) -> str:
    """Return the traceback as Python prints it, from the author's first frame."""
    first = error.__traceback__
    while first is not None and not _is_authors(first.tb_frame.f_code.co_filename):
        first = first.tb_next
    return "".join(traceback.format_exception(error.with_traceback(first or error.__traceback__)))


def error_summary(error: BaseException) -> str:
    """Describe an error on one line: `KeyError: 'title' in /home/ada/tools.py, line 8: …`.

    The exception's message is truncated to 200 characters.
    """
    message = message_of(error)
    place = location_of(error)
    return f"{type(error).__name__}{message and ': '}{message}{place and ' in '}{place}"


def message_of(error: BaseException) -> str:
    """Return the message of an exception on one line, cut to 200 characters.

    If pydantic rejects an annotation, its message has several lines. The last line is the cause.
    """
    text = str(error)
    if type(error).__name__ == "SchemaError":
        text = text.strip().rpartition("\n")[2].removeprefix("error: ")
        if "look-around" in text:
            text += ": patterns have the syntax of Rust's regex crate"
    message = " ".join(text.split())
    return message if len(message) <= _MAX_MESSAGE else f"{message[: _MAX_MESSAGE - 1]}…"


def location_of(error: BaseException) -> str:
    """Return the file, line and code of the author's last frame, or an empty string.

    A syntax error does not have a frame in the file, so the location comes from the `SyntaxError`.
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
    """Return whether a file is not part of this package, a library or Python (`<frozen …>`)."""
    if file.startswith("<"):
        return False
    path = Path(file).resolve()
    return not any(path.is_relative_to(folder) for folder in (_PACKAGE_ROOT, *_INSTALLED_ROOTS))
