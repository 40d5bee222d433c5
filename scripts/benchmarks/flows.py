"""The workflows that are measured. The tools of these workflows are in `flow_tools.py`."""

from nexus_tools.tool import ToolFqn
from nexus_tools.workflow import DIALECT, Document, Edge, EdgeKind, InputPort, OutputPort, Vertex

ECHO = ToolFqn.parse("xyz.example.bench.echo@1")
SPLIT = ToolFqn.parse("xyz.example.bench.split@1")
JOIN = ToolFqn.parse("xyz.example.bench.join@1")


def line(steps: int) -> Document:
    """Return a workflow that passes a text through `steps` tools. The input port is `v0.text`."""
    return _echoing([(number, number + 1) for number in range(steps - 1)])


def branches(count: int, steps: int) -> Document:
    """Return a workflow that passes a text from the first vertex into branches of `steps` tools."""
    edges = []
    for branch in range(count):
        first = 1 + branch * steps
        edges.append((0, first))
        edges += [(number, number + 1) for number in range(first, first + steps - 1)]
    return _echoing(edges)


def six() -> Document:
    """Return a workflow of six vertices with a `for_each` and a join. Each vertex has two attempts.

    The input port is `first.text`. A text of n words causes 5 + n runs.
    """
    tools = {
        "first": ECHO,
        "left": ECHO,
        "right": SPLIT,
        "each": ECHO,
        "joined": JOIN,
        "last": ECHO,
    }
    entries = {"first": ("text",)}
    return Document(
        tuple(
            Vertex(name, str(tool), entry_ports=entries.get(name, ()), attempts=2)
            for name, tool in tools.items()
        ),
        (
            _edge("first", "left.text"),
            _edge("first", "right.text"),
            _edge("right", "each.text", EdgeKind.FOR_EACH, "texts"),
            _edge("each", "joined.texts", EdgeKind.COLLECT),
            _edge("left", "joined.text"),
            _edge("joined", "last.text"),
        ),
        dialect=DIALECT,
    )


def _echoing(edges: list[tuple[int, int]]) -> Document:
    names = dict.fromkeys([0, *(number for edge in edges for number in edge)])
    return Document(
        tuple(
            Vertex(f"v{number}", str(ECHO), entry_ports=() if number else ("text",))
            for number in names
        ),
        tuple(_edge(f"v{source}", f"v{target}.text") for source, target in edges),
        dialect=DIALECT,
    )


def _edge(source: str, target: str, kind: EdgeKind = EdgeKind.NORMAL, port: str = "text") -> Edge:
    return Edge(OutputPort(source, "ok", port), InputPort(*target.split(".")), kind)
