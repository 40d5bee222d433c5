"""The schema of workflow documents, compared with `read_document` and `lint`."""

import inspect
import json
import re
from functools import partial
from pathlib import Path

import pytest

from nexus_tools.workflow import DIALECT, lint, read_document, violations_error
from nexus_tools.workflow.document import reading
from nexus_tools.workflow.document_schema import STATED_RULES
from tests.schemas.judges import Judge, compare, paths, replaced, with_change

ROOT = Path(__file__).parents[2]


def example(name):
    return json.loads((ROOT / name).read_text())


COUNT = example("examples/workflows/count.json")
BRANCH = example("tests/workflow/documents/branch.json")
PAPERS = example("tests/workflow/documents/papers.json")
NESTED = example("tests/workflow/documents/nested.json")
APPROVAL = example("tests/workflow/documents/approval.json")
REVISION = example("tests/workflow/documents/revision.json")
KIND = {"variant": "off_chain", "tool_fqn": "xyz.example.add@1"}
FIRST = {"name": "first", "kind": KIND, "entry_ports": [{"name": "a"}]}
SECOND = {"name": "second", "kind": KIND}
TO = {"vertex": "second", "input_port": "a"}
FROM = {"vertex": "first", "output_variant": "ok", "output_port": "sum"}
EDGE = {"from": FROM, "to": TO}
DEFAULT = {"vertex": "second", "input_port": "b", "value": {"storage": "inline", "data": 1}}
OUTPUT = {"vertex": "second", "output_variant": "ok", "output_port": "sum"}
PLAIN = {
    "$schema": "./workflow.schema.json",
    "vertices": [FIRST, SECOND],
    "edges": [EDGE],
    "default_values": [DEFAULT],
    "outputs": [OUTPUT],
    "post_failure_action": "continue",
}
STRICT = PLAIN | {
    "dialect": DIALECT,
    "vertices": [FIRST | {"attempts": 3, "retry_after_ms": 10, "parallel": 2}, SECOND],
    "inputs": [{"name": "a", "to": [{"vertex": "first", "input_port": "a"}]}],
    "outputs": [OUTPUT | {"name": "total"}],
    "entry_groups": [{"name": "all", "vertices": ["first"]}],
}
RULE = re.compile(r'"rule": (?:"(\w+)"|(\d+))')


def read(document):
    """Read a document as `workflow validate` does: errors of the parser or the linter."""
    parsed, warnings = read_document(json.dumps(document))
    errors = [violation for violation in (*warnings, *lint(parsed)) if violation.is_error]
    if errors:
        raise violations_error(errors)


@pytest.fixture(scope="module")
def judge():
    return Judge("workflow", read)


def is_unstated(reason):
    """Return whether all violations concern the graph, or a number such as `1.0`."""
    rules = {word or number for word, number in RULE.findall(reason)}
    return bool(rules) and rules.isdisjoint(STATED_RULES)


@pytest.mark.parametrize(
    "base",
    [
        pytest.param(PLAIN, id="plain"),
        pytest.param(STRICT, id="dialect"),
        pytest.param(COUNT, id="count", marks=pytest.mark.long),
        pytest.param(BRANCH, id="branch", marks=pytest.mark.long),
        pytest.param(PAPERS, id="papers", marks=pytest.mark.long),
        pytest.param(NESTED, id="nested", marks=pytest.mark.long),
        pytest.param(APPROVAL, id="approval", marks=pytest.mark.long),
        pytest.param(REVISION, id="revision", marks=pytest.mark.long),
    ],
)
def test_verdicts_on_mutations_agree(judge, base):
    accepted, rejected = compare(judge, base, is_unstated)
    assert (accepted > 50, rejected > 300) == (True, True)


def edge(**fields):
    return {"edges": [EDGE | fields]}


def second(**fields):
    return {"vertices": [FIRST, SECOND | fields]}


def value(value):
    return {"default_values": [DEFAULT | {"value": value}]}


KINDS = ("normal", "Normal", {"variant": "Normal"}, {"@variant": "normal"})
VALID = (
    {},
    *(edge(kind=kind) for kind in (*KINDS, {"_variant_name": "normal", "variant": None}, None)),
    edge(kind="static"),
    {"post_failure_action": "TransientContinue"},
    {"post_failure_action": None},
    {"default_values": None},
    {"encrypted": 1},
    {"outputs": [OUTPUT | {"name": 5}]},
    second(attempts="many", leader_verifier={}),
    second(post_failure_action="Terminate", verifier="registered_key"),
    second(kind={"variant": "on_chain", "tool_fqn": "xyz.example.add@1"}, verifier="none"),
    value({"one": {"kind": "data", "data": None}}),
    value({"many": [{"kind": "data", "data": 1}, {"kind": "data", "data": []}]}),
    value({"storage": "walrus", "data": "a-key"}),
)
INVALID = (
    {"vertices": None},
    {"edges": {}},
    {"dialect": "nexus_tools/2"},
    {"$schema": 5},
    {"post_failure_action": "stop"},
    {"entry_groups": [{"name": "g"}]},
    {"entry_groups": [{"name": "g", "vertices": ["first"]}] * 65},
    {"entry_groups": [{"name": "g", "vertices": [1]}]},
    {"outputs": [{"vertex": "second"}]},
    edge(kind="Sideways"),
    edge(kind={}),
    edge(kind={"variant": "normal", "@variant": "normal"}),
    edge(kind={"variant": 1}),
    edge(to=FROM),
    second(name=None),
    second(kind="off_chain"),
    second(kind={"variant": "off_chain"}),
    second(kind=KIND | {"variant": "OffChain"}),
    second(kind=KIND | {"tool_fqn": "add"}),
    second(kind=KIND | {"tool_fqn": ""}),
    second(verifier="external"),
    second(verifier="both"),
    second(verifier="registered_key", kind=KIND | {"variant": "on_chain"}),
    second(entry_ports=["a"]),
    value(1),
    value({"storage": "inline"}),
    value({"storage": "disk", "data": 1}),
    value({"one": {"kind": "date", "data": 1}}),
    value({"many": {"kind": "data", "data": 1}}),
    value({"many": [{"kind": "data"}]}),
)
INVALID_IN_DIALECT = (
    {"colour": "red"},
    {"encrypted": True},
    second(leader_verifier={}),
    second(kind=KIND | {"version": 1}),
    second(attempts=0),
    second(attempts=101),
    second(retry_after_ms=-1),
    second(retry_after_ms=90 * 86_400_000 + 1),
    second(parallel=1_025),
    second(parallel="2"),
    edge(**{"from": FROM | {"encrypted": True}}),
    edge(kind={"variant": "normal", "fields": {}}),
    value({"one": {"kind": "data", "data": 1}, "many": []}),
    value({"storage": "inline", "data": 1, "encrypted": False}),
    {"inputs": {}},
    {"inputs": [{"name": "a", "to": []}]},
    {"inputs": [{"name": "a", "to": ["first.a"]}]},
    {"outputs": [OUTPUT | {"name": 5}]},
)
GRAPH = {
    "names_nothing": {"outputs": [OUTPUT | {"vertex": "third"}]},
    "6": {"vertices": [FIRST, SECOND, SECOND]},
    "9": {"default_values": [DEFAULT | {"input_port": "a"}]},
    "duplicate": {"inputs": [STRICT["inputs"][0]] * 2},
}


@pytest.mark.parametrize("change", VALID, ids=str)
def test_valid_document_is_accepted(judge, change):
    verdict = judge.judge(with_change(PLAIN, change))
    assert (verdict.by_schema, verdict.reason) == (True, None)


@pytest.mark.parametrize("change", INVALID, ids=lambda change: str(change)[:80])
def test_invalid_document_is_rejected(judge, change):
    for base in (PLAIN, STRICT):
        verdict = judge.judge(with_change(base, change))
        assert (verdict.by_schema, verdict.by_reader) == (False, False)


@pytest.mark.parametrize("change", INVALID_IN_DIALECT, ids=lambda change: str(change)[:80])
def test_dialect_is_stricter(judge, change):
    verdict = judge.judge(with_change(STRICT, change))
    assert (verdict.by_schema, verdict.by_reader) == (False, False)


@pytest.mark.long
def test_schema_knows_every_field_that_the_parser_reads(judge):
    """Each word in the source of the parser is tried as a field of each object, with `null`."""
    words = set(re.findall(r'"([$\w]+)"', inspect.getsource(reading)))
    found = 0
    for path in paths(STRICT):
        for word in words:
            verdict = judge.judge(replaced(STRICT, path, partial(add_field, word)), twice=False)
            found += verdict.by_schema
            assert verdict.by_schema == verdict.by_reader or is_unstated(verdict.reason), verdict
    assert found > 100


def add_field(name, container, key):
    if isinstance(container[key], dict):
        container[key].setdefault(name, None)


def test_reader_rejects_an_integer_with_a_fraction(judge):
    verdict = judge.judge(with_change(STRICT, second(attempts=2.0)))
    assert (verdict.by_schema, verdict.by_reader) == (True, False)


@pytest.mark.parametrize("rule", GRAPH)
def test_reader_rejects_graphs_that_the_schema_does_not_check(judge, rule):
    verdict = judge.judge(with_change(STRICT, GRAPH[rule]))
    assert verdict.by_schema
    assert rule in {word or number for word, number in RULE.findall(verdict.reason)}


@pytest.mark.parametrize("base", [PLAIN, STRICT], ids=["plain", "dialect"])
def test_name_of_the_schema_does_not_change_the_digest(base):
    without = {key: value for key, value in base.items() if key != "$schema"}
    (named, warnings), (plain, _) = (read_document(json.dumps(one)) for one in (base, without))
    assert warnings == []
    assert named.digest() == plain.digest()
