import re
from itertools import combinations
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given

from nexus_tools.workflow import Document, Vertex, VertexState, draw_svg
from tests.workflow.drawing.conftest import HOSTILE, documents, edge, flow, ladder, read, states

SVG = "{http://www.w3.org/2000/svg}"
TAGS = {"svg", "title", "desc", "style", "g", "rect", "path", "text"}
ATTRIBUTES = {
    *("class", "viewBox", "width", "height", "role", "transform", "x", "y", "rx", "d"),
    *("text-anchor", "data-vertex"),
}


def parse(svg):
    return ET.fromstring(svg.encode())


def groups(svg, kind):
    """The groups of vertices or edges."""
    return [each for each in parse(svg).iter(f"{SVG}g") if kind in each.get("class", "").split()]


def texts(element):
    return [each.text or "" for each in element.iter(f"{SVG}text")]


def test_svg_contains_every_vertex_and_edge(document):
    svg = draw_svg(document)
    assert [each.get("data-vertex") for each in groups(svg, "vertex")] == [
        vertex.name for vertex in document.vertices
    ]
    said = [each.find(f"{SVG}title").text for each in groups(svg, "edge")]
    for each in document.edges:
        assert any(
            title.startswith(f"{each.source.vertex} → {each.target.vertex}: {each.source.variant}")
            and f"{each.source.port} → {each.target.port}" in title
            for title in said
        )


def test_vertex_shows_name_tool_entry_ports_and_location():
    by_name = {
        each.get("data-vertex"): each for each in groups(draw_svg(read("approval")), "vertex")
    }
    assert texts(by_name["quote"]) == [
        "quote",
        "xyz.example.shop.quote@1",
        "→ item as article, amount",
    ]
    assert texts(by_name["ask"]) == ["ask", "on chain", "xyz.example.chain.ask@1"]
    assert texts(by_name["confirm"])[-1] == "ok.id as message →"


def test_edge_shows_variant_kind_and_ports():
    shown = [texts(each) for each in groups(draw_svg(read("papers")), "edge")]
    assert ["ok · for each", "papers → paper"] in shown
    assert ["good · collect", "text → notes"] in shown
    assert ["_err_eval", "reason → text, detail"] in shown


def test_svg_edge_kinds_differ_by_more_than_color():
    kinds = ("->", "for_each", "collect", "do_while", "break", "static")
    document = flow(*(f"a{kind}.ok.x {kind} b{kind}.x" for kind in kinds), "a->._err_eval.x -> e.x")
    style = parse(draw_svg(document)).find(f"{SVG}style").text.partition("@supports")[0]
    without_colors = re.sub(r"(fill|stroke): #\w+(; )?", "", style)
    rules = dict(re.findall(r"\.workflow (\S+ \.line) \{ (.*?) \}", without_colors))
    looks = set()
    for group in groups(draw_svg(document), "edge"):
        kind = group.get("class").removeprefix("edge ").split()
        dashes = tuple(rules.get(f".{each} .line", "") for each in kind)
        lines = tuple(
            path.get("class") for path in group.iter(f"{SVG}path") if path.get("class") != "head"
        )
        looks.add((dashes[-1], lines))
    assert len(looks) == 7


def test_svg_blocks_are_boxes_around_their_vertices():
    svg = parse(draw_svg(read("nested")))
    frames = [area(each) for each in svg.iter(f"{SVG}rect") if each.get("class") == "frame"]
    boxes = {
        group.get("data-vertex"): area(group.find(f"{SVG}rect"))
        for group in svg.iter(f"{SVG}g")
        if group.get("data-vertex")
    }
    assert {name for name, box in boxes.items() if within(box, frames[0])} == {
        "fetch",
        "try",
        "check",
        "store",
    }
    assert {name for name, box in boxes.items() if within(box, frames[1])} == {"try", "check"}
    assert within(frames[1], frames[0])


def area(rectangle):
    left, top, width, height = (
        float(rectangle.get(each)) for each in ("x", "y", "width", "height")
    )
    return left, top, left + width, top + height


def within(inner, outer):
    return (
        inner[0] > outer[0] and inner[1] > outer[1] and inner[2] < outer[2] and inner[3] < outer[3]
    )


def test_texts_of_vertices_stay_in_their_boxes_without_overlap(document):
    boxes = []
    for group in groups(draw_svg(document), "vertex"):
        left, top, right, bottom = area(group.find(f"{SVG}rect"))
        boxes.append((left, top, right, bottom))
        for text in group.iter(f"{SVG}text"):
            # Characters of the widest common fonts for mono and for the name.
            width = len(text.text) * (6.7 if "mono" in text.get("class") else 8)
            x, y = float(text.get("x")), float(text.get("y"))
            assert top < y < bottom
            assert left < x < right
            if not text.get("text-anchor"):
                assert x + width <= right
    for one, other in combinations(boxes, 2):
        assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def test_svg_states_have_a_class_a_symbol_and_a_count():
    states = {"quote": VertexState(settled=1), "ask": VertexState(2, 1, 0, 3)}
    svg = draw_svg(read("approval"), states)
    by_name = {each.get("data-vertex"): each for each in groups(svg, "vertex")}
    assert by_name["quote"].get("class") == "vertex settled"
    assert texts(by_name["quote"])[-1] == "✓ 1"
    assert by_name["ask"].get("class") == "vertex chain failed"
    assert texts(by_name["ask"])[-3:] == ["✗ 3", "▸ 1", "○ 2"]
    assert by_name["decline"].get("class") == "vertex idle"


def test_picture_keeps_its_size_while_states_change(document):
    """So that who watches sees nothing jump."""
    begun = {vertex.name: VertexState(running=1) for vertex in document.vertices}
    sizes = {
        (parse(svg).get("width"), parse(svg).get("height"))
        for svg in (draw_svg(document, {}), draw_svg(document, begun))
    }
    assert len(sizes) == 1


def test_vertices_are_not_idle_without_states(document):
    assert groups(draw_svg(document), "idle") == []


@given(document=documents, states=states)
def test_any_document_gives_well_formed_xml_without_scripts_ids_and_references(document, states):
    for element in parse(draw_svg(document, states)).iter():
        assert element.tag.removeprefix(SVG) in TAGS
        assert set(element.attrib) <= ATTRIBUTES


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_untrusted_name_cannot_change_the_style(name):
    hostile = Document((Vertex(name, name, entry_ports=(name,)),), ())
    style = parse(draw_svg(hostile)).find(f"{SVG}style").text
    assert style == parse(draw_svg(Document((), ()))).find(f"{SVG}style").text


@given(document=documents, states=states)
def test_svg_is_deterministic(document, states):
    assert draw_svg(document, states) == draw_svg(document, states)


def test_svg_has_a_title_and_description_for_screen_readers():
    svg = parse(draw_svg(read("revision")))
    assert svg.get("role") == "img"
    assert svg.find(f"{SVG}title").text == "A workflow of 4 vertices"
    assert "judge to improve: poor · do while" in svg.find(f"{SVG}desc").text


def test_colors_exist_for_light_and_dark_and_can_be_overridden():
    style = parse(draw_svg(read("branch"))).find(f"{SVG}style").text
    light, dark = re.findall(r":where\(\.workflow\) \{ (.*?) \}", style)
    assert [each.split(": ")[0] for each in light.split("; ")] == [
        each.split(": ")[0] for each in dark.split("; ")
    ]
    used = set(re.findall(r"var\((--[\w-]+)\)", style))
    assert used == {each.split(": ")[0] for each in light.split("; ")}


def test_viewers_without_custom_properties_use_light_colors():
    style = parse(draw_svg(read("branch"))).find(f"{SVG}style").text
    plain, _, others = style.partition("@supports")
    assert "var(" not in plain
    assert ".workflow .paper { fill: #ffffff; stroke: #d0d7de }" in plain
    assert ".workflow .paper { fill: var(--workflow-paper); stroke: var(--workflow-rim) }" in others


def test_style_rules_apply_to_the_picture_only():
    style = parse(draw_svg(read("branch"))).find(f"{SVG}style").text
    for line in style.splitlines():
        for selector in line.split(" {")[0].split(", "):
            known = (".workflow ", ":where(.workflow)", "@media ", "@supports ", "}")
            assert selector.startswith(known)


def test_workflow_of_two_thousand_vertices_is_drawn_completely():
    svg = draw_svg(ladder(500))
    assert len(groups(svg, "vertex")) == 2001
    assert len(groups(svg, "edge")) == 3000


def test_empty_document_gives_an_empty_picture():
    assert groups(draw_svg(Document((), ())), "vertex") == []


def test_loop_of_one_vertex_is_drawn():
    document = flow("a.ok.x -> try.x", "try.bad.x do_while try.x", "try.good.x break b.x")
    assert len(groups(draw_svg(document), "do_while")) == 1


def test_invalid_cycles_are_drawn():
    document = flow("a.ok.x -> b.x", "b.ok.x -> a.x", "c.ok.x -> c.y")
    assert len(groups(draw_svg(document), "edge")) == 3


def test_vertices_with_equal_names_are_both_drawn():
    vertices = (Vertex("a", "xyz.example.one@1"), Vertex("a", "xyz.example.two@1"))
    assert len(groups(draw_svg(Document(vertices, (edge("a.ok.x -> a.y"),))), "vertex")) == 2


def test_drawing_for_a_page_links_its_vertices_and_has_no_style():
    document = read("approval")
    hrefs = [f'#vertex-{number}"><x' for number, _ in enumerate(document.vertices)]
    svg = draw_svg(document, hrefs=hrefs, styled=False)
    links = [*parse(svg).iter(f"{SVG}a")]
    assert [link.get("href") for link in links] == hrefs
    assert [link.find(f"{SVG}g").get("data-vertex") for link in links] == [
        vertex.name for vertex in document.vertices
    ]
    assert parse(svg).find(f"{SVG}style") is None
    assert parse(svg).get("role") == "group"
