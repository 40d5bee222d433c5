"""The errors of text search."""

from pathlib import Path

from nexus_tools.errors import UsageError, WrongStateError

_RUN = "Run `nexus-tools index run`, which creates it."


def text_index_unusable(path: Path) -> WrongStateError:
    """Return the error of a reader that finds no index, a damaged index, or another source."""
    return WrongStateError(
        "text_index_unusable", f"no usable search index exists in {path}", hint=_RUN
    )


def text_index_locked(path: Path) -> UsageError:
    """Return the error of a second writer."""
    return UsageError(
        "text_index_locked",
        f"another process writes the search index in {path}",
        hint="Stop the other process, or use its index.",
    )


def extra_missing(extra: str, module: str) -> UsageError:
    """Return the error for an extra that is not installed."""
    return UsageError(
        "extra_not_installed",
        f"the extra `{extra}` is required: {module} is not installed",
        hint=f"Run `pip install 'nexus-tools[{extra}]'`.",
    )
