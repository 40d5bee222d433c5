import re

from hypothesis import given

from nexus_tools.workflow import VertexState, draw_mermaid
from tests.workflow.drawing.conftest import documents, read, states

LINES = (
    r"flowchart TD",
    r'subgraph b\d+ \["[^"\[\]<>]*"\]',
    r"end",
    r'v\d+(\["TEXT"\]|\[\["TEXT"\]\])',
    r'v\d+ (-->|==>|-\.->)\|"TEXT"\| v\d+',
    r"classDef [a-z]+ [-#:,\w ]+",
    r"class v\d+(,v\d+)* [a-z]+",
    r"linkStyle \d+(,\d+)* [-#:,\w ]+",
)
# Numbers of characters, line breaks, and what means nothing in Mermaid.
TEXT = r"(#\d+;|<br/>|[^\"#<>&;`\[\]{}|\n])*"
GRAMMAR = re.compile("|".join(f"(?:{line.replace('TEXT', TEXT)})" for line in LINES))


def test_mermaid_shows_a_workflow():
    assert (
        draw_mermaid(read("revision"))
        == """\
flowchart TD
  subgraph b0 ["loop"]
    v1["improve<br/>xyz.example.text.improve@1"]
    v2["judge<br/>xyz.example.text.judge@1"]
  end
  v0["draft<br/>xyz.example.text.draft@1<br/>→ topic, style"]
  v3["publish<br/>xyz.example.blog.publish@1<br/>ok.url →"]
  v0 -->|"ok<br/>text, hints"| v1
  v0 -.->|"ok · static<br/>style"| v1
  v1 -->|"ok<br/>text"| v2
  v2 -->|"poor · do while<br/>text, hints"| v1
  v2 -->|"good · break<br/>text"| v3
"""
    )


def test_failure_edges_are_red_and_dashed():
    lines = draw_mermaid(read("papers")).splitlines()
    edges = [line for line in lines if "|" in line]
    red = int(re.search(r"linkStyle (\d+) stroke:#cf222e,stroke-dasharray", "\n".join(lines))[1])
    assert "_err_eval" in edges[red]


def test_mermaid_vertices_have_the_class_of_their_phase():
    drawn = draw_mermaid(read("approval"), {"ask": VertexState(running=1), "quote": VertexState()})
    assert "class v1 running" in drawn
    assert "class v2,v4 chain" in drawn
    assert 'v1[["ask<br/>xyz.example.chain.ask@1<br/>on chain<br/>▸ 1"]]' in drawn


@given(document=documents, states=states)
def test_names_in_mermaid_are_only_text(document, states):
    for line in draw_mermaid(document, states).splitlines():
        assert GRAMMAR.fullmatch(line.strip()), line


@given(document=documents, states=states)
def test_mermaid_contains_every_vertex_and_edge_once(document, states):
    drawn = draw_mermaid(document, states)
    named = {name for each in document.edges for name in (each.source.vertex, each.target.vertex)}
    named -= {vertex.name for vertex in document.vertices}
    assert len(re.findall(r"^ *v\d+\[", drawn, re.MULTILINE)) == len(document.vertices) + len(named)
    lines = {
        (each.source.vertex, each.source.variant, each.target.vertex, each.kind)
        for each in document.edges
    }
    assert len(re.findall(r"^ *v\d+ [-=]", drawn, re.MULTILINE)) == len(lines)
