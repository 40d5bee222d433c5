import pytest

from nexus_tools.errors import UsageError
from nexus_tools.workflow import Document, EntryGroup, Input, InputPort, Vertex
from nexus_tools.workflow.simulation.entries import entry_names, entry_values, select_entry_group

VERTICES = (
    Vertex("add", "xyz.example.math.add@1", entry_ports=("a", "b")),
    Vertex("mul", "xyz.example.math.mul@1", entry_ports=("a", "c")),
    Vertex("end", "xyz.example.math.end@1"),
)
TWO = (EntryGroup("sums", ("add",)), EntryGroup("both", ("add", "mul")))
ADD_A, ADD_B = InputPort("add", "a"), InputPort("add", "b")
MUL_A, MUL_C = InputPort("mul", "a"), InputPort("mul", "c")


def document(groups=(), inputs=()):
    return Document(VERTICES, (), entry_groups=groups, inputs=inputs)


def values(given, **parts):
    found = document(**parts)
    return entry_values(found, select_entry_group(found), given)


def usage_error(code, function, *arguments):
    with pytest.raises(UsageError) as error:
        function(*arguments)
    assert error.value.code == code
    return error.value


def test_default_group_has_all_vertices_with_entry_ports():
    assert select_entry_group(document()).vertices == ("add", "mul")


def test_group_must_be_named_if_there_are_several():
    assert select_entry_group(document(TWO), "both") == TWO[1]
    assert "sums, both" in usage_error("group_missing", select_entry_group, document(TWO)).message
    assert (
        usage_error("group_unknown", select_entry_group, document(TWO), "bot").hint
        == "Did you mean both?"
    )


def test_unique_port_name_identifies_an_input():
    given = {"add.a": 1, "b": 2, "mul.a": 3, "mul.c": 4}
    assert values(given) == {ADD_A: 1, ADD_B: 2, MUL_A: 3, MUL_C: 4}


def test_named_input_feeds_all_its_ports():
    inputs = (Input("x", (ADD_A, MUL_A)),)
    given = {"x": 1, "b": 2, "c": 3}
    assert values(given, inputs=inputs) == {ADD_A: 1, MUL_A: 1, ADD_B: 2, MUL_C: 3}


def test_ports_of_other_groups_are_not_required():
    found = document(TWO, (Input("x", (ADD_A, MUL_A)),))
    assert entry_values(found, TWO[0], {"x": 1, "b": 2}) == {ADD_A: 1, ADD_B: 2}
    usage_error("input_unknown", entry_values, found, TWO[0], {"x": 1, "b": 2, "mul.c": 3})


def test_ambiguous_port_name_is_rejected():
    error = usage_error("input_unknown", values, {"a": 1})
    assert error.hint == "The inputs are b, c, add.a, add.b, mul.a, mul.c."


def test_missing_inputs_are_named_by_their_shortest_names():
    found = document(inputs=(Input("x", (ADD_A, MUL_A)),))
    error = usage_error("input_missing", entry_values, found, select_entry_group(found), {"c": 1})
    assert error.details == {"inputs": ["x", "b"]}


def test_duplicate_value_for_a_port_is_rejected():
    found = document(inputs=(Input("x", (ADD_A, MUL_A)),))
    given = {"x": 1, "add.a": 1}
    error = usage_error("input_duplicate", entry_values, found, select_entry_group(found), given)
    assert "add.a" in error.message


def test_entry_names_map_to_their_ports():
    found = document(TWO, (Input("x", (ADD_A, MUL_A)),))
    assert entry_names(found, TWO[0]) == {
        "x": (ADD_A,),
        "a": (ADD_A,),
        "b": (ADD_B,),
        "add.a": (ADD_A,),
        "add.b": (ADD_B,),
    }
