"""The strict parser of untrusted JSON, which measures a value before recursive code reads it.

RFC 8259 allows each receiver to interpret duplicate names, lone surrogates and huge numbers. This
parser rejects such input, as I-JSON (RFC 7493) does, so that all programs read the same value from
a text.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from math import isfinite, isinf
from typing import Any, NamedTuple, NoReturn

from nexus_tools.errors import ValidationError

MAX_DEPTH = 64

# The unit in which the length of strings is counted, because long strings take time to validate.
BYTES_PER_STRETCH = 8


class Extent(NamedTuple):
    """The size of a JSON value.

    `nodes` is the number of values, and `depth` is the number of nested levels. `text` is the
    number of full stretches of `BYTES_PER_STRETCH` bytes in strings and names. `text` also includes
    stretches that account for the cost of integers of more than 64 bits.
    """

    nodes: int
    depth: int
    text: int = 0


def parse_json(text: bytes | str) -> Any:
    """Parse `text`, or raise `ValidationError` with code `json_invalid`.

    The parser rejects text that is not UTF-8, duplicate names, NaN, infinities, lone surrogates,
    integers with more than 4300 digits (a limit of Python), and nesting beyond `MAX_DEPTH`.
    """
    try:
        decoded = text.decode("utf-8") if isinstance(text, bytes) else text
        value = _DECODER.decode(decoded)
        # Python's parser turns "\\ud83d\\ude00" into one character, but it also accepts a lone
        # surrogate. Only an escape can denote a lone surrogate, because UTF-8 cannot encode it.
        if "\\u" in decoded:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeError as error:
        raise _invalid("the text is not UTF-8 or contains a lone surrogate") from error
    except RecursionError as error:
        raise _invalid(f"the value nests deeper than {MAX_DEPTH} levels") from error
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise _invalid(f"{error.msg} at {where}") from error
    except ValueError as error:
        raise _invalid("a number has too many digits") from error
    # Only text with more than `MAX_DEPTH` brackets can nest too deep. Most values are not measured.
    if decoded.count("[") + decoded.count("{") > MAX_DEPTH:
        measure(value)
    return value


def canonical_json(value: Any) -> bytes:
    """Return the canonical form of a value: sorted names, no spaces, UTF-8 without escapes.

    Two schemas are equal if and only if their canonical forms are equal.
    """
    return _encoded(_CANONICAL, value)


def canonical_elements(values: list[Any]) -> list[bytes]:
    """Return the canonical JSON of each element of a list."""
    if not values or not _SCALARS.issuperset(map(type, values)):
        return [canonical_json(value) for value in values]
    # Encoding all elements in one call takes a tenth of the time of one call per element. The
    # separator cannot occur in an element, because JSON escapes it.
    return _encoded(_SEPARATED, values)[1:-1].split(_SEPARATOR.encode())


def _encoded(encoder: json.JSONEncoder, value: Any) -> bytes:
    try:
        # `encode` prepares much for a value that is not a string, and many ports are integers.
        text = int.__repr__(value) if type(value) is int else encoder.encode(value)
        return text.encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        raise _invalid("JSON cannot represent the value") from error


def measure(value: Any) -> Extent:
    """Return the extent of `value`, or raise `json_invalid` if it is too deep or not JSON.

    The function works level by level without recursion. Therefore a value with 100 000 nested
    levels is rejected at the 65th level, without a `RecursionError`. For example, `{"a": [1,
    "long…", 2]}` has two levels, the object and the list. This value has five nodes: the object,
    the list, two numbers and the string. Names count as text, but not as nodes.
    """
    if not isinstance(value, _CONTAINERS):
        return Extent(1, 0, _leaf_text(value))
    nodes = depth = text = 0
    level: list[list[Any] | dict[Any, Any]] = [value]
    while level:
        if depth > MAX_DEPTH:
            raise _invalid(f"the value nests deeper than {MAX_DEPTH} levels")
        below: list[list[Any] | dict[Any, Any]] = []
        for container in level:
            nodes += 1 + len(container)
            members: Iterable[Any] = container
            if isinstance(container, dict):
                text += _names_text(container)
                members = container.values()
            for member in members:
                kind = type(member)
                # The order of these checks matters, because they run for every value of every call.
                if kind in _ONE_NODE:
                    if kind is int and not -_WIDE < member < _WIDE:
                        text += number_stretches(member)
                    continue
                if kind is dict or kind is list or isinstance(member, _CONTAINERS):
                    below.append(member)
                    nodes -= 1
                else:
                    text += _leaf_text(member)
        level = below
        depth += 1
    return Extent(nodes, depth, text)


def json_pointer(path: Sequence[str | int]) -> str:
    """Return the JSON pointer (RFC 6901) of a path of names and indices, or "" for the root."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def text_stretches(text: str) -> int:
    """Return the number of full stretches of a string. Lone surrogates raise `json_invalid`."""
    if text.isascii():
        return len(text) // BYTES_PER_STRETCH
    try:
        return len(text.encode("utf-8")) // BYTES_PER_STRETCH
    except UnicodeEncodeError as error:
        raise _invalid("a string contains a lone surrogate") from error


def number_stretches(number: int) -> int:
    """Return the number of text stretches that cost as much as comparing an integer.

    The cost grows with the square of the number of digits. The result is 0 for 64-bit integers.
    """
    if -_WIDE < number < _WIDE:
        return 0
    return 32 + (number.bit_length() // 24) ** 2


def _names_text(container: dict[Any, Any]) -> int:
    try:
        return text_stretches("".join(container))
    except TypeError as error:
        raise _invalid("the name of a member is not a string") from error


def _leaf_text(leaf: Any) -> int:
    if isinstance(leaf, str):
        return text_stretches(leaf)
    if isinstance(leaf, float) and not isfinite(leaf):
        raise _invalid("the value contains a number that is NaN or infinite")
    if leaf is None or isinstance(leaf, bool | float):
        return 0
    if isinstance(leaf, int):
        return number_stretches(leaf)
    raise _invalid(f"the value contains a {type(leaf).__name__}, which is not a JSON value")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        [(name, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise _invalid(f"the name {name[:80]!r} occurs twice in one object")
    return members


def _finite(digits: str) -> float:
    number = float(digits)
    if isinf(number):
        raise _invalid(f"the number {digits[:40]} is too large for a double")
    return number


def _constant(name: str) -> NoReturn:
    raise _invalid(f"{name} is not a JSON number")


def _invalid(problem: str) -> ValidationError:
    return ValidationError("json_invalid", f"invalid JSON: {problem}")


# Validators parse larger integers from text, in time that is quadratic in the number of digits.
_WIDE = 2**63

# The types whose values count as one node without text, except large integers. The set is used for
# each value of each call.
_ONE_NODE = frozenset((int, bool, type(None)))
# The value is a tuple, because a union type would be created again at each use.
_CONTAINERS = (dict, list)

_SCALARS = frozenset((str, int, float, bool, type(None)))
_SEPARATOR = "\x1e"  # ASCII's record separator
_CANONICAL, _SEPARATED = (
    json.JSONEncoder(
        sort_keys=True, separators=(separator, ":"), ensure_ascii=False, allow_nan=False
    )
    for separator in (",", _SEPARATOR)
)
_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=_finite, parse_constant=_constant
)
