import json

import pytest

from nexus_tools.workflow import DIALECT
from tests.workflow.notation import flow as document_of

PUBLISHING = ("--yes", "--dry-run")


@pytest.fixture
def flow(definition, tmp_path, author, meta_file):
    """A workflow of a tool that the author registered; its path and an FQN."""
    author.json("tool", "register", "--from-meta", meta_file(definition), "--yes")
    fqn = definition["fqn"]
    document = {
        "vertices": [
            {"name": "one", "kind": {"variant": "off_chain", "tool_fqn": fqn}},
            {"name": "two", "kind": {"variant": "off_chain", "tool_fqn": fqn}},
        ],
        "edges": [
            {
                "from": {"vertex": "one", "output_variant": "ok", "output_port": "total"},
                "to": {"vertex": "two", "input_port": "a"},
            }
        ],
        "default_values": [
            {"vertex": "two", "input_port": "b", "value": {"storage": "inline", "data": 7}}
        ],
        "outputs": [{"vertex": "two", "output_variant": "ok", "output_port": "total"}],
    }
    document["vertices"][0]["entry_ports"] = [{"name": "a"}, {"name": "b"}]
    path = tmp_path / "workflow.json"
    path.write_text(json.dumps(document))
    return path, fqn.replace("@1", "-flow@1")


@pytest.fixture
def published_workflow(author, flow):
    path, fqn = flow
    terms = ("--name", fqn, "--description", "Adds twice.")
    return author.json("workflow", "publish", path, *terms, "--yes")


def test_quiet_publication_prints_only_the_id_even_if_it_exists(author, flow):
    path, fqn = flow
    publish = ("workflow", "publish", path, "--name", fqn, "--yes", "-q")
    first, second = author.run(*publish), author.run(*publish)
    workflow = author.json("workflow", "show", fqn)["workflow"]
    assert (first.stdout, second.stdout) == (f"{workflow}\n", f"{workflow}\n")


def test_publish_prints_cost_and_next_command(author, flow):
    path, fqn = flow
    terms = ("--name", fqn)
    simulated = author.run("workflow", "publish", path, *terms, "--dry-run")
    assert simulated.code == 0
    assert "simulated, nothing was signed" in simulated.stderr
    assert "workflow show" not in simulated.stderr

    assert "next:" not in simulated.stderr
    unsure = author.run("workflow", "publish", path, *terms)
    assert unsure.code == 2
    done = author.run("workflow", "publish", path, *terms, "--yes")
    assert done.code == 0
    assert f"published {fqn}, in one transaction" in done.stderr
    assert f"next: nexus-tools workflow show {fqn}" in done.stderr
    assert "SUI" in done.stdout
    [name] = [line.split() for line in done.stdout.splitlines() if fqn in line]
    assert name == ["name", fqn]


def test_published_workflow_is_shown_and_listed(author, flow, published_workflow):
    _, fqn = flow
    shown = author.json("workflow", "show", fqn)
    assert shown["workflow"] == published_workflow["workflow"]
    assert shown["description"] == "Adds twice."
    assert (shown["vertices"], shown["edges"]) == (2, 1)
    assert (shown["inputs"], shown["outputs"]) == (["one.a", "one.b"], ["two.ok.total"])
    rows = author.json("workflow", "list", "--mine")
    assert [row["fqn"] for row in rows] == [fqn]
    assert rows[0]["digest"] == shown["digest"]
    people = author.run("workflow", "show", fqn)
    assert "Adds twice." in people.stdout
    assert fqn in author.run("workflow", "list").stdout


@pytest.mark.usefixtures("published_workflow")
def test_show_document_prints_published_document(author, flow, tmp_path):
    path, fqn = flow
    text = author.run("workflow", "show", fqn, "--document").stdout
    assert json.loads(text)["edges"] == json.loads(path.read_text())["edges"]
    copy = tmp_path / "copy.json"
    copy.write_text(text)
    again = author.run("workflow", "publish", copy, "--name", fqn, "--description", "Adds twice.")
    assert again.code == 0
    assert "is already published with the same document" in again.stderr


def test_publish_needs_fqn(author, flow):
    path, _ = flow
    result = author.run("workflow", "publish", path, "--yes", "--json")
    assert (result.code, result.error["code"]) == (2, "name_missing")


def test_publish_rejects_invalid_workflow(author, flow):
    path, fqn = flow
    document = json.loads(path.read_text())
    document["vertices"][1]["kind"]["tool_fqn"] = "xyz.test.nobody@1"
    path.write_text(json.dumps(document))
    result = author.run("workflow", "publish", path, "--name", fqn, "--yes", "--json")
    assert (result.code, result.error["code"]) == (7, "workflow_invalid")
    rules = {each["rule"] for each in result.error["details"]["violations"]}
    assert "unregistered" in rules


@pytest.fixture
def write_wide(tmp_path):
    """Write a workflow whose variant leads to 32 vertices, each with this number of ports."""

    def wide(ports):
        edges = [f"one.ok.total -> v{number}.a" for number in range(32)]
        entries = [f"> v{number}.p{port}" for number in range(32) for port in range(ports - 1)]
        path = tmp_path / f"wide{ports}.json"
        path.write_text(json.dumps(document_of("> one.a", *edges, *entries, dialect=DIALECT)))
        return path

    return wide


def test_commands_refuse_a_step_that_the_chain_refuses(author, write_wide):
    # Each edge takes 75 + 20 + 2, and its vertex 20, and 5 for each of its 27 ports: 252 in all.
    path, terms = write_wide(27), ("--name", "xyz.test.wide@1", "--json")
    before = author.json("wallet", "show")
    validated = author.run("workflow", "validate", path, "--json")
    [row] = validated.document["violations"]
    assert (row["rule"], row["severity"]) == ("step_too_large", "error")
    assert row["pointer"] == "/edges/0"
    assert "variant 'ok' of vertex 'one' has an effort of 8064" in row["message"]
    assert "the limit is 8000. Split the step" in row["message"]
    others = (("simulate", path, "--json"), *(("publish", path, *terms, way) for way in PUBLISHING))
    for result in (validated, *(author.run("workflow", *words) for words in others)):
        assert (result.code, result.error["code"]) == (7, "workflow_invalid")
        assert result.error["details"]["violations"] == [row]
    assert author.json("wallet", "show") == before


def test_validate_accepts_a_step_below_the_limit(author, write_wide):
    assert author.json("workflow", "validate", write_wide(26))["violations"] == []


@pytest.mark.usefixtures("published_workflow")
def test_unknown_workflow_is_reported(author):
    result = author.run("workflow", "show", "xyz.test.nothing@1", "--json")
    assert result.error["code"] == "workflow_unknown"
