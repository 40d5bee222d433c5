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


def refused(code, function, *arguments):
    with pytest.raises(UsageError) as error:
        function(*arguments)
    assert error.value.code == code
    return error.value


def test_without_groups_there_is_one_of_all_that_have_entry_ports():
    assert select_entry_group(document()).vertices == ("add", "mul")


def test_of_several_groups_one_is_named():
    assert select_entry_group(document(TWO), "both") == TWO[1]
    assert "sums, both" in refused("group_missing", select_entry_group, document(TWO)).message
    assert (
        refused("group_unknown", select_entry_group, document(TWO), "bot").hint
        == "Did you mean both?"
    )


def test_an_input_is_named_by_its_port_where_no_other_has_that_name():
    given = {"add.a": 1, "b": 2, "mul.a": 3, "mul.c": 4}
    assert values(given) == {ADD_A: 1, ADD_B: 2, MUL_A: 3, MUL_C: 4}


def test_a_named_input_is_for_all_its_ports():
    inputs = (Input("x", (ADD_A, MUL_A)),)
    given = {"x": 1, "b": 2, "c": 3}
    assert values(given, inputs=inputs) == {ADD_A: 1, MUL_A: 1, ADD_B: 2, MUL_C: 3}


def test_ports_of_other_groups_are_not_asked_for():
    found = document(TWO, (Input("x", (ADD_A, MUL_A)),))
    assert entry_values(found, TWO[0], {"x": 1, "b": 2}) == {ADD_A: 1, ADD_B: 2}
    refused("input_unknown", entry_values, found, TWO[0], {"x": 1, "b": 2, "mul.c": 3})


def test_a_name_that_several_ports_have_names_none():
    error = refused("input_unknown", values, {"a": 1})
    assert error.hint == "There is b, c, add.a, add.b, mul.a, mul.c."


def test_what_is_missing_is_named_by_the_shortest_names():
    found = document(inputs=(Input("x", (ADD_A, MUL_A)),))
    error = refused("input_missing", entry_values, found, select_entry_group(found), {"c": 1})
    assert error.details == {"inputs": ["x", "b"]}


def test_a_port_has_one_value():
    found = document(inputs=(Input("x", (ADD_A, MUL_A)),))
    given = {"x": 1, "add.a": 1}
    error = refused("input_duplicate", entry_values, found, select_entry_group(found), given)
    assert "add.a" in error.message


def test_names_are_listed_with_their_ports():
    found = document(TWO, (Input("x", (ADD_A, MUL_A)),))
    assert entry_names(found, TWO[0]) == {
        "x": (ADD_A,),
        "a": (ADD_A,),
        "b": (ADD_B,),
        "add.a": (ADD_A,),
        "add.b": (ADD_B,),
    }
