import io
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from nexus_tools.workflow import Document, Vertex, VertexState, draw_terminal
from tests.workflow.drawing.conftest import HOSTILE, documents, flow, ladder, read, states

BRANCH = """\
                              ╭─────────────────────────╮
                              │ add                     │
                              │ xyz.example.math.add@1  │
                              │ → a, b                  │
                              ╰─────────────────────────╯
                                            │
                                          ok
                                            ▼
                                  ╭─────────────────────────────╮
                                  │ compare                     │
                                  │ xyz.example.math.compare@1  │
                                  ╰─────────────────────────────╯
                                       │    │          │
                     ╭─────────────────╯    │          │
                     │                      │          │
                  less                  greater     equal
                     ▼                      ▼          ▼
╭─────────────────────────────╮   ╭─────────────────────────────╮
│ negate                      │   │ double                      │
│ xyz.example.math.multiply@1 │   │ xyz.example.math.multiply@1 │
│ ok.product →                │   │ ok.product →                │
╰─────────────────────────────╯   ╰─────────────────────────────╯"""

REVISION = """\
     ╭─────────────────╮
     │ draft           │
     │ …text.draft@1   │
     │ → topic, style  │
     ╰─────────────────╯
        │           ┊
       ok      ok · static
          │         ┊
          │  ╭┈┈┈┈┈┈╯
          │  ┊
┌╌ loop ╌╌│╌╌┊╌╌╌╌╌╌╌╌╌╌╌╌╌╌┐
╎         ▼  ▼              ╎
╎ ╭─────────────────╮       ╎
╎ │ improve         │       ╎
╎ │ …text.improve@1 │       ╎
╎ ╰─────────────────╯       ╎
╎   │             ▲         ╎
╎  ok      poor · do while  ╎
╎   ▼             │         ╎
╎  ╭───────────────╮        ╎
╎  │ judge         │        ╎
╎  │ …text.judge@1 │        ╎
╎  ╰───────────────╯        ╎
╎           │               ╎
└╌╌╌╌╌╌╌╌╌╌╌│╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌┘
            │
           good · break
                 ▼
        ╭─────────────────╮
        │ publish         │
        │ …blog.publish@1 │
        │ ok.url →        │
        ╰─────────────────╯"""

BRANCHES = """\
            ╭───────╮
            │ j0    │
            ╰───────╯
             │  │  │
    ╭────────╯  │  │
    │           │  ╰────────╮
   ok          ok          ok
    ▼           ▼           ▼
╭───────╮   ╭───────╮   ╭───────╮
│ a0    │   │ b0    │   │ c0    │
╰───────╯   ╰───────╯   ╰───────╯"""

APPROVAL = """\
quote  ✓ 1  → item as article, amount  xyz.exampl…
├─ ok → ask  price → question
└─ ok → pay  price → amount
ask  ▸ 1  ○ 2  on chain  xyz.example.chain.ask@1
├─ approved → pay  note
├─ rejected → decline  note → text
└─ expired → decline  note → text
pay  on chain  xyz.example.chain.transfer@1
├─ ok → order  receipt
└─ ok → confirm  receipt → text
order  xyz.example.shop.order@1
├─ _err_eval → refund  reason
└─ ok → confirm  id → _after
refund  on chain  xyz.example.chain.transfer@1
decline  xyz.example.chat.post@1
confirm  ok.id as message →  xyz.example.chat.pos…"""


@pytest.mark.parametrize(
    ("name", "width", "drawn"), [("branch", 80, BRANCH), ("revision", 30, REVISION)]
)
def test_terminal_picture_of_a_workflow(name, width, drawn):
    assert draw_terminal(read(name), width).plain == drawn


def test_narrow_terminal_gets_a_list():
    states = {"quote": VertexState(settled=1), "ask": VertexState(waiting=2, running=1)}
    assert draw_terminal(read("approval"), 50, states).plain == APPROVAL


def test_narrower_terminal_gets_shorter_texts(document):
    wide = draw_terminal(document, 200).plain
    width = max(map(cell_len, wide.splitlines()))
    assert draw_terminal(document, width).plain == wide
    narrower = draw_terminal(document, width - 1).plain
    assert narrower != wide
    assert max(map(cell_len, narrower.splitlines())) < width


def test_large_workflow_is_drawn_with_names_only():
    drawn = draw_terminal(ladder(49), 80).plain
    assert "xyz.example.any@1" not in drawn
    assert drawn.count("│ b") == 49
    assert drawn.count("▼") == 6 * 49


def test_very_large_workflow_is_a_list():
    lines = draw_terminal(ladder(500), 80).plain.splitlines()
    assert len(lines) == 2001 + 3000
    assert lines[0] == "j0  xyz.example.any@1"
    assert lines[1] == "├─ ok → a0  a → x"


def test_terminal_picture_contains_every_vertex_and_edge(document):
    drawn = draw_terminal(document, 200).plain
    for vertex in document.vertices:
        assert f" {vertex.name} " in drawn
        assert f" {vertex.fqn} " in drawn
    lines = {
        (each.source.vertex, each.source.variant, each.target.vertex, each.kind)
        for each in document.edges
    }
    assert drawn.count("▼") + drawn.count("▲") == len(lines)


def test_arrowhead_touches_its_target_box(document):
    rows = draw_terminal(document, 200).plain.splitlines()
    for above, row, below in zip(rows, rows[1:], rows[2:], strict=False):
        for column, character in enumerate(row):
            if character == "▼":
                assert below[column] in "─═ onchain"
            if character == "▲":
                assert above[column] in "─═"


def test_terminal_draws_crossings():
    crossed = flow("a.ok.x -> d.x", "b.ok.x -> c.x", "a.ok.y -> c.y", "b.ok.y -> d.y")
    drawn = draw_terminal(crossed, 200).plain
    assert drawn.count("┼") == 1
    assert drawn.count("▼") == 4


def test_box_shows_on_chain_location_and_phase():
    states = {
        "ask": VertexState(settled=1),
        "pay": VertexState(running=1),
        "order": VertexState(waiting=1),
        "quote": VertexState(failed=12, settled=3),
    }
    drawn = draw_terminal(read("approval"), 200, states).plain
    assert "╔═ on chain ═" in drawn
    assert "┏━ on chain ━" in drawn
    assert "┌╌╌╌" in drawn
    for counts in ("│ ✗ 12 ✓ 3", "║ ✓ 1 ", "┃ ▸ 1 ", "╎ ○ 1 "):
        assert counts in drawn


def test_terminal_colors_show_phases_and_failures():
    text = draw_terminal(read("approval"), 200, {"quote": VertexState(settled=1)})
    styled = {(text.plain[span.start : span.end].strip(), str(span.style)) for span in text.spans}
    assert ("✓ 1", "green") in styled
    assert ("_err_eval", "red") in styled
    assert ("quote", "bold") in styled


@given(document=documents, width=st.integers(1, 120), states=states)
def test_lines_fit_in_the_terminal(document, width, states):
    drawn = draw_terminal(document, width, states).plain
    assert all(cell_len(line) <= width for line in drawn.splitlines())


@given(document=documents, width=st.integers(1, 120), states=states)
def test_picture_cannot_control_the_terminal(document, width, states):
    assert draw_terminal(document, width, states).plain.replace("\n", "").isprintable()


@pytest.mark.long
@given(document=documents, width=st.integers(1, 120), states=states)
def test_terminal_picture_is_deterministic(document, width, states):
    one, other = (draw_terminal(document, width, states) for _ in range(2))
    assert (one.plain, one.spans) == (other.plain, other.spans)


@given(document=documents, width=st.integers(20, 120))
def test_sides_of_boxes_are_aligned_for_any_names(document, width):
    """Columns are counted as terminals do: a wide character takes two."""
    rows = [columns(line) for line in draw_terminal(document, width).plain.splitlines()]
    for row, below in pairwise(rows):
        for column, character in row.items():
            if character == "╔":
                assert below.get(column) == "║"


def columns(line):
    found, column = {}, 0
    for character in line:
        found.setdefault(column, character)
        column += cell_len(character)
    return found


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_name_is_neither_markup_nor_wrapped(name):
    document = Document((Vertex(name or "a", name),), ())
    written = io.StringIO()
    Console(file=written, width=60, force_terminal=False).print(draw_terminal(document, 60))
    assert written.getvalue() == draw_terminal(document, 60).plain + "\n"


def test_terminal_draws_branches_in_the_order_of_the_document():
    branches = flow("j0.ok.a -> a0.x", "j0.ok.b -> b0.x", "j0.ok.c -> c0.x")
    assert draw_terminal(branches, 33).plain == BRANCHES


def test_empty_document_gives_an_empty_picture():
    assert draw_terminal(Document((), ()), 80).plain == ""
