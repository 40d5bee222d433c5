import subprocess
import sys

from nexus_tools.sui.support.untrusted_text import one_line
from nexus_tools.workflow import Document, Input, InputPort, Phase, Vertex, VertexState
from nexus_tools.workflow.drawing.picture import create_picture
from tests.workflow.drawing.conftest import edge, flow, read


def test_edges_of_a_variant_to_the_same_vertex_share_a_line():
    (drawn,) = create_picture(flow("a.ok.sum -> b.x", "a.ok.rest -> b.rest")).edges
    assert drawn.ports == (("sum", "x"), ("rest", "rest"))
    assert drawn.port_text(30) == "sum → x, rest"
    assert drawn.port_text(12) == "2 ports"


def test_variants_and_kinds_have_separate_lines():
    edges = create_picture(flow("a.ok.x -> b.x", "a.no.x -> b.x", "a.ok.key static b.key")).edges
    assert [each.label for each in edges] == ["ok", "no", "ok · static"]


def test_long_port_text_of_an_edge_is_truncated():
    (drawn,) = create_picture(flow("a.ok.sum -> b.x")).edges
    assert drawn.port_text(6) == "sum →…"


def test_undeclared_vertex_is_marked():
    document = Document((Vertex("a", "xyz.example.any@1"),), (edge("a.ok.x -> nobody.x"),))
    assert [(each.name, each.is_declared) for each in create_picture(document).vertices] == [
        ("a", True),
        ("nobody", False),
    ]


def test_picture_blocks_contain_their_vertices_and_inner_blocks():
    picture = create_picture(read("nested"))
    assert [(block.title, block.parent) for block in picture.blocks] == [
        ("for each", None),
        ("loop", 0),
    ]
    assert {vertex.name: vertex.block for vertex in picture.vertices} == {
        "split": None,
        "fetch": 0,
        "try": 1,
        "check": 1,
        "store": 0,
        "collect": None,
    }


def test_invalid_blocks_are_omitted():
    document = flow("a.ok.list for_each b.x", "b.ok.x -> c.x", "c.ok.x -> b.y")
    assert create_picture(document).blocks == ()


def test_picture_entry_ports_have_the_names_of_their_inputs():
    document = Document(
        (Vertex("a", "xyz.example.any@1", entry_ports=("x", "y")),),
        (),
        inputs=(Input("topic", (InputPort("a", "x"),)), Input("y", (InputPort("a", "y"),))),
    )
    assert create_picture(document).vertices[0].entries == ("x as topic", "y")


def test_failure_has_priority_in_the_phase_of_a_vertex():
    assert VertexState(waiting=1, running=2, settled=3, failed=4).phase is Phase.FAILED
    assert VertexState(waiting=1, running=2, settled=3).phase is Phase.RUNNING
    assert VertexState(waiting=1, settled=3).phase is Phase.WAITING
    assert VertexState(settled=3).phase is Phase.SETTLED
    assert VertexState().phase is None


def test_descriptions_state_what_is_drawn():
    states = {"ask": VertexState(settled=1)}
    said = list(create_picture(read("approval"), states).descriptions())
    assert said[0] == "A workflow of 7 vertices"
    assert "ask xyz.example.chain.ask@1, on chain, 1 settled" in said
    assert "order to refund: _err_eval" in said


def test_control_and_bidi_characters_are_replaced():
    assert one_line("a\x1b[0m\n\u202e\ud800中") == "a�[0m �中"


def test_workflow_package_does_not_import_drawing_libraries():
    program = (
        "import sys, nexus_tools.workflow;"
        "sys.exit(bool({'graphlay', 'rich', 'nexus_tools.workflow.drawing'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
