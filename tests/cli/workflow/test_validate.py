import json

import pytest


@pytest.mark.parametrize(
    ("name", "counts"),
    [("count.json", "3 vertices, 2 edges"), ("write.json", "4 vertices, 4 edges")],
)
def test_example_workflows_are_valid(home, workflows, name, counts):
    result = home.run("workflow", "validate", workflows / name, "--strict")
    assert result.code == 0
    assert counts in result.stderr
    assert f"nexus-tools workflow simulate {workflows / name}" in result.stderr
    assert result.stdout == ""


def test_violation_has_its_line_and_pointer(home, workflows, tmp_path):
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


def test_validate_prints_a_table_and_the_number_of_errors(home, write_changed):
    def change(document):
        document["edges"][0]["from"]["vertex"] = "splt"
        document["edges"][1]["to"]["vertex"] = "smu"

    result = home.run("workflow", "validate", write_changed("count.json", change))
    assert result.code == 7
    assert "Did you mean split?" in result.stdout
    assert "/edges/0/from/vertex" in result.stdout
    assert "is invalid: 2 errors" in result.stderr


def test_strict_option_turns_warnings_into_errors(home, write_changed):
    def change(document):
        document["outputs"].append(
            {"vertex": "smu", "output_variant": "ok", "output_port": "sum"},
        )

    path = write_changed("count.json", change)
    result = home.run("workflow", "validate", path, "--json")
    assert result.code == 0
    assert {row["severity"] for row in result.document["violations"]} == {"warning"}
    assert home.fails("workflow", "validate", path, "--strict") == (7, "workflow_invalid")


def test_unknown_field_is_a_warning(home, write_changed):
    path = write_changed("count.json", lambda document: document.update(outptus=[]))
    result = home.run("workflow", "validate", path)
    assert result.code == 0
    assert "outptus" in result.stdout


def test_invalid_document_reports_all_its_errors(home, tmp_path):
    path = tmp_path / "flow.json"
    path.write_text('{\n  "vertices": [{ "name": 7 }],\n  "edges": {}\n}')
    result = home.run("workflow", "validate", path, "--json")
    assert (result.code, result.error["code"]) == (7, "workflow_invalid")
    places = {row["pointer"]: (row["line"], row["column"]) for row in result.document["violations"]}
    assert places["/vertices/0/name"] == (2, 18)
    assert places["/edges"] == (3, 3)


@pytest.mark.parametrize(
    ("text", "code"),
    [("{", "json_invalid"), (None, "output_file_unreadable"), ("7", "workflow_invalid")],
)
def test_invalid_workflow_file_is_named(home, tmp_path, text, code):
    path = tmp_path / "flow.json"
    if text is not None:
        path.write_text(text)
    result = home.run("workflow", "validate", path, "--json")
    assert result.error["code"] == code
    assert str(path) in result.error["message"]


def test_project_folder_is_validated_by_its_document(home, tmp_path):
    home.json("workflow", "new", tmp_path / "greetings")
    assert home.json("workflow", "validate", tmp_path / "greetings")["valid"] is True
    (tmp_path / "greetings" / "workflow.json").unlink()
    assert home.fails("workflow", "validate", tmp_path / "greetings") == (
        2,
        "output_file_unreadable",
    )


def test_workflow_is_read_from_stdin(home, workflows):
    text = (workflows / "count.json").read_text()
    result = home.run("workflow", "validate", "-", stdin=text)
    assert result.code == 0
    assert "next:" not in result.stderr  # it was read, and nothing else can read it again


def test_untrusted_names_cannot_control_the_terminal(home, write_changed):
    def change(document):
        document["edges"][0]["to"]["vertex"] = "\x1b]0;owned\x07"

    result = home.run("workflow", "validate", write_changed("count.json", change))
    assert result.code == 7
    assert not set(result.stdout + result.stderr) & set("\x1b\x07")


def test_next_command_has_all_required_options(home, write_changed, workflows):
    def change(document):
        document["vertices"][1]["entry_ports"] = [{"name": "a b"}]
        document["default_values"].clear()
        document["entry_groups"] = [
            {"name": "both", "vertices": ["split", "count"]},
            {"name": "one", "vertices": ["split"]},
        ]
        document["dialect"] = "nexus_tools/1"

    path, tools = write_changed("count.json", change), workflows / "tools.py"
    assert (
        f"next: nexus-tools workflow simulate {path} --group both --input text=… --input 'a b'=…"
        f" --tools {tools}\n"
    ) in home.run("workflow", "validate", path, "--tools", tools).stderr


@pytest.mark.parametrize("name", ["no.json", "no.py", "no.py:flow"])
def test_missing_file_is_reported(home, tmp_path, name):
    result = home.run("workflow", "validate", tmp_path / name)
    assert result.code == 2
    assert result.stderr.startswith(f"error: cannot read {tmp_path / name.split(':')[0]}")


# --- Tools that are known


def test_tools_option_compares_ports(home, workflows, write_changed):
    def change(document):
        document["edges"][0]["from"]["output_port"] = "liens"

    path = write_changed("count.json", change)
    assert home.run("workflow", "validate", path).code == 0
    result = home.run("workflow", "validate", path, "--tools", workflows / "tools.py", "--json")
    assert result.code == 7
    [row] = result.document["violations"]
    assert (row["rule"], row["pointer"]) == ("unknown_port", "/edges/0/from/output_port")
    assert "Did you mean lines?" in row["message"]


def test_unknown_tools_are_listed_as_not_compared(home, workflows):
    arguments = (
        "workflow",
        "validate",
        workflows / "write.json",
        "--tools",
        workflows / "tools.py",
    )
    result = home.run(*arguments, "--strict")
    assert result.code == 0
    assert (
        "! tools not compared, because their definitions are missing: xyz.example.writing.plan@1, "
    ) in result.stderr
    names = ("writing.plan", "writing.write", "writing.judge", "web.publish")
    expected = [f"xyz.example.{name}@1" for name in names]
    assert home.run(*arguments, "--json").document["not_compared"] == expected


def test_misspelled_tool_gets_a_suggestion(home, write_changed, workflows):
    def change(document):
        document["vertices"][0]["kind"]["tool_fqn"] = "xyz.example.text.spilt_lines@1"
        document["vertices"][1]["kind"]["tool_fqn"] = "xyz.elsewhere.math.count@1"

    path = write_changed("count.json", change)
    result = home.run("workflow", "validate", path, "--tools", workflows / "tools.py")
    assert (
        "xyz.example.text.spilt_lines@1 (did you mean xyz.example.text.split_lines@1?),"
        " xyz.elsewhere.math.count@1."
    ) in result.stderr


def test_builtin_tools_are_always_known(home, write_changed):
    def change(document):
        document["vertices"][0]["kind"]["tool_fqn"] = "nexus_tools.waiting.wait@1"

    path = write_changed("count.json", change)
    result = home.run("workflow", "validate", path, "--json")
    messages = {row["rule"]: row["message"] for row in result.document["violations"]}
    assert messages["kind"] == "nexus_tools.waiting.wait@1 is not off_chain: it is on_chain."
    assert "unknown_port" in messages


def test_document_may_start_with_a_byte_order_mark(home, workflows, tmp_path):
    path = tmp_path / "count.json"
    path.write_bytes(b"\xef\xbb\xbf" + (workflows / "count.json").read_bytes())
    assert home.json("workflow", "validate", path)["valid"] is True


# --- Workflows in Python

FLOW = '''
from nexus_tools.tool_server import Variant, tool
from nexus_tools.workflow import Workflow

class Text(Variant, name="ok"):
    """A text."""
    text: str

@tool("xyz.example.text.lower@1")
async def lower(text: str) -> Text:
    """Makes it lower case."""
    return Text(text=text.lower())

flow = Workflow("xyz.example.text.flow@1")
[text] = flow.inputs(text=str)
flow.output("text", flow.add(lower, text=text).ok.text)
'''


@pytest.fixture
def program(tmp_path, request):
    """Writes a Python file whose name belongs to this test alone."""

    def write(text):
        path = tmp_path / f"{request.node.originalname}.py"
        path.write_text(text)
        return path

    return write


def test_python_workflow_is_validated_drawn_and_simulated(home, program):
    path = program(FLOW)
    assert home.json("workflow", "validate", path)["valid"] is True
    assert "lower" in home.run("workflow", "draw", path).stdout
    document = home.json("workflow", "simulate", path, "--tools", path, "--input", "text=LOUD")
    assert [(each["name"], each["value"]) for each in document["results"]] == [("text", "loud")]


def test_tools_option_compares_tools_that_python_only_names(home, program):
    text = FLOW.replace(
        "flow.add(lower, text=text)", 'flow.add("xyz.example.text.lower@1", txt=text)'
    )
    path = program(text)
    assert home.json("workflow", "validate", path)["valid"] is True
    result = home.run("workflow", "validate", path, "--tools", path, "--json")
    line = text[: text.index("flow.output")].count("\n") + 1
    assert result.code == 7
    assert {(row["rule"], row["place"]) for row in result.document["violations"]} == {
        ("unknown_port", f"{path}:{line}"),
        ("unfed_port", f"{path}:{line}"),
    }
    simulate = ("workflow", "simulate", path, "--tools", path, "--input", "text=x")
    assert home.fails(*simulate) == (7, "workflow_invalid")


def test_stubs_are_compared_with_the_tools_of_a_python_workflow(home, program, tmp_path):
    stubs = tmp_path / "stubs.json"
    stubs.write_text('{"lower": {"okk": {"text": "x"}}}')
    simulate = ("workflow", "simulate", program(FLOW), "--input", "text=x", "--stubs", stubs)
    result = home.run(*simulate)
    assert result.code == 7
    assert "Did you mean ok?" in result.stderr
    assert home.fails(*simulate) == (7, "stubs_invalid")


def test_ambiguous_python_file_needs_the_workflow_name(home, program):
    path = program(FLOW + 'other = Workflow("xyz.example.text.other@1")\n')
    assert home.fails("workflow", "validate", path) == (2, "workflow_ambiguous")
    assert home.json("workflow", "validate", f"{path}:flow")["valid"] is True
    assert home.fails("workflow", "validate", f"{path}:nobody") == (2, "workflow_ambiguous")


def test_python_error_has_its_line(home, program):
    path = program(FLOW.replace("text=text)", "txet=text)"))
    result = home.run("workflow", "validate", path, "--json")
    line = FLOW[: FLOW.index("flow.output")].count("\n") + 1
    assert result.code != 0
    assert result.error["details"]["line"] == line


@pytest.mark.parametrize(
    ("more", "rule"),
    [
        ("[more] = flow.inputs(more=str)", "value_unused"),
        ("one = flow.add(lower, text=text); one.after(flow.add(lower, text=text).after(one))", 14),
    ],
)
def test_python_violation_has_its_line(home, program, more, rule):
    path = program(f"{FLOW}{more}\n")
    result = home.run("workflow", "validate", path, "--json")
    assert (result.code, result.error["code"]) == (7, "workflow_invalid")
    [row] = [each for each in result.document["violations"] if each["severity"] == "error"]
    assert (row["rule"], row["place"]) == (rule, f"{path}:{FLOW.count(chr(10)) + 1}")


STARVING = """
from nexus_tools.workflow import Workflow

flow = Workflow("xyz.example.text.flow@1")
[text] = flow.inputs(text=str)
one = flow.add("xyz.example.text.judge@1", text=text)
other = flow.add("xyz.example.text.judge@1", text=text)
flow.add("xyz.example.text.post@1", text=one.good.text)
flow.add("xyz.example.text.post@1", text=other.good.text)
flow.add("xyz.example.text.join@1", text=one.poor.text, more=other.poor.text)
"""


def test_python_warning_has_its_line(home, program):
    path = program(STARVING)
    [row] = home.json("workflow", "validate", path)["violations"]
    line = STARVING.count("\n")
    assert (row["rule"], row["severity"], row["place"]) == ("starves", "warning", f"{path}:{line}")
    assert not row["message"].startswith(path.name)
    assert home.fails("workflow", "validate", path, "--strict") == (7, "workflow_invalid")


@pytest.fixture
def write_sum_workflow(registered_fqn, tmp_path):
    """Writes a workflow of the registered tool, of which a function changes the document."""

    def write(change=None):
        document = {
            "vertices": [
                {
                    "name": "add",
                    "kind": {"variant": "off_chain", "tool_fqn": registered_fqn},
                    "entry_ports": [{"name": "a"}, {"name": "b"}],
                }
            ],
            "edges": [],
        }
        if change:
            change(document)
        path = tmp_path / "sums.json"
        path.write_text(json.dumps(document, indent=2))
        return path

    return write


def rules(home, path, *options):
    result = home.run("workflow", "validate", path, "--registry", "--json", *options)
    return [(row["rule"], row["pointer"]) for row in result.document["violations"]]


def test_workflow_of_registered_tools_is_valid(author, write_sum_workflow):
    assert rules(author, write_sum_workflow()) == []


def test_registry_option_compares_registered_tools(author, write_sum_workflow):
    def change(document):
        document["vertices"][0]["entry_ports"] = [{"name": "a"}, {"name": "c"}]
        document["vertices"][0]["verifier"] = "registered_key"

    assert rules(author, write_sum_workflow(change)) == [
        ("unsigned", "/vertices/0/verifier"),
        ("unknown_port", "/vertices/0/entry_ports/1/name"),
        ("unfed_port", "/vertices/0"),
    ]
    assert author.json("workflow", "validate", write_sum_workflow(change))["violations"] == []


def test_registry_option_names_unregistered_tool(author, write_sum_workflow):
    def change(document):
        document["vertices"][0]["kind"]["tool_fqn"] = "xyz.test.nobody@1"

    path = write_sum_workflow(change)
    assert rules(author, path) == [("unregistered", "/vertices/0/kind/tool_fqn")]
    error = author.run("workflow", "validate", path, "--registry", "--json").error
    assert error["message"] == (
        f"{path} is valid, but 1 of its tools is not registered on this network"
    )


def test_registry_option_hints_at_builtin_registration(author, write_sum_workflow):
    def change(document):
        kind = {"variant": "on_chain", "tool_fqn": "nexus_tools.waiting.ask@1"}
        document["vertices"][0] |= {"kind": kind, "entry_ports": [{"name": "answerer"}]}
        question = {"vertex": "add", "input_port": "question"}
        document["default_values"] = [question | {"value": {"storage": "inline", "data": "?"}}]

    result = author.run("workflow", "validate", write_sum_workflow(change), "--registry", "--json")
    [row] = result.document["violations"]
    assert row["rule"] == "unregistered"
    assert "`nexus-tools tool register --builtin`" in row["message"]


def test_registry_option_names_inactive_tool(author, write_sum_workflow, registered_fqn):
    path = write_sum_workflow()
    author.json("tool", "unregister", registered_fqn, "--yes")
    assert rules(author, path) == [("inactive", "/vertices/0/kind/tool_fqn")]


def test_registry_violation_has_its_line_in_python(author, program):
    path = program(STARVING)
    found = author.run("workflow", "validate", path, "--registry", "--json").document["violations"]
    places = [row["place"] for row in found if row["rule"] == "unregistered"]
    first = STARVING[: STARVING.index("one = flow")].count("\n") + 1
    assert places == [f"{path}:{first + number}" for number in range(5)]
