"""What checking one value against a schema can cost, computed before any value is seen.

Alternatives that share subschemas by `$ref` double the work with each level, so that a schema of
2 KB could keep a validator busy for years. The cost of a schema is counted in steps (about 20 ns
each) along one path from the value's root to a leaf: the sum over all subschemas that may look at
the same place. A value of n nodes takes at most n times as many.
"""

from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from nexus_tools.tool.mismatch import Mismatch
from nexus_tools.tool.schema_document import (
    Schema,
    SchemaDocument,
    direct_subschemas,
    schema_error,
)
from nexus_tools.tool.strict_json import MAX_DEPTH, Extent, canonical_json

if TYPE_CHECKING:
    from jsonschema_rs import RegexOptions

# About three seconds of work for one value, whatever the schema and the value are.
MAX_STEPS = 2**27

# A schema must be affordable for a value of this many nodes and levels to be of use.
_USEFUL = Extent(nodes=128, depth=8)

_IN_PLACE = frozenset(["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"])
# A member of an object or array meets one of these at most, but all the others.
_EXCLUSIVE = frozenset(("properties", "prefixItems"))
_NEVER_APPLIED = frozenset(("$defs", "definitions", "contentSchema"))
_COMPARED = ("enum", "const", "required", "dependentRequired")
_BYTES_PER_STEP = 16


class ValidationCost:
    """The steps that a schema can take, by depth of the value.

    Worked example: a list whose rest is tried in two ways, so that each level doubles the work.

        t = {"properties": {"next": {"anyOf": [{"$ref": "#/$defs/t"}, {"$ref": "#/$defs/t"}]}}}
        {"$defs": {"t": t}, "$ref": "#/$defs/t"}

    Own steps are one, and one for each keyword: the root has 3, `t`, `next` and each `$ref` have 2.
    `t` enters `next` one level below; `next` applies both references in place, each of them `t`:

        depth   t(d) = 2 + next(d-1)   next(d) = 2 + 2 · (2 + t(d))   root(d) = 3 + t(d)
          0              2                          10                        5
          1             12                          30                       15
          2             32                          70                       35
          8          2 552                       5 110                    2 555

    128 nodes at depth 8 take 128 · 2 555 = 327 040 steps, 7 ms: the schema is of use. A value of
    100 nodes that nests 20 deep could take 1 048 575 500 steps, over `MAX_STEPS`: it is refused.
    """

    def __init__(self, document: SchemaDocument) -> None:
        self._nodes = {
            pointer: _Node.of(document, pointer, schema)
            for pointer, schema in document.subschemas.items()
        }
        self._order = self._innermost_first()
        self._at_root = self._by_depth()
        if self.steps(_USEFUL) > MAX_STEPS:
            message = "checking a small value could take minutes: nest fewer alternatives"
            raise schema_error([Mismatch("", message)])

    def steps(self, extent: Extent) -> int:
        """The most steps that checking a value of this extent takes."""
        return extent.nodes * self._at_root[min(extent.depth, len(self._at_root) - 1)]

    def _innermost_first(self) -> list[str]:
        graph = {pointer: node.in_place for pointer, node in self._nodes.items()}
        try:
            return list(TopologicalSorter(graph).static_order())
        except CycleError as error:
            message = "it refers to itself without entering a property or an item"
            raise schema_error([Mismatch(error.args[1][0], message)]) from error

    def _by_depth(self) -> list[int]:
        # A row of the table above from the one before it, until nothing changes any more: a schema
        # that does not refer to itself is done after as many rows as it has levels.
        below: dict[str, int] = {}
        at_root: list[int] = []
        for _ in range(MAX_DEPTH + 1):
            here: dict[str, int] = {}
            for pointer in self._order:
                here[pointer] = min(self._nodes[pointer].steps(here, below), MAX_STEPS + 1)
            at_root.append(here[""])
            if here == below:
                break
            below = here
        assert all(shallow <= deep for shallow, deep in pairwise(at_root))
        return at_root


class _Node:
    """One subschema: its own steps, and the pointers of those that it applies."""

    __slots__ = ("exclusive", "factor", "in_place", "inside", "own")

    def __init__(self, own: int) -> None:
        self.own = own
        self.factor = 1
        self.in_place: list[str] = []
        self.inside: list[str] = []
        self.exclusive: list[str] = []

    @classmethod
    def of(cls, document: SchemaDocument, pointer: str, schema: Schema) -> "_Node":
        if isinstance(schema, bool):
            return cls(1)
        node = cls(_own_steps(schema))
        node.in_place.extend(document.references(schema))
        for keyword, place, _ in direct_subschemas(pointer, schema):
            if keyword in _IN_PLACE:
                node.in_place.append(place)
            elif keyword in _EXCLUSIVE:
                node.exclusive.append(place)
            elif keyword not in _NEVER_APPLIED:
                node.inside.append(place)
        # Finding what is not evaluated yet visits the neighbours a second time.
        if "unevaluatedProperties" in schema or "unevaluatedItems" in schema:
            node.factor = 2
        return node

    def steps(self, here: dict[str, int], below: dict[str, int]) -> int:
        """The steps at a place, given those of other subschemas here and one level below."""
        # Every member of an object meets `additionalProperties` and `patternProperties`, but of
        # `properties` the one that bears its name: so the dearest of those stands for all.
        inside = sum(below.get(place, 0) for place in self.inside)
        exclusive = max((below.get(place, 0) for place in self.exclusive), default=0)
        return (
            self.own
            + self.factor * sum(here[place] for place in self.in_place)
            + inside
            + exclusive
        )


def _own_steps(schema: dict[str, Any]) -> int:
    compared = [schema[keyword] for keyword in _COMPARED if keyword in schema]
    patterns = list(schema.get("patternProperties", ()))
    if "pattern" in schema:
        patterns.append(schema["pattern"])
    constants = len(canonical_json(compared)) // _BYTES_PER_STEP if compared else 0
    return 1 + len(schema) + constants + sum(map(pattern_cost, patterns))


# --- Patterns
#
# jsonschema-rs matches in time that is linear in the text, but the factor is the size of the
# compiled expression, since the engine may follow as many positions at once: `(a|b)*a(a|b){500}`
# takes 9 microseconds for each character.

# Compiled size in bytes; about 16 000 character positions, or 250 repetitions of `\w`.
MAX_COMPILED_BYTES = 1 << 18
# The engine does not tell a size, it only refuses what is larger than a limit: so a size is known
# as the smallest of these that it fits. `[a-z]{1,8}` fits the first (512 steps for each node of
# text), `\w{250}` the second (2 048), `(a|b)*a(a|b){500}` the third (8 192).
_SIZES = (1 << 14, 1 << 16, MAX_COMPILED_BYTES)
_COMPILED_BYTES_PER_STEP = 32


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
    return size // _COMPILED_BYTES_PER_STEP


def _compiles(pattern: str, size_limit: int) -> bool:
    import jsonschema_rs  # noqa: PLC0415 - native code, needed late

    options = jsonschema_rs.RegexOptions(size_limit=size_limit)
    try:
        jsonschema_rs.Draft202012Validator({"pattern": pattern}, pattern_options=options)
    except (jsonschema_rs.ValidationError, ValueError):
        return False
    return True
