"""What checking one value against a schema can cost, computed before any value is seen.

Alternatives that share subschemas by `$ref` double the work with each level, so that a schema of
2 KB could keep a validator busy for years. The cost of a schema is counted in steps (about 20 ns
each) along one path from the value's root to a leaf: the sum over all subschemas that may look at
the same place. A value of n nodes takes at most n times as many.
"""

from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Any

from nexus_tools.tool.mismatch import Mismatch
from nexus_tools.tool.pattern_cost import pattern_cost
from nexus_tools.tool.schema_document import Schema, SchemaDocument, children, schema_error
from nexus_tools.tool.strict_json import MAX_DEPTH, Extent, canonical_json

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
    """The steps that a schema can take, by depth of the value."""

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
        for keyword, place, _ in children(pointer, schema):
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
