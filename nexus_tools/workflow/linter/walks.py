"""Runs that starve, ports that get two values, and vertices that never run.

The reference counts walks (`concurrency`), which is right for most documents and wrong for some: it
cannot see that a run waits for a branch that is not taken. Here the vertices are gone through once,
in their order, in all scenarios at the same time: a set of scenarios is a number, and "both `c.1`
and `c.2` have a value" is an `&`. What is found happens in some scenario, so nothing is a false
alarm. Where all scenarios can be listed, nothing is missed, but for what needs a vertex to end in
different variants in two rounds or iterations, or a loop that several vertices can end.
"""

from collections.abc import Container, Iterable, Iterator, Mapping
from functools import reduce
from itertools import accumulate
from operator import and_, or_

from nexus_tools.workflow.document.document import Document, EdgeKind, InputPort
from nexus_tools.workflow.document.structure import Structure
from nexus_tools.workflow.document.violation import Severity, Violation
from nexus_tools.workflow.linter.course import Course
from nexus_tools.workflow.linter.graph import Graph, Link, input_text, vertex_text
from nexus_tools.workflow.linter.scenarios import Scenarios, scenarios_of

_MAX_NAMED = 4
_MAX_ROUNDS = 16


def walks(document: Document, graph: Graph, structure: Structure) -> Iterator[Violation]:
    """Races, starving runs, and vertices that never run: each once, for a group that has it.

    The document has no cycle, its edges name vertices of it, and its blocks nest. All are warnings;
    in the dialect, where they stand in for rules 18 and 19, races and vertices that never run are
    errors.
    """
    course = Course(document, graph, structure)
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
            message = f"'{input_text(port)}' gets two values {when}{passage.race(port)}."
            races.setdefault(port, Violation("races", message, course.pointer(port), severity))
        for vertex in passage.starved:
            port, how = passage.lack(vertex)
            message = f"'{vertex_text(vertex)}' starves {when}{how}."
            warning = Violation("starves", message, course.pointer(port), Severity.WARNING)
            starving.setdefault(vertex, warning)
        if course.has_several_heads or not scenarios.are_all:
            passage = _at_once(course, scenarios, members)
            is_settled &= passage.is_settled
        for place, met in (passage.runs | passage.filled).items():
            ever[place] = ever.get(place, 0) | met
    yield from races.values()
    yield from (violation for vertex, violation in starving.items() if ever[vertex])
    for vertex, why in course.never(ever) if is_settled else ():
        message = f"'{vertex_text(vertex)}' never runs: {why}."
        yield Violation("never_runs", message, course.declared[vertex], severity)


def _members(document: Document) -> dict[str, set[str]]:
    members: dict[str, set[str]] = {}
    for group in document.groups():
        members.setdefault(group.name, set()).update(group.vertices)
    return members


def _at_once(course: Course, scenarios: Scenarios, members: set[str]) -> "_Passage":
    """One scenario, in which all vertices end in all variants, and rounds bring what later ones do.

    What does not run there never does, if it is settled after `_MAX_ROUNDS`.
    """
    every = Scenarios(1, 1, False, [1] * len(scenarios.takes), {})
    passage = _Passage(course, every, members)
    for _ in range(_MAX_ROUNDS):
        if passage.is_settled:
            break
        passage = _Passage(course, every, members, passage.runs)
    return passage


class _Passage:
    """What happens in each scenario once a group is invoked: by place, the set of scenarios.

    `filled` are the ports that get a value, `raced` those that get two, with the edges that bring
    them, `starved` the vertices that get some of their values and lack one, of the port named, for
    which nobody else has starved. `earlier` are the runs of rounds before, where they count.
    """

    def __init__(
        self,
        course: Course,
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
        for port, links in course.again.items():
            self._meet(port, links)

    @property
    def is_settled(self) -> bool:
        """Whether another round would bring nothing that was not brought before."""
        return self.runs == self._earlier

    def race(self, port: InputPort) -> str:
        """From where the two values are, and in which variants other vertices end for it."""
        raced, into = self.raced[port]
        links = [link for link in into if self._sends(link) & raced & -raced]
        if len(links) < 2:  # The other one is a list, perhaps an empty one.
            links = [link for link in into if self._brings(link) & raced & -raced]
        sources = {link.edge.source.vertex for link in links}
        both = " and ".join(f"'{link.edge.source}'" for link in links[:2])
        return f", from {both}{self._condition(port.vertex, raced, but=sources)}"

    def lack(self, vertex: str) -> tuple[InputPort, str]:
        """A port that lacks a value, and which one has one, and in which variants others end."""
        starved, lacks = self.starved[vertex]
        scenario = starved & -starved
        own = self._course.into[vertex]
        has = next(port for port in own if own[port] and self.filled[port] & scenario)
        return lacks, (
            f"{self._condition(vertex, starved, among=self._scenarios.calm)}: "
            f"'{input_text(has)}' gets a value and '{input_text(lacks)}' gets none"
        )

    def _run(self, vertex: str) -> None:
        course = self._course
        is_entered = vertex in self._members
        ready = self._scenarios.everything if is_entered or course.into[vertex] else 0
        ready &= self._all(self._opened[block] for block in course.around[vertex])
        for port in course.constants[vertex]:
            self.filled[port] = self._scenarios.everything
        for port in course.entries[vertex]:
            self.filled[port] = self._scenarios.everything if is_entered else 0
        for port, links in course.into[vertex].items():
            again = (link.edge.source.vertex for link in course.again.get(port, ()))
            self.filled[port] = (
                self.filled.get(port, 0)
                | self._meet(port, links)
                | self._any(self._earlier.get(source, 0) for source in again)
            )
        runs = ready & self._all(self.filled[port] for port in course.ports(vertex))
        waits = self._any(
            self._waits(link) for links in course.into[vertex].values() for link in links
        )
        lost = self._any(self._lost_on_the_way(port) for port in course.into[vertex])
        self.runs[vertex] = runs
        self._lost[vertex] = (waits | lost) & ~runs
        self._unsure[vertex] = self._any(self._doubts(link) for link in course.links(vertex))
        starved = self._scenarios.calm & waits & ~runs & ~self._unsure[vertex]
        for port in course.needed_by(vertex):
            lacking = starved & ~self.filled[port] & ~self._lost_on_the_way(port)
            if lacking:
                self.starved[vertex] = (lacking, port)
                break

    def _waits(self, link: Link) -> int:
        """The scenarios in which a value comes for a run, or for a region that does not open.

        What stays serves whatever begins, if anything does.
        """
        scope = self._course.scopes.get(link.index)
        if scope is None:
            return self._brings(link)
        return 0 if link.kind is EdgeKind.STATIC else self._brings(link) & ~self._opened[scope]

    def _lost_on_the_way(self, port: InputPort) -> int:
        """The scenarios in which somebody starves who might feed the port."""
        links = self._course.into[port.vertex].get(port, ())
        return self._any(self._lost.get(link.edge.source.vertex, 0) for link in links)

    def _doubts(self, link: Link) -> int:
        """The scenarios of which it is not known whether an edge brings a value.

        Where several vertices can end a loop and this one goes on, another may end it.
        """
        doubts = self._unsure.get(link.edge.source.vertex, 0)
        if self._course.ends.get(link.edge.source.vertex, 1) > 1:
            doubts |= self._any(self._scenarios.takes[each] for each in self._course.rounds(link))
        return doubts

    def _open(self, block: int) -> None:
        needs = self._course.needs[block]
        for port, links in needs.items():
            self.filled[port] = self._any(self._brings(link) for link in links)
        self._opened[block] = self._all(self.filled[port] for port in needs)

    def _meet(self, port: InputPort, links: list[Link]) -> int:
        """The scenarios in which some edge brings a value; when two do, they race.

        They do if both come, or both stay: what comes goes before what stays. What the edges out of
        one region bring is one list: there, two elements of one iteration race.
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
        """The scenarios in which an edge brings a value: what is gathered always comes."""
        region = self._course.collects.get(link.index)
        return self._sends(link) if region is None else self._opened[region]

    def _sends(self, link: Link) -> int:
        """The scenarios in which the variant is taken that an edge leaves, in the last round."""
        takes = self._scenarios.takes
        taken = self._any(takes[other] for other in self._course.rounds(link))
        return self.runs.get(link.edge.source.vertex, 0) & (takes[link.variant] | taken)

    def _condition(
        self, vertex: str, met: int, *, among: int = -1, but: Container[str] = ()
    ) -> str:
        """What has to be chosen so that a scenario is one of those that were met.

        It begins with one of them, and leaves out whatever makes no difference.
        """
        scenario = met & -met
        chosen = [
            (name, text, part)
            for name, options in self._scenarios.choices.items()
            for text, part in options.items()
            if part & scenario and self._course.leads(name, vertex)
        ]
        others = list(accumulate((part for *_, part in reversed(chosen)), and_, initial=among))
        kept = self._scenarios.everything
        texts = []
        for (name, text, part), rest in zip(chosen, reversed(others[:-1]), strict=True):
            if kept & rest & ~met:
                kept &= part
                if name not in but:
                    texts.append(f"'{name}' ends in {text}")
        more = [f"{len(texts) - _MAX_NAMED} more do so"] if len(texts) > _MAX_NAMED else []
        return f", if {' and '.join([*texts[:_MAX_NAMED], *more])}" if texts else ""

    def _all(self, parts: Iterable[int]) -> int:
        return reduce(and_, parts, self._scenarios.everything)

    def _any(self, parts: Iterable[int]) -> int:
        return reduce(or_, parts, 0)
