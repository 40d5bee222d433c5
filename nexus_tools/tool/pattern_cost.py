"""What a regular expression costs in the engine of jsonschema-rs, which runs in linear time.

Linear in the text, but the factor is the size of the compiled expression, up to which the engine
may follow many positions at once: `(a|b)*a(a|b){500}` takes 9 microseconds for each character.
"""

from functools import lru_cache
from typing import TYPE_CHECKING

from nexus_tools.tool.mismatch import Mismatch

if TYPE_CHECKING:
    from jsonschema_rs import RegexOptions

# Compiled size in bytes; about 16 000 character positions, or 250 repetitions of `\w`.
MAX_COMPILED_BYTES = 1 << 18
_SIZES = (1 << 14, 1 << 16, MAX_COMPILED_BYTES)
_BYTES_PER_STEP = 32


def linear_time() -> "RegexOptions":
    """The engine that never backtracks, with bounded memory."""
    from jsonschema_rs import RegexOptions  # noqa: PLC0415 - native code, needed late

    return RegexOptions(size_limit=MAX_COMPILED_BYTES)


def pattern_mismatches(pointer: str, pattern: str) -> list[Mismatch]:
    """Why `pattern` cannot be used; empty if it can."""
    if _compiles(pattern, MAX_COMPILED_BYTES):
        return []
    message = (
        f"the pattern {pattern[:80]!r} is none for a linear-time engine: "
        "avoid look-around, back-references and large repetitions"
    )
    return [Mismatch(pointer, message)]


@lru_cache(maxsize=1024)
def pattern_cost(pattern: str) -> int:
    """The steps that matching takes for each node of text."""
    size = next((size for size in _SIZES if _compiles(pattern, size)), MAX_COMPILED_BYTES)
    return size // _BYTES_PER_STEP


def _compiles(pattern: str, size_limit: int) -> bool:
    import jsonschema_rs  # noqa: PLC0415 - native code, needed late

    options = jsonschema_rs.RegexOptions(size_limit=size_limit)
    try:
        jsonschema_rs.Draft202012Validator({"pattern": pattern}, pattern_options=options)
    except (jsonschema_rs.ValidationError, ValueError):
        return False
    return True
