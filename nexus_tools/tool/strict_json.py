"""JSON as strangers send it: parsed strictly, measured before anything recursive reads it.

RFC 8259 leaves duplicate names, lone surrogates and huge numbers to the receiver; here they are
errors, as in I-JSON (RFC 7493), so that two readers never see different values in one text.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from math import isfinite, isinf
from typing import Any, NamedTuple, NoReturn

from nexus_tools.errors import ValidationError

MAX_DEPTH = 64

# A string weighs one node for every so many characters: long text is work too.
_CHARACTERS_PER_NODE = 8


class Extent(NamedTuple):
    """How large a JSON value is: `nodes` counts values and stretches of text, `depth` nesting."""

    nodes: int
    depth: int


def parse_json(text: bytes | str) -> Any:
    """The value in `text`, or `ValidationError` with code `json_invalid`.

    Refused: text that is not UTF-8, duplicate names, NaN and infinities, lone surrogates,
    integers that Python refuses to read (more than 4300 digits), nesting beyond `MAX_DEPTH`.
    """
    try:
        decoded = text.decode("utf-8") if isinstance(text, bytes) else text
        value = _DECODER.decode(decoded)
        # Python's parser makes one character of "\\ud83d\\ude00", and lets half of such a pair
        # stand. Only an escape can bring one in: text in UTF-8 has none.
        if "\\u" in decoded:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeError as error:
        raise _invalid("it is not UTF-8 or has half a surrogate pair") from error
    except RecursionError as error:
        raise _invalid(f"it nests deeper than {MAX_DEPTH} levels") from error
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise _invalid(f"{error.msg} at {where}") from error
    except ValueError as error:
        raise _invalid("a number has too many digits") from error
    # Only text with that many brackets can nest too deep: most texts are not walked for it.
    if decoded.count("[") + decoded.count("{") > MAX_DEPTH:
        measure(value)
    return value


def canonical_json(value: Any) -> bytes:
    """One spelling for one value: sorted names, no spaces, UTF-8 without escapes.

    Two schemas are the same if and only if these bytes are.
    """
    return _encoded(_CANONICAL, value)


def canonical_elements(values: list[Any]) -> list[bytes]:
    """The canonical texts of a list's elements."""
    if not values or not _SCALARS.issuperset(map(type, values)):
        return [canonical_json(value) for value in values]
    # One call for all takes a tenth of the time. No text has the character between them: JSON
    # escapes it.
    return _encoded(_SEPARATED, values)[1:-1].split(_SEPARATOR.encode())


def _encoded(encoder: json.JSONEncoder, value: Any) -> bytes:
    try:
        return encoder.encode(value).encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        raise _invalid("it has something that JSON cannot express") from error


def measure(value: Any) -> Extent:
    """The extent of `value`; `ValidationError` (`json_invalid`) if it is too deep or no JSON.

    It goes level by level, not into the depth: a value that nests 100 000 deep is refused at the
    65th level and not by a RecursionError. `{"a": [1, "long…", 2]}` has the levels `{}`, `[]`; its
    nodes are the object, the list, two numbers, and the text with one more for each 8 characters.
    """
    if not isinstance(value, _CONTAINERS):
        return Extent(_leaf_nodes(value), 0)
    nodes = depth = 0
    level: list[list[Any] | dict[Any, Any]] = [value]
    while level:
        if depth > MAX_DEPTH:
            raise _invalid(f"it nests deeper than {MAX_DEPTH} levels")
        below: list[list[Any] | dict[Any, Any]] = []
        for container in level:
            nodes += 1 + len(container)
            for member in container if type(container) is list else _members(container):
                kind = type(member)
                # Asked in this order because this runs for every value of every call.
                if kind in _ONE_NODE:
                    continue
                if kind is dict or kind is list or isinstance(member, _CONTAINERS):
                    below.append(member)
                    nodes -= 1
                else:
                    nodes += _leaf_nodes(member) - 1
        level = below
        depth += 1
    return Extent(nodes, depth)


def pointer_of(path: Sequence[str | int]) -> str:
    """The JSON pointer (RFC 6901) of a path of names and indices; the root is the empty string."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def _members(container: list[Any] | dict[Any, Any]) -> Iterable[Any]:
    if isinstance(container, list):
        return container
    try:
        names = "".join(container)
    except TypeError as error:
        raise _invalid("the name of a member is no string") from error
    if not names.isascii():
        _check_text(names)
    return container.values()


def _leaf_nodes(leaf: Any) -> int:
    if isinstance(leaf, str):
        _check_text(leaf)
        return 1 + len(leaf) // _CHARACTERS_PER_NODE
    if isinstance(leaf, float) and not isfinite(leaf):
        raise _invalid("it has a number that is NaN or infinite")
    if leaf is None or isinstance(leaf, bool | int | float):
        return 1
    raise _invalid(f"it has a {type(leaf).__name__}, which is no JSON value")


def _check_text(text: str) -> None:
    """Half a surrogate pair is no character, and nothing that UTF-8 can carry."""
    if text.isascii():
        return
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise _invalid("a text has half a surrogate pair") from error


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
    raise _invalid(f"{name} is no JSON number")


def _invalid(problem: str) -> ValidationError:
    return ValidationError("json_invalid", f"this is no acceptable JSON: {problem}")


# The types whose every value is JSON and small; this set is asked for each value of each call.
_ONE_NODE = frozenset((int, bool, type(None)))
# A tuple, because a union is made anew wherever it is written.
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
