import pytest


@pytest.mark.parametrize(
    ("name", "counts"),
    [("count.json", "3 vertices, 2 edges"), ("write.json", "4 vertices, 4 edges")],
)
def test_the_examples_keep_the_rules(home, workflows, name, counts):
    result = home.run("workflow", "validate", workflows / name, "--strict")
    assert result.code == 0
    assert counts in result.stderr
    assert f"nexus-tools workflow simulate {workflows / name}" in result.stderr
    assert result.stdout == ""


def unfed(document):
    document["edges"][1]["to"]["input_port"] = "texts"
    document["default_values"][0]["vertex"] = "cuont"


def test_a_violation_has_its_place_in_the_file_and_in_the_document(home, workflows, tmp_path):
    path = tmp_path / "count.json"
    lines = (workflows / "count.json").read_text().splitlines()
    [number] = [at for at, line in enumerate(lines) if '"entry_ports"' in line]
    lines[number] = '      "entry_ports": [{ "name": "text" }, { "name": "text" }]'
    path.write_text("\n".join(lines))
    result = home.run("workflow", "validate", path, "--json")
    assert (result.code, result.error["code"]) == (7, "workflow_invalid")
    assert result.document["valid"] is False
    [row] = result.document["violations"]
    assert row == {
        "rule": 8,
        "message": "'Input port: split.text' is defined multiple times.",
        "pointer": "/vertices/0/entry_ports/1",
        "severity": "error",
        "place": f"{path}:{number + 1}:43",
        "line": number + 1,
        "column": 43,
    }


def test_people_see_a_table_and_how_many_there_are(home, changed):
    def change(document):
        document["edges"][0]["from"]["vertex"] = "splt"
        document["edges"][1]["to"]["vertex"] = "smu"

    result = home.run("workflow", "validate", changed("count.json", change))
    assert result.code == 7
    assert "Did you mean split?" in result.stdout
    assert "/edges/0/from/vertex" in result.stdout
    assert "breaks" in result.stderr


def test_warnings_are_errors_if_they_are_to_be(home, changed):
    def change(document):
        document["outputs"].append(
            {"vertex": "smu", "output_variant": "ok", "output_port": "sum"},
        )

    path = changed("count.json", change)
    result = home.run("workflow", "validate", path, "--json")
    assert result.code == 0
    assert {row["severity"] for row in result.document["violations"]} == {"warning"}
    assert home.fails("workflow", "validate", path, "--strict") == (7, "workflow_invalid")


def test_a_field_that_nobody_reads_is_warned_of(home, changed):
    path = changed("count.json", lambda document: document.update(outptus=[]))
    result = home.run("workflow", "validate", path)
    assert result.code == 0
    assert "outptus" in result.stdout


def test_what_is_no_document_is_told_all_its_problems(home, tmp_path):
    path = tmp_path / "flow.json"
    path.write_text('{\n  "vertices": [{ "name": 7 }],\n  "edges": {}\n}')
    result = home.run("workflow", "validate", path, "--json")
    assert (result.code, result.error["code"]) == (7, "workflow_invalid")
    places = {row["pointer"]: (row["line"], row["column"]) for row in result.document["violations"]}
    assert places["/vertices/0/name"] == (2, 18)
    assert places["/edges"] == (3, 3)


@pytest.mark.parametrize(
    ("text", "code"), [("{", "json_invalid"), (None, "file_unreadable"), ("7", "workflow_invalid")]
)
def test_a_file_that_holds_no_workflow_is_said_so(home, tmp_path, text, code):
    path = tmp_path / "flow.json"
    if text is not None:
        path.write_text(text)
    result = home.run("workflow", "validate", path, "--json")
    assert result.error["code"] == code
    assert str(path) in result.error["message"]


def test_a_workflow_may_come_by_stdin(home, workflows):
    text = (workflows / "count.json").read_text()
    assert home.run("workflow", "validate", "-", stdin=text).code == 0


def test_a_strangers_names_cannot_control_the_terminal(home, changed):
    def change(document):
        document["edges"][0]["to"]["vertex"] = "\x1b]0;owned\x07"

    result = home.run("workflow", "validate", changed("count.json", change))
    assert result.code == 7
    assert not set(result.stdout + result.stderr) & set("\x1b\x07")
