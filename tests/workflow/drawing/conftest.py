from pathlib import Path

import pytest
from hypothesis import strategies as st

from nexus_tools.workflow import (
    DIALECT,
    Document,
    Edge,
    EdgeKind,
    InputPort,
    Output,
    OutputPort,
    Vertex,
    VertexKind,
    VertexState,
    read_document,
)

DOCUMENTS = sorted((Path(__file__).parent.parent / "documents").glob("*.json"))


def read(name):
    """A document of the folder beside this one."""
    path = next(path for path in DOCUMENTS if path.stem == name)
    return read_document(path.read_bytes())[0]


@pytest.fixture(params=[path.stem for path in DOCUMENTS])
def document(request):
    return read(request.param)


def edge(text):
    """An edge as `a.ok.sum -> b.x`, or with the name of a kind in place of the arrow."""
    source, kind, target = text.split()
    kind = EdgeKind.NORMAL if kind == "->" else EdgeKind(kind)
    return Edge(OutputPort(*source.split(".")), InputPort(*target.split(".")), kind)


def flow(*edges):
    """A document of vertices that do nothing in particular."""
    edges = tuple(map(edge, edges))
    names = dict.fromkeys(
        name for each in edges for name in (each.source.vertex, each.target.vertex)
    )
    return Document(tuple(Vertex(name, "xyz.example.any@1") for name in names), edges)


def ladder(rungs):
    """Fork, three branches, join, and again: 4 vertices and 6 edges for each rung, and a first."""
    steps = []
    for rung in range(rungs):
        for branch in "abc":
            steps.append(f"j{rung}.ok.{branch} -> {branch}{rung}.x")
            steps.append(f"{branch}{rung}.ok.x -> j{rung + 1}.{branch}")
    return flow(*steps)


HOSTILE = (
    '</text><script>alert("x")</script>',
    "\"' onload='alert(1)",
    "]]>&amp;<!--",
    "\x1b[31mred\x07\r\n\0",
    "[bold red]markup[/]",
    "\u202eelif\u2066\ud800",
    "中文字符" * 20,
    "e\u0301" * 30,
    "👩‍👩‍👧 family",
    "end",
    "",
)

_names = st.sampled_from(("a", "b", "c", "d", "e", *HOSTILE))
_ports = st.sampled_from(("x", "y", *HOSTILE))
_vertices = st.builds(
    Vertex,
    _names,
    st.sampled_from(("xyz.example.any@1", *HOSTILE)),
    st.sampled_from(VertexKind),
    st.lists(_ports, max_size=2).map(tuple),
)
_edges = st.builds(
    Edge,
    st.builds(OutputPort, _names, st.sampled_from(("ok", "_err_eval", *HOSTILE)), _ports),
    st.builds(InputPort, _names, _ports),
    st.sampled_from(EdgeKind),
)
documents = st.builds(
    Document,
    st.lists(_vertices, max_size=6).map(tuple),
    st.lists(_edges, max_size=9).map(tuple),
    outputs=st.lists(
        st.builds(Output, st.builds(OutputPort, _names, _names, _ports), _names), max_size=2
    ).map(tuple),
    dialect=st.just(DIALECT),
)
"""Any documents, whether they obey the rules or not."""

_counts = st.integers(0, 3)
states = st.none() | st.dictionaries(
    _names, st.builds(VertexState, _counts, _counts, _counts, _counts)
)
