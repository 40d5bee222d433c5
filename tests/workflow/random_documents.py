"""Documents with random blocks in blocks, and what their tools would give."""

import random

from nexus_tools.workflow import (
    DIALECT,
    Default,
    Document,
    Edge,
    EdgeKind,
    InputPort,
    OutputPort,
    PostFailureAction,
    Vertex,
)
from tests.workflow.naive_interpreter import FAILED

LONGEST = 3
LAST_ROUND = 2
BOUND = 4
"""Beyond every number in a path: of an iteration, of a round."""


class Grown:
    """A document that grows block by block; outer scopes are those whose values are to be had."""

    def __init__(self, seed):
        self._chance = random.Random(seed)
        self._edges = []
        self._ports = {}
        self._entries = {}
        self._defaults = []

    def document(self):
        chance = self._chance
        top = [[]]
        for _ in range(chance.randint(1, 2)):
            self._entry(top)
        self._body(top, 0)
        vertices = tuple(
            Vertex(
                name,
                "xyz.example.any@1",
                entry_ports=self._entries.get(name, ()),
                attempts=chance.choice((1, 1, 2)),
                parallel=chance.randint(1, 3),
            )
            for name in self._ports
        )
        return Document(
            vertices,
            tuple(dict.fromkeys(self._edges)),
            tuple(self._defaults),
            post_failure_action=PostFailureAction.CONTINUE,
            dialect=DIALECT,
        )

    def _vertex(self, scopes):
        name = f"v{len(self._ports)}"
        self._ports[name] = 0
        scopes[-1].append(name)
        return name

    def _entry(self, scopes):
        name = self._vertex(scopes)
        self._entries[name] = ("e",)
        return name

    def _port(self, name):
        self._ports[name] += 1
        return InputPort(name, f"i{self._ports[name]}")

    def _output(self, name):
        chance = self._chance
        if chance.random() < 0.03:
            return OutputPort(name, "_err_eval", "reason")
        return OutputPort(name, "a" if chance.random() < 0.93 else "b", chance.choice("pq"))

    def _feed(self, target, scope, kind=EdgeKind.NORMAL):
        source = self._output(
            self._chance.choice([each for each in scope if each != target.vertex])
        )
        self._edges.append(Edge(source, target, kind))

    def _outer(self, scopes, target):
        """A value from outside, if there is an outside."""
        outside = [scope for scope in scopes[:-1] if scope]
        if outside:
            kind = self._chance.choice((EdgeKind.NORMAL, EdgeKind.STATIC))
            self._feed(target, self._chance.choice(outside), kind)

    def _body(self, scopes, depth):
        for _ in range(self._chance.randint(1, 3)):
            kind = self._chance.random()
            if kind < 0.25 and depth < 3:
                self._region(scopes, depth)
            elif kind < 0.5 and depth < 3:
                self._loop(scopes, depth)
            else:
                self._plain(scopes)

    def _plain(self, scopes):
        chance = self._chance
        before = list(scopes[-1])
        name = self._vertex(scopes)
        for _ in range(chance.randint(1, 2)):
            self._feed(self._port(name), before)
        if chance.random() < 0.15:
            self._feed(InputPort(name, "i1"), before)
        if chance.random() < 0.3:
            self._outer(scopes, self._port(name))
        if chance.random() < 0.1:
            self._entries[name] = ("e",)
        if chance.random() < 0.1:
            self._defaults.append(Default(self._port(name), 1))
        return name

    def _region(self, scopes, depth):
        chance = self._chance
        inside = [*scopes, []]
        for number in range(chance.choice((1, 1, 2))):
            head = self._vertex(inside)
            lists = scopes[-1] if not number else chance.choice([each for each in scopes if each])
            self._feed(self._port(head), lists, EdgeKind.FOR_EACH)
            if chance.random() < 0.3:
                self._outer(inside, self._port(head))
        join = self._vertex(inside)
        for head in inside[-1][:-1]:
            self._feed(self._port(join), [head])
        self._body(inside, depth + 1)
        after = self._vertex(scopes)
        for _ in range(chance.randint(1, 2)):
            self._feed(self._port(after), inside[-1], EdgeKind.COLLECT)
        if chance.random() < 0.15:
            self._feed(InputPort(after, "i1"), inside[-1], EdgeKind.COLLECT)

    def _loop(self, scopes, depth):
        chance = self._chance
        inside = [*scopes, []]
        head = self._vertex(inside)
        ports = [self._port(head)]
        self._feed(ports[0], scopes[-1])
        if chance.random() < 0.4:
            ports.append(self._port(head))
            self._defaults.append(Default(ports[-1], 1))
        if chance.random() < 0.3:
            self._outer(inside, self._port(head))
        self._body(inside, depth + 1)
        after = self._vertex(scopes)
        for _ in range(chance.choice((1, 1, 2))):
            judge = self._vertex(inside)
            for _ in range(chance.randint(1, 2)):
                self._feed(self._port(judge), inside[-1][:-1])
            for variant in chance.choice(("a", "ab")):
                for port in ports if chance.random() < 0.7 else ports[:1]:
                    source = OutputPort(judge, variant, chance.choice("pq"))
                    self._edges.append(Edge(source, port, EdgeKind.DO_WHILE))
            self._edges.append(
                Edge(OutputPort(judge, "done", "p"), self._port(after), EdgeKind.BREAK)
            )


def grown(seed):
    """A document of blocks in blocks, in which most runs get their values."""
    return Grown(seed).document()


def strewn(seed):
    """A document whose edges go anywhere ahead, and back, each of any kind; few have blocks."""
    chance = random.Random(seed)
    names = [f"v{number}" for number in range(chance.randint(3, 8))]
    last = len(names) - 1
    edges, kinds = [], (EdgeKind.NORMAL, EdgeKind.FOR_EACH, EdgeKind.COLLECT, EdgeKind.STATIC)

    def edge(kind, start, variant, end, port):
        source = OutputPort(names[start], variant, chance.choice("pq"))
        edges.append(Edge(source, InputPort(names[end], port), kind))

    for start in range(last):
        for _ in range(chance.randint(1, 3)):
            end = start + 1 + int(chance.random() ** 2 * (last - start - 1))
            [kind] = chance.choices(kinds, (60, 14, 14, 12))
            edge(kind, start, chance.choice("aaab"), end, f"i{chance.randint(0, 2)}")
    for _ in range(chance.choice((0, 1, 1, 2))):
        judge = chance.randint(1, last - 1)
        head, port = chance.randint(0, judge), f"i{chance.randint(0, 2)}"
        edge(EdgeKind.DO_WHILE, judge, chance.choice("ab"), head, port)
        edge(EdgeKind.BREAK, judge, "done", chance.randint(judge + 1, last), "after")
    entries = [("e",), ("i0",), (), (), (), (), ()]
    vertices = (
        Vertex(
            name,
            "xyz.example.any@1",
            entry_ports=entries[0] if name == "v0" else chance.choice(entries),
            parallel=chance.randint(1, 3),
        )
        for name in names
    )
    constants = [InputPort(name, "i1") for name in names if chance.random() < 0.1]
    return Document(
        tuple(vertices),
        tuple(dict.fromkeys(edges)),
        tuple(Default(port, 1) for port in constants),
        post_failure_action=PostFailureAction.CONTINUE,
        dialect=DIALECT,
    )


def outcome_of(document, seed):
    """Return a function that returns the same (variant, ports) for each attempt of a run."""
    again = {edge.source.vertex for edge in document.edges if edge.kind is EdgeKind.DO_WHILE}
    lists = {edge.source for edge in document.edges if edge.kind is EdgeKind.FOR_EACH}

    def outcome(vertex, path, attempt):
        chance = random.Random(f"{seed} {vertex} {path} {attempt}")
        if chance.random() < 0.04:
            return FAILED, {}
        variant = chance.choices(("a", "b", "dead"), (92, 6, 2))[0]
        if vertex in again and (path[-1] >= LAST_ROUND or chance.random() < 0.3):
            variant = "done"
        ports = {}
        for port in "pq":
            value = f"{vertex}{list(path)}.{variant}.{port}"
            is_list = OutputPort(vertex, variant, port) in lists and chance.random() < 0.98
            length = chance.randint(0, LONGEST)
            ports[port] = [f"{value}.{each}" for each in range(length)] if is_list else value
        return variant, ports

    return outcome
