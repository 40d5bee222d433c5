"""The maximum cost of validating a value against a schema, computed before the validation.

Alternatives that share subschemas by `$ref` double the work with each level. A schema of 2 KB could
therefore occupy a validator for years. The cost is counted in steps of about 20 ns. The cost
depends only on the schema and the value, so every leader and tool rejects the same values.

`ValidationCost.bound` needs only the size of a value. The bound is the steps of all subschemas that
may apply along one path from the value's root to a leaf, multiplied by the number of nodes. If the
result exceeds the limit, `ValidationCost.count` inspects the value itself. The actual cost is often
lower, for example because no pattern applies to a long string.
"""

from bisect import bisect_left
from collections.abc import Iterable
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any

from nexus_tools.tool.schemas.mismatch import Mismatch
from nexus_tools.tool.schemas.schema_document import (
    Schema,
    SchemaDocument,
    direct_subschemas,
    schema_error,
)
from nexus_tools.tool.strict_json import (
    BYTES_PER_STRETCH,
    MAX_DEPTH,
    Extent,
    canonical_json,
    json_pointer,
    number_stretches,
    text_stretches,
)

if TYPE_CHECKING:
    from jsonschema_rs import RegexOptions

MAX_STEPS = 2**23
"""The maximum number of steps for one value, which corresponds to at most 0.2 s."""

# If a value of this small size could already exceed `MAX_STEPS`, the schema is rejected.
_USEFUL = Extent(nodes=32, depth=6)

# A value is inspected node by node only if that takes at most about 0.1 s.
_MAX_COUNTED_NODES = 2**18
_MAX_COUNTED_SUBSCHEMAS = 2**14

_IN_PLACE = frozenset(["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"])
# At most one subschema of each of these keywords applies to a member of an object or array.
_EXCLUSIVE = frozenset(("properties", "prefixItems"))
_NEVER_APPLIED = frozenset(("$defs", "definitions", "contentSchema"))
_COMPARED = ("enum", "const", "required", "dependentRequired")
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
# Keywords whose cost depends on each character of a string, or each digit of a large integer.
_MEASURED = frozenset(("minLength", "maxLength", "multipleOf", "const", "enum", *_BOUNDS))
# Finding equal elements takes 0.25 µs per element. Dividing fractions takes 10 µs.
_UNIQUE_STEPS = 12
_FRACTION_STEPS = 512
# A comparison with a fraction takes 0.5 µs. A comparison with an integer takes much less.
_NUMBER_STEPS = 32
_BYTES_PER_STEP = 16


class ValidationCost:
    """The number of steps that the validation of a value against a schema can take.

    Worked example: a linked list whose rest is validated twice, so that each level doubles the
    work.

        t = {"properties": {"next": {"anyOf": [{"$ref": "#/$defs/t"}, {"$ref": "#/$defs/t"}]}}}
        {"$defs": {"t": t}, "$ref": "#/$defs/t"}

    Each subschema has one own step, and one for each of its keywords. The root has 3 own steps, and
    `t`, `next` and each `$ref` have 2. `t` applies `next` one level below. `next` applies both
    references at its own level, and each reference applies `t`:

        depth   t(d) = 2 + next(d-1)   next(d) = 2 + 2 · (2 + t(d))   root(d) = 3 + t(d)
          0              2                          10                        5
          1             12                          30                       15
          2             32                          70                       35
          8          2 552                       5 110                    2 555

    A value of 32 nodes and depth 8 takes at most 32 · 2 555 = 81 760 steps, or 2 ms, so the schema
    is usable. A value of 100 nodes and depth 20 could take 1 048 575 500 steps. Because this number
    exceeds `MAX_STEPS`, the value is rejected.
    """

    def __init__(self, document: SchemaDocument) -> None:
        self._nodes = {
            pointer: _Node.of(document, pointer, schema)
            for pointer, schema in document.subschemas.items()
        }
        self._order = self._innermost_first()
        self._rank = {pointer: rank for rank, pointer in enumerate(self._order)}
        self._at_root = self._by_depth({p: node.own for p, node in self._nodes.items()})
        self._text_at_root = self._by_depth({p: node.text for p, node in self._nodes.items()})
        if self.bound(_USEFUL) > MAX_STEPS:
            message = "validating even a small value could take too long. Nest fewer alternatives"
            raise schema_error([Mismatch("", message)])

    @property
    def free_bytes(self) -> int:
        """The size of JSON text, in bytes, up to which any value is within `MAX_STEPS`."""
        # In JSON text, each node takes at least one byte, and each stretch of text takes eight.
        text_steps = -(-self._text_at_root[-1] // BYTES_PER_STRETCH)
        return MAX_STEPS // max(self._at_root[-1], text_steps)

    def bound(self, extent: Extent) -> int:
        """Return the maximum number of steps for any value of this extent."""
        level = min(extent.depth, len(self._at_root) - 1)
        text_level = min(extent.depth, len(self._text_at_root) - 1)
        return extent.nodes * self._at_root[level] + extent.text * self._text_at_root[text_level]

    def count(self, value: Any, extent: Extent) -> int:
        """Return the maximum number of steps for this value, given its measured extent.

        If the value has too many nodes to be inspected, the result exceeds `MAX_STEPS`.
        """
        bound = self.bound(extent)
        if bound <= MAX_STEPS or extent.nodes > _MAX_COUNTED_NODES:
            return bound
        return self.count_nodes(value)

    def count_nodes(self, value: Any) -> int:
        """Return the steps for this value, counted node by node.

        If counting takes too long, the result is more than `MAX_STEPS`.
        """
        return _Count(self._nodes, self._rank).of(value)

    def _innermost_first(self) -> list[str]:
        graph = {pointer: node.in_place for pointer, node in self._nodes.items()}
        try:
            return list(TopologicalSorter(graph).static_order())
        except CycleError as error:
            message = "it refers to itself without entering a property or an item"
            raise schema_error([Mismatch(error.args[1][0], message)]) from error

    def _by_depth(self, own: dict[str, int]) -> list[int]:
        # Each pass computes a row of the table above from the previous row, until the row does not
        # change. A schema that does not refer to itself has as many rows as it has levels.
        below: dict[str, int] = {}
        at_root: list[int] = []
        for _ in range(MAX_DEPTH + 1):
            here: dict[str, int] = {}
            for pointer in self._order:
                steps = own[pointer] + self._nodes[pointer].applied(here, below)
                here[pointer] = min(steps, MAX_STEPS + 1)
            at_root.append(here[""])
            if here == below:
                break
            below = here
        return at_root


class _Node:
    """One subschema: its own steps, and the pointers of the subschemas that it applies.

    A subschema takes `own` steps for each node of a value, and `text` steps for each text stretch.
    """

    __slots__ = ("factor", "in_place", "inside", "members", "own", "text", "unique")

    def __init__(self, own: int, text: int = 0) -> None:
        self.own = own
        self.text = text
        self.factor = 1
        self.unique = 0
        self.in_place: list[str] = []
        self.inside: list[str] = []
        self.members: dict[str | int, str] = {}

    @classmethod
    def of(cls, document: SchemaDocument, pointer: str, schema: Schema) -> "_Node":
        if isinstance(schema, bool):
            return cls(1)
        node = cls(*_own_steps(schema))
        node.unique = _unique_steps(schema)
        node.in_place.extend(document.references(schema))
        for keyword, place, _ in direct_subschemas(pointer, schema):
            if keyword in _IN_PLACE:
                node.in_place.append(place)
            elif keyword not in _NEVER_APPLIED | _EXCLUSIVE:
                node.inside.append(place)
        for name in schema.get("properties", ()):
            node.members[name] = f"{pointer}/properties{json_pointer((name,))}"
        for index in range(len(schema.get("prefixItems", ()))):
            node.members[index] = f"{pointer}/prefixItems/{index}"
        # To find unevaluated members, the validator visits the other applied subschemas again.
        if "unevaluatedProperties" in schema or "unevaluatedItems" in schema:
            node.factor = 2
        return node

    def applied(self, here: dict[str, int], below: dict[str, int]) -> int:
        """Return the steps of the subschemas that this subschema applies.

        `here` and `below` are the steps of all subschemas at this level and at the level below.
        """
        # `additionalProperties` and `patternProperties` may apply to every member of an object. A
        # property applies only to the member of its name, so only the most expensive one counts.
        inside = sum(below.get(place, 0) for place in self.inside)
        exclusive = max((below.get(place, 0) for place in self.members.values()), default=0)
        return self.factor * sum(here[place] for place in self.in_place) + inside + exclusive


_Places = frozenset[tuple[str, int]]


class _Applied:
    """The subschemas that apply at one location of a value, with their multiplicities."""

    __slots__ = ("_inside", "_members", "below", "own", "size", "text", "unique")

    def __init__(self, nodes: dict[str, _Node], rank: dict[str, int], roots: _Places) -> None:
        self.own = self.text = self.unique = 0
        self.below: dict[str | int | None, _Applied] = {}
        self._inside: dict[str, int] = {}
        self._members: dict[str | int, dict[str, int]] = {}
        times = dict(roots)
        reached = _reached(nodes, times)
        self.size = 1 + len(reached)
        for pointer in sorted(reached, key=rank.__getitem__, reverse=True):
            node, often = nodes[pointer], min(times[pointer], MAX_STEPS + 1)
            self.own += often * node.own
            self.text += often * node.text
            self.unique += often * node.unique
            for place in node.in_place:
                times[place] = times.get(place, 0) + often * node.factor
            for place in node.inside:
                self._inside[place] = self._inside.get(place, 0) + often
            for name, place in node.members.items():
                named = self._members.setdefault(name, {})
                named[place] = named.get(place, 0) + often

    def key(self, member: str | int) -> str | int | None:
        """Return a key for a member. Members with equal keys have the same subschemas."""
        return member if member in self._members else None

    def places(self, key: str | int | None) -> _Places:
        """Return the subschemas that apply to a member."""
        places = dict(self._inside)
        for place, often in self._members[key].items() if key is not None else ():
            places[place] = places.get(place, 0) + often
        return frozenset(places.items())


def _reached(nodes: dict[str, _Node], roots: Iterable[str]) -> set[str]:
    reached = set(roots)
    pending = list(reached)
    while pending:
        new = set(nodes[pending.pop()].in_place) - reached
        reached |= new
        pending += new
    return reached


class _Count:
    """A counter of the actual steps of one value."""

    def __init__(self, nodes: dict[str, _Node], rank: dict[str, int]) -> None:
        self._nodes = nodes
        self._rank = rank
        self._known: dict[_Places, _Applied] = {}
        self._left = _MAX_COUNTED_SUBSCHEMAS

    def of(self, value: Any) -> int:
        """Return the steps of `value`, or more than `MAX_STEPS` if counting takes too long."""
        steps = 0
        # Each entry is a value, its applied subschemas, and the steps of `uniqueItems` around it.
        pending = [(value, self._at(frozenset([("", 1)])), 0)]
        while pending and steps <= MAX_STEPS and self._left >= 0:
            here, applied, compared = pending.pop()
            own, text = 1 + applied.own + compared, applied.text + compared
            steps += own
            if isinstance(here, str):
                steps += text_stretches(here) * text
            elif isinstance(here, int):
                steps += number_stretches(here) * text
            elif isinstance(here, list):
                steps += len(here) * own
                compared += applied.unique
                for index, member in enumerate(here):
                    pending.append((member, self._below(applied, index), compared))
            elif isinstance(here, dict):
                steps += len(here) * own
                for name, member in here.items():
                    below = self._below(applied, name)
                    pending.append((member, below, compared))
                    steps += text_stretches(name) * (text + below.text)
        return steps if self._left >= 0 else MAX_STEPS + 1

    def _below(self, applied: _Applied, member: str | int) -> _Applied:
        key = applied.key(member)
        if key not in applied.below:
            applied.below[key] = self._at(applied.places(key))
        return applied.below[key]

    def _at(self, places: _Places) -> _Applied:
        if places not in self._known:
            self._known[places] = _Applied(self._nodes, self._rank, places)
            self._left -= self._known[places].size
        return self._known[places]


def _own_steps(schema: dict[str, Any]) -> tuple[int, int]:
    """Return the own steps of a subschema for each node, and for each stretch of text."""
    compared = [schema[keyword] for keyword in _COMPARED if keyword in schema]
    patterns = list(schema.get("patternProperties", ()))
    if "pattern" in schema:
        patterns.append(schema["pattern"])
    constants = len(canonical_json(compared)) // _BYTES_PER_STEP if compared else 0
    text = sum(map(pattern_cost, patterns)) + _unique_steps(schema)
    own = 1 + len(schema) + constants + text + _NUMBER_STEPS * _compared_numbers(schema)
    if isinstance(schema.get("multipleOf"), float):
        own += _FRACTION_STEPS
    return own, text + len(_MEASURED & schema.keys())


def _compared_numbers(schema: dict[str, Any]) -> int:
    """Return the number of constants and fractional bounds with which a value is compared."""
    count = sum(isinstance(schema.get(bound), float) for bound in _BOUNDS)
    pending = [schema.get("const"), schema.get("enum")]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            pending += value.values()
        elif isinstance(value, list):
            pending += value
        else:
            count += isinstance(value, int | float) and not isinstance(value, bool)
    return count


def _unique_steps(schema: dict[str, Any]) -> int:
    return _UNIQUE_STEPS if schema.get("uniqueItems") is True else 0


# --- Patterns
#
# jsonschema-rs matches in time that is linear in the length of the text. The time per character is
# proportional to the size of the compiled expression, because the engine may follow all positions
# of the expression at once. `(a|b)*a(a|b){500}` takes 7 µs per character. An alternation
# of such expressions takes up to 45 µs.

# The maximum compiled size in bytes, which allows about 16 000 character positions, or 250
# repetitions of `\w`.
MAX_COMPILED_BYTES = 1 << 18
# The engine does not report the size of an expression. The engine only rejects expressions above a
# limit, so the size is the smallest of these limits that accepts the expression. The size of
# `^[0-9]{4}-[0-9]{2}$` is the second limit (128 steps for each stretch of text), of `[a-z]{1,8}`
# the third (256 steps), and of `\w{250}` the seventh (4 096 steps).
_SIZES = tuple(1 << bits for bits in range(9, 19))
_COMPILED_BYTES_PER_STEP = 8


def linear_time_options() -> "RegexOptions":
    """Return the options that select the regex engine without backtracking and bound its memory."""
    from jsonschema_rs import RegexOptions  # noqa: PLC0415 - native code, needed late

    return RegexOptions(size_limit=MAX_COMPILED_BYTES)


def pattern_mismatches(pointer: str, pattern: str) -> list[Mismatch]:
    """Return the problem of a `pattern` in a list, or an empty list if it is supported."""
    if _compiles(pattern, MAX_COMPILED_BYTES):
        return []
    message = (
        f"the linear-time engine does not support the pattern {pattern[:80]!r}. "
        "Avoid look-around, back-references and large repetitions"
    )
    return [Mismatch(pointer, message)]


@lru_cache(maxsize=1024)
def pattern_cost(pattern: str) -> int:
    """Return the number of steps that matching a pattern takes for each stretch of text."""
    index = bisect_left(_SIZES, True, key=lambda size: _compiles(pattern, size))
    return _SIZES[min(index, len(_SIZES) - 1)] // _COMPILED_BYTES_PER_STEP


def _compiles(pattern: str, size_limit: int) -> bool:
    import jsonschema_rs  # noqa: PLC0415 - native code, needed late

    options = jsonschema_rs.RegexOptions(size_limit=size_limit)
    try:
        jsonschema_rs.Draft202012Validator({"pattern": pattern}, pattern_options=options)
    except (jsonschema_rs.ValidationError, ValueError):
        return False
    return True
