"""A brute-force interpreter of workflows, for comparison with the semantics.

The interpreter does not use records, cursors, counts or references. It stores a delivered value
with the pattern of the paths that it serves (`*` for any number). Then it tries every vertex with
every path below a bound, again and again, until nothing starts any more. Only then do regions
close, innermost first, and it continues.
"""

from dataclasses import dataclass
from itertools import product
from typing import Any

from nexus_tools.workflow import BlockKind, EdgeKind, InputPort

FAILED = "failed"
"""The variant of an outcome that is a failure."""


@dataclass(frozen=True)
class Moved:
    """A value for a port in all runs whose path the pattern has; without one, a list came there."""

    target: InputPort
    pattern: tuple
    is_static: bool
    origin: Any
    value: Any = None
    is_list: bool = False


def matches_path(pattern, path):
    return all(each in ("*", number) for each, number in zip(pattern, path, strict=False))


def overlap(one, other):
    return all(a == b or "*" in (a, b) for a, b in zip(one, other, strict=False))


class Interpreter:
    """Runs a document whose structure is known; `outcome(vertex, path)` is (variant, ports)."""

    def __init__(self, document, structure, group, outcome, *, bound):
        self.document, self.structure, self.outcome = document, structure, outcome
        self.around = structure.enclosing
        self.group = next(set(each.vertices) for each in document.groups() if each.name == group)
        self.bound = bound
        self.moved = []
        self.gathered = {}
        self.closed = set()
        self.runs = {}
        self.failed = set()
        self.races = False
        self.vertices = {vertex.name: vertex for vertex in document.vertices}
        self.incoming = {
            name: [edge for edge in document.edges if edge.target.vertex == name]
            for name in self.vertices
        }

    def run(self):
        while self._start_all() or self._close_all():
            pass
        return self

    # --- Runs

    def _start_all(self):
        started = False
        for name in self.vertices:
            for path in product(range(self.bound), repeat=len(self.around[name])):
                if (name, path) not in self.runs and self._starts(name, path):
                    started = True
        return started

    def _starts(self, name, path):
        if not self._is_brought_about(name, path):
            return False
        for depth, block in enumerate(self.around[name]):
            if not self._is_open(block, path[:depth]) or (block, path[:depth]) in self.closed:
                return False
        inputs = {port: self._value(name, path, port) for port in self._ports(name)}
        if None in inputs.values():
            return False
        self.runs[name, path] = {port: value[0] for port, value in inputs.items()}
        variant, ports = self.outcome(name, path)
        if variant == FAILED:
            if any(edge.source.variant == "_err_eval" for edge in self._from(name)):
                variant, ports = "_err_eval", {"reason": "reason", "detail": "detail"}
            else:
                self.failed.add((name, path))
        for edge in self._from(name):
            if edge.source.variant == variant:
                self._move(edge, path, ports[edge.source.port])
        return True

    def _ports(self, name):
        ports = {edge.target.port for edge in self.incoming[name]}
        return ports | set(self.vertices[name].entry_ports) | self._constants(name)

    def _constants(self, name):
        return {each.target.port for each in self.document.defaults if each.target.vertex == name}

    def _from(self, name):
        return [edge for edge in self.document.edges if edge.source.vertex == name]

    def _is_brought_about(self, name, path):
        """Whether something came for this iteration, and not only for all of them."""
        regions = [
            at for at, block in enumerate(self.around[name]) if self._kind(block) == "region"
        ]
        here = [
            each
            for each in self.moved
            if each.target.vertex == name
            and matches_path(each.pattern, path)
            and not each.is_list
            and not (regions and each.pattern[regions[-1]] == "*")
        ]
        if any(not each.is_static for each in here):
            return True
        is_entry = name in self.group and not regions
        return self._is_first(name, path) and (is_entry or bool(here))

    def _is_first(self, name, path):
        return not any(
            number and self._kind(block) is BlockKind.LOOP
            for number, block in zip(path, self.around[name], strict=True)
        )

    def _value(self, name, path, port):
        """The value in a tuple of one, or None."""
        here = [
            each
            for each in self.moved
            if each.target == InputPort(name, port) and matches_path(each.pattern, path)
        ]
        moving = [each for each in here if not each.is_static]
        if moving:
            return next(((each.value,) for each in moving if not each.is_list), None)
        brought = {
            each.origin
            for each in self.moved
            if each.target.vertex == name and each.pattern == path
        }
        for edge in self.incoming[name]:
            may_come = edge.target.port == port and self._may_reach(edge, path)
            if may_come and self._origin(edge) not in brought:
                return None
        return self._fallback(name, port, here)

    def _fallback(self, name, port, here):
        edges = [edge for edge in self.incoming[name] if edge.target.port == port]
        if any(self._is_static(edge) for edge in edges):
            return next(((each.value,) for each in here), None)
        is_entry = port in self.vertices[name].entry_ports and name in self.group
        return ("given",) if is_entry or port in self._constants(name) else None

    # --- Edges

    def _kind(self, block):
        return self.structure.blocks[block].kind

    def _shared(self, edge):
        source, target = self.around[edge.source.vertex], self.around[edge.target.vertex]
        return len([1 for one, other in zip(source, target, strict=False) if one == other])

    def _is_static(self, edge):
        entered = self.around[edge.target.vertex][self._shared(edge) :]
        return edge.kind is EdgeKind.STATIC and bool(entered)

    def _origin(self, edge):
        region = self.around[edge.source.vertex][-1:]
        return region if edge.kind is EdgeKind.COLLECT else edge.source.vertex

    def _may_reach(self, edge, path):
        """Whether an edge may bring something to this run alone, and no `static` one."""
        if self._is_static(edge):
            return False
        if edge.kind is EdgeKind.DO_WHILE:
            return path[-1] > 0
        shared = self._shared(edge)
        entered = self.around[edge.target.vertex][shared:]
        return all(self._kind(block) is BlockKind.LOOP for block in entered) and not any(
            path[shared:]
        )

    def _pattern(self, edge, path):
        shared = self._shared(edge)
        kept = list(path[:shared])
        if edge.kind is EdgeKind.DO_WHILE:
            kept[-1] += 1
        for block in self.around[edge.target.vertex][shared:]:
            any_number = self._kind(block) is BlockKind.REGION or self._is_static(edge)
            kept.append("*" if any_number else 0)
        return tuple(kept)

    def _move(self, edge, path, value):
        if edge.kind is EdgeKind.COLLECT:
            region = self.around[edge.source.vertex][-1]
            depth = len(self.around[edge.source.vertex]) - 1
            key = (region, path[:depth], edge.target)
            elements = self.gathered.setdefault(key, {})
            self.races |= path[depth] in elements
            elements[path[depth]] = value
        elif edge.kind is not EdgeKind.FOR_EACH:
            self._write(edge, self._pattern(edge, path), value)
        elif not isinstance(value, list):
            self.failed.add((edge.source.vertex, path))
        else:
            pattern = self._pattern(edge, path)
            self._write(edge, pattern, None, is_list=True)
            around = self.around[edge.target.vertex]
            region = max(at for at, each in enumerate(around) if self._kind(each) == "region")
            for iteration, element in enumerate(value):
                numbered = (*pattern[:region], iteration, *pattern[region + 1 :])
                self.moved.append(Moved(edge.target, numbered, False, edge, element))

    def _write(self, edge, pattern, value, *, is_list=False):
        static = self._is_static(edge)
        for each in self.moved:
            if each.target == edge.target and each.is_static == static:
                self.races |= overlap(each.pattern, pattern)
        origin = self._origin(edge)
        self.moved.append(Moved(edge.target, pattern, static, origin, value, is_list))

    # --- Blocks

    def _is_open(self, block, path):
        region = self._kind(block) is BlockKind.REGION
        depth = len(path)
        for edge in self.document.edges:
            around = self.around[edge.target.vertex]
            enters = block in around[self._shared(edge) :]
            needed = enters and (region or self._is_static(edge))
            if needed and not self._is_there(edge.target, path, depth, is_region=region):
                return False
        return True

    def _is_there(self, target, path, depth, *, is_region):
        """Whether a port has what came from outside for an instance."""
        from_outside = [
            each
            for each in self.moved
            if each.target == target
            and matches_path(each.pattern[:depth], path)
            and not (each.is_static is False and not is_region)
        ]
        return bool(from_outside)

    def _close_all(self):
        """Close the open instances in which no other is open."""
        open_now = set()
        for number, block in enumerate(self.structure.blocks):
            if block.kind is BlockKind.REGION:
                around = self.around[block.vertices[0]]
                depth = around.index(number)
                for path in product(range(self.bound), repeat=depth):
                    inside = all(
                        self._is_open(each, path[:at]) and (each, path[:at]) not in self.closed
                        for at, each in enumerate(around[:depth])
                    )
                    key = (number, path)
                    if inside and key not in self.closed and self._is_open(number, path):
                        open_now.add((number, path, around[:depth]))
        innermost = [
            (number, path)
            for number, path, _ in open_now
            if not any(
                number in around and other[: len(path) + 1][: len(path)] == path
                for _, other, around in open_now
            )
        ]
        for number, path in innermost:
            self.closed.add((number, path))
            for edge in dict.fromkeys(self.document.edges):
                source = self.around[edge.source.vertex]
                if edge.kind is EdgeKind.COLLECT and source[-1] == number:
                    self._deliver(edge, number, path)
        return bool(innermost)

    def _deliver(self, edge, number, path):
        elements = self.gathered.get((number, path, edge.target), {})
        value = [elements[iteration] for iteration in sorted(elements)]
        pattern = self._pattern(edge, path)
        twin = (edge.target, pattern, self._origin(edge))
        if not any((each.target, each.pattern, each.origin) == twin for each in self.moved):
            self._write(edge, pattern, value)
