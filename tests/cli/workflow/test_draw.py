from pathlib import Path
from xml.etree import ElementTree as ET

import pytest


def test_draw_prints_diagram(home, workflows):
    result = home.run("workflow", "draw", workflows / "count.json")
    assert result.code == 0
    assert "for each" in result.stdout
    lines = result.stdout.splitlines()
    order = [next(at for at, line in enumerate(lines) if f"│ {name} " in line) for name in NAMES]
    assert order == sorted(order)
    assert home.run("workflow", "draw", workflows / "count.json", "--terminal") == result


NAMES = ("split", "count", "sum")


def test_draw_writes_svg(home, workflows, tmp_path):
    picture = tmp_path / "count.svg"
    document = home.json("workflow", "draw", workflows / "count.json", "--svg", picture)
    assert document == {"svg": str(picture)}
    root = ET.fromstring(picture.read_text())
    names = {each.get("data-vertex") for each in root.iter()}
    assert names >= set(NAMES)


DRAWN = ["count.json", "write.json", "root.py", "rates.py", "badge.py", "job.py"]


@pytest.mark.parametrize("file", DRAWN)
def test_example_diagram_matches_guide(home, workflows, tmp_path, file):
    picture = tmp_path / f"{Path(file).stem}.svg"
    home.json("workflow", "draw", workflows / file, "--svg", picture)
    shown = workflows.parents[1] / "docs" / "pictures" / picture.name
    assert picture.read_bytes() == shown.read_bytes()


def test_draw_prints_mermaid(home, workflows):
    result = home.run("workflow", "draw", workflows / "count.json", "--mermaid")
    assert result.stdout.startswith("flowchart")
    document = home.json("workflow", "draw", workflows / "count.json")
    assert document == {"mermaid": result.stdout}


def test_invalid_workflow_is_drawn_with_warning(home, write_changed):
    path = write_changed("count.json", lambda document: document["edges"].pop())
    result = home.run("workflow", "draw", path)
    assert result.code == 0
    assert "split" in result.stdout
    assert f"nexus-tools workflow validate {path}" in result.stderr


def test_draw_rejects_other_files(home, tmp_path):
    path = tmp_path / "flow.json"
    path.write_text("{}")
    assert home.fails("workflow", "draw", path) == (7, "workflow_invalid")
    assert "The field `vertices` is missing." in home.run("workflow", "draw", path).stderr


@pytest.mark.parametrize("also", [("--mermaid",), ("--terminal",)])
def test_draw_rejects_combined_formats(home, workflows, tmp_path, also):
    arguments = ("workflow", "draw", workflows / "count.json", "--svg", tmp_path / "x.svg", *also)
    assert home.fails(*arguments) == (2, "option_not_applicable")
