"""The simulation of token flow, which finds starving runs, races, and vertices that never run.

The Nexus SDK counts walks (see `concurrency`). The count is wrong for some documents, because it
cannot detect that a run waits for a branch that is not taken. This module visits the vertices once,
in topological order, in all scenarios at the same time. A set of scenarios is a number. For
example, the scenarios in which both `c.1` and `c.2` have a value are the `&` of two sets. Every
reported problem occurs in some scenario, so no report is false. If all scenarios can be listed,
only two kinds of problems are missed. In the first kind, a vertex ends in different variants in two
rounds or iterations. In the second kind, several vertices can end a loop.
"""

from collections.abc import Container, Iterable, Iterator, Mapping
from functools import reduce
from itertools import accumulate
from operator import and_, or_

from nexus_tools.workflow.document.document import Document, EdgeKind, InputPort
from nexus_tools.workflow.document.structure import Structure
from nexus_tools.workflow.document.violation import Severity, Violation
from nexus_tools.workflow.linter.graph import Graph, Link, input_text, vertex_text
from nexus_tools.workflow.linter.scenarios import Scenarios, scenarios_of
from nexus_tools.workflow.linter.topological_order import TopologicalOrder

_MAX_NAMED = 4
_MAX_ROUNDS = 16


def token_flow(document: Document, graph: Graph, structure: Structure) -> Iterator[Violation]:
    """Yield violations for races, starving runs, and vertices that never run.

    Each problem is reported once, for the first entry group that has it. The document must not have
    cycles, its edges must connect existing vertices, and its blocks must nest. In the dialect,
    these rules replace rules 18 and 19, so races and vertices that never run are errors. All other
    violations are warnings.
    """
    course = TopologicalOrder(document, graph, structure)
    scenarios = scenarios_of(graph)
    severity = Severity.ERROR if document.has_dialect else Severity.WARNING
    ever: dict[str | InputPort, int] = {}
    races: dict[InputPort, Violation] = {}
    starving: dict[str, Violation] = {}
    is_settled = True
    for group, members in _members(document).items():
        passage = _Passage(course, scenarios, members)
        when = f"when invoking group '{group}'"
        for port in passage.raced:
            message = f"'{input_text(port)}' receives two values {when}{passage.race(port)}."
            races.setdefault(port, Violation("races", message, course.pointer(port), severity))
        for vertex in passage.starved:
            port, how = passage.lack(vertex)
            message = f"'{vertex_text(vertex)}' does not receive all its values {when}{how}."
            warning = Violation("starves", message, course.pointer(port), Severity.WARNING)
            starving.setdefault(vertex, warning)
        if course.has_several_heads or not scenarios.are_all:
            passage = _at_once(course, scenarios, members)
            is_settled &= passage.is_settled
        for place, met in (passage.runs | passage.filled).items():
            ever[place] = ever.get(place, 0) | met
    yield from races.values()
    yield from (violation for vertex, violation in starving.items() if ever[vertex])
    for vertex, why in course.unreachable_vertices(ever) if is_settled else ():
        message = f"'{vertex_text(vertex)}' never runs: {why}."
        yield Violation("never_runs", message, course.declared[vertex], severity)


def _members(document: Document) -> dict[str, set[str]]:
    members: dict[str, set[str]] = {}
    for group in document.groups():
        members.setdefault(group.name, set()).update(group.vertices)
    return members


def _at_once(course: TopologicalOrder, scenarios: Scenarios, members: set[str]) -> "_Passage":
    """Simulate one scenario in which all vertices end in all variants and start later rounds.

    If the result is stable within `_MAX_ROUNDS`, a vertex that does not run in this scenario never
    runs.
    """
    every = Scenarios(1, 1, False, [1] * len(scenarios.takes), {})
    passage = _Passage(course, every, members)
    for _ in range(_MAX_ROUNDS):
        if passage.is_settled:
            break
        passage = _Passage(course, every, members, passage.runs)
    return passage


class _Passage:
    """The simulation of an entry group, with sets of scenarios for vertices and ports.

    `runs` has, for each vertex, the scenarios in which the vertex runs. `filled` has, for each
    port, the scenarios in which the port receives a value. `raced` has the scenarios in which a
    port receives two values, and the edges of these values. `starved` has, for each vertex, the
    scenarios in which the vertex receives only some of its values, and a missing port. Vertices
    that lack a value only because another vertex starves are omitted. `earlier` are the runs of
    previous rounds, if they are simulated.
    """

    def __init__(
        self,
        course: TopologicalOrder,
        scenarios: Scenarios,
        members: set[str],
        earlier: Mapping[str, int] | None = None,
    ) -> None:
        self.runs: dict[str, int] = {}
        self.filled: dict[InputPort, int] = {}
        self.raced: dict[InputPort, tuple[int, list[Link]]] = {}
        self.starved: dict[str, tuple[int, InputPort]] = {}
        self._course = course
        self._scenarios = scenarios
        self._members = members
        self._earlier = earlier or {}
        self._opened: dict[int, int] = {}
        self._lost: dict[str, int] = {}
        self._unsure: dict[str, int] = {}
        for place in course.order:
            if isinstance(place, int):
                self._open(place)
            else:
                self._run(place)
        for port, links in course.repeated_ports.items():
            self._meet(port, links)

    @property
    def is_settled(self) -> bool:
        """Whether another pass over the vertices would not change the result."""
        return self.runs == self._earlier

    def race(self, port: InputPort) -> str:
        """Describe the sources of the two racing values, and the variants that cause the race."""
        raced, into = self.raced[port]
        links = [link for link in into if self._sends(link) & raced & -raced]
        if len(links) < 2:  # The second value is a gathered list, which may be empty.
            links = [link for link in into if self._brings(link) & raced & -raced]
        sources = {link.edge.source.vertex for link in links}
        both = " and ".join(f"'{link.edge.source}'" for link in links[:2])
        return f", from {both}{self._condition(port.vertex, raced, but=sources)}"

    def lack(self, vertex: str) -> tuple[InputPort, str]:
        """Return a port that lacks a value in some scenario, and a description of the scenario."""
        starved, lacks = self.starved[vertex]
        scenario = starved & -starved
        own = self._course.incoming[vertex]
        has = next(port for port in own if own[port] and self.filled[port] & scenario)
        return lacks, (
            f"{self._condition(vertex, starved, among=self._scenarios.without_failures)}: "
            f"'{input_text(has)}' receives a value and '{input_text(lacks)}' does not"
        )

    def _run(self, vertex: str) -> None:
        course = self._course
        is_entered = vertex in self._members
        ready = self._scenarios.everything if is_entered or course.incoming[vertex] else 0
        ready &= self._all(self._opened[block] for block in course.around[vertex])
        for port in course.constants[vertex]:
            self.filled[port] = self._scenarios.everything
        for port in course.entries[vertex]:
            self.filled[port] = self._scenarios.everything if is_entered else 0
        for port, links in course.incoming[vertex].items():
            again = (link.edge.source.vertex for link in course.repeated_ports.get(port, ()))
            self.filled[port] = (
                self.filled.get(port, 0)
                | self._meet(port, links)
                | self._any(self._earlier.get(source, 0) for source in again)
            )
        runs = ready & self._all(self.filled[port] for port in course.ports(vertex))
        waits = self._any(
            self._waits(link) for links in course.incoming[vertex].values() for link in links
        )
        lost = self._any(self._lost_on_the_way(port) for port in course.incoming[vertex])
        self.runs[vertex] = runs
        self._lost[vertex] = (waits | lost) & ~runs
        self._unsure[vertex] = self._any(self._doubts(link) for link in course.links(vertex))
        starved = self._scenarios.without_failures & waits & ~runs & ~self._unsure[vertex]
        for port in course.needed_by(vertex):
            lacking = starved & ~self.filled[port] & ~self._lost_on_the_way(port)
            if lacking:
                self.starved[vertex] = (lacking, port)
                break

    def _waits(self, link: Link) -> int:
        """Return the scenarios in which a value arrives and then waits for a run or a region.

        A static value does not wait, because it serves every later start.
        """
        scope = self._course.scopes.get(link.index)
        if scope is None:
            return self._brings(link)
        return 0 if link.kind is EdgeKind.STATIC else self._brings(link) & ~self._opened[scope]

    def _lost_on_the_way(self, port: InputPort) -> int:
        """Return the scenarios in which a vertex with an edge to the port starves."""
        links = self._course.incoming[port.vertex].get(port, ())
        return self._any(self._lost.get(link.edge.source.vertex, 0) for link in links)

    def _doubts(self, link: Link) -> int:
        """Return the scenarios in which an edge may or may not bring a value.

        If several vertices can end a loop and the source of the edge continues it, another vertex
        may end it.
        """
        doubts = self._unsure.get(link.edge.source.vertex, 0)
        if self._course.ends.get(link.edge.source.vertex, 1) > 1:
            doubts |= self._any(
                self._scenarios.takes[variant] for variant in self._course.rounds(link)
            )
        return doubts

    def _open(self, block: int) -> None:
        needs = self._course.required_ports[block]
        for port, links in needs.items():
            self.filled[port] = self._any(self._brings(link) for link in links)
        self._opened[block] = self._all(self.filled[port] for port in needs)

    def _meet(self, port: InputPort, links: list[Link]) -> int:
        """Return the scenarios in which at least one edge brings a value, and record races.

        Two values race if both are static or neither is. Otherwise the value that is not static has
        priority. The values of edges out of one region form one list. In this list, two elements of
        one iteration race.
        """
        raced = 0
        met = {False: 0, True: 0}
        elements: dict[int, int] = {}
        for link in links:
            sends = self._sends(link)
            region = self._course.collects.get(link.index)
            if region is None:
                stays = link.kind is EdgeKind.STATIC and link.index in self._course.scopes
                raced |= met[stays] & sends
                met[stays] |= sends
            else:
                raced |= elements.get(region, 0) & sends
                elements[region] = elements.get(region, 0) | sends
        for region in elements:
            raced |= met[False] & self._opened[region]
            met[False] |= self._opened[region]
        raced &= ~self._any(self._doubts(link) for link in links)
        if raced and port not in self.raced:
            self.raced[port] = (raced, links)
        return met[False] | met[True]

    def _brings(self, link: Link) -> int:
        """Return the scenarios in which an edge brings a value.

        A collected list always arrives if its region opens.
        """
        region = self._course.collects.get(link.index)
        return self._sends(link) if region is None else self._opened[region]

    def _sends(self, link: Link) -> int:
        """Return the scenarios in which the source ends in the edge's variant in the last round."""
        takes = self._scenarios.takes
        taken = self._any(takes[other] for other in self._course.rounds(link))
        return self.runs.get(link.edge.source.vertex, 0) & (takes[link.variant] | taken)

    def _condition(
        self, vertex: str, met: int, *, among: int = -1, but: Container[str] = ()
    ) -> str:
        """Describe one scenario in the set `met` by the variants in which vertices end.

        Variants that do not affect whether a scenario is in `met` are omitted.
        """
        scenario = met & -met
        chosen = [
            (name, text, part)
            for name, options in self._scenarios.choices.items()
            for text, part in options.items()
            if part & scenario and self._course.has_path(name, vertex)
        ]
        others = list(accumulate((part for *_, part in reversed(chosen)), and_, initial=among))
        kept = self._scenarios.everything
        texts = []
        for (name, text, part), rest in zip(chosen, reversed(others[:-1]), strict=True):
            if kept & rest & ~met:
                kept &= part
                if name not in but:
                    texts.append(f"'{name}' ends in {text}")
        more = [f"{len(texts) - _MAX_NAMED} similar choices"] if len(texts) > _MAX_NAMED else []
        return f", if {' and '.join([*texts[:_MAX_NAMED], *more])}" if texts else ""

    def _all(self, parts: Iterable[int]) -> int:
        return reduce(and_, parts, self._scenarios.everything)

    def _any(self, parts: Iterable[int]) -> int:
        return reduce(or_, parts, 0)
