"""Rules 14, 18 and 19: no cycle, and the right number of walks into each input port.

For every entry group and input port, the Nexus SDK counts the walks that reach the port.
Each vertex adds one walk. The variant of the vertex with the most output ports adds one further
walk for each port after its first. Each input port subtracts one walk. If the count of a port is
positive, the port has a race. If the count is negative, the port is never reached. The count proves
neither of these problems (see `token_flow`), but other implementations require it.
"""

from collections.abc import Iterator, Sequence

from nexus_tools.workflow.document.document import Document
from nexus_tools.workflow.document.violation import Severity, Violation
from nexus_tools.workflow.linter.graph import Graph, Link, input_text

_MAX_NAMED = 10


def cycles(graph: Graph) -> Iterator[Violation]:
    """Yield a violation of rule 14 for one cycle, and a warning that lists its vertices.

    The violation and the warning point at the target vertex of an edge of the cycle.
    """
    cycle = graph.cycle()
    if cycle:
        first = min(cycle, key=lambda link: link.index)
        pointer = first.pointer("/to/vertex")
        yield Violation(14, "The provided graph contains one or more cycles.", pointer)
        yield Violation("cycle", _description(cycle, first), pointer, Severity.WARNING)


def _description(cycle: Sequence[Link], first: Link) -> str:
    """Describe the cycle, starting at the target vertex of `first`. `cycle` is in reverse order."""
    at = cycle.index(first)
    names = [link.edge.target.vertex for link in (*cycle[at::-1], *cycle[:at:-1])]
    more = names[_MAX_NAMED:] and [f"… ({len(names)} vertices)"]
    return f"The cycle is {' → '.join((*names[:_MAX_NAMED], *more, names[0]))}."


def concurrency(document: Document, graph: Graph) -> Iterator[Violation]:
    """Yield violations of rules 18 and 19. The graph must not have a cycle."""
    count = _Count(graph)
    for group, members in _groups(document, graph).items():
        ahead = graph.ahead(members)
        arriving = {
            port: [number for number in numbers if ahead >> number & 1]
            for port, numbers in graph.ports.items()
        }
        # A port subtracts one walk for any number of links, so count only its first link.
        ports = sum(1 << numbers[0] for numbers in arriving.values() if numbers)
        for port, numbers in arriving.items():
            way = graph.bits(numbers)
            for number in numbers:
                way |= graph.behind[graph.links[number].source] & ahead
            walks = count.walks(way) - (way & ports).bit_count() if numbers else -1
            if walks:
                rule, problem = (
                    (18, "is unreachable") if walks < 0 else (19, "has a race condition on it")
                )
                message = f"'{input_text(port)}' {problem} when invoking group '{group}'"
                yield Violation(rule, message, graph.links[graph.ports[port][0]].pointer("/to"))


def _groups(document: Document, graph: Graph) -> dict[str, list[int]]:
    """Return the vertices of each entry group. Groups with equal names are merged."""
    groups: dict[str, list[int]] = {}
    for group in document.groups():
        known = [graph.vertices[name] for name in group.vertices if name in graph.vertices]
        groups.setdefault(group.name, []).extend(known)
    return {name: members for name, members in groups.items() if members}


class _Count:
    """A counter of the walks on the paths to a port, with as few bit masks as possible.

    A variant with k ports on the paths adds k - 1 walks. So the total is the number of ports minus
    the number of variants. If several variants of a vertex have more than one port, only the
    variant with the most ports counts. The variants of such a vertex are counted separately.
    """

    def __init__(self, graph: Graph) -> None:
        forks: dict[int, dict[int, int]] = {}
        for number, link in enumerate(graph.links):
            variants = forks.setdefault(link.source, {})
            variants[link.variant] = variants.get(link.variant, 0) | 1 << number
        self._more = sum(map(graph.vertex_bit, range(len(graph.vertices))))
        self._less = 0
        self._by_itself: list[list[int]] = []
        for variants in forks.values():
            forking = {
                variant: ports for variant, ports in variants.items() if ports.bit_count() > 1
            }
            if len(forking) > 1:
                self._by_itself.append(list(forking.values()))
                continue
            for variant, ports in forking.items():
                self._more |= ports
                self._less |= graph.variant_bit(variant)

    def walks(self, way: int) -> int:
        walks = (way & self._more).bit_count() - (way & self._less).bit_count()
        for forking in self._by_itself:
            walks += max(0, *((way & ports).bit_count() - 1 for ports in forking))
        return walks
