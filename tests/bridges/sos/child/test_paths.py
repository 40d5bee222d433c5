import pytest

from nexus_tools.bridges.sos.child.paths import find, flatten, put, remove, steps


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a", ["a"]),
        ("a.b", ["a", "b"]),
        ("a.b[0]", ["a", "b", 0]),
        ("a[1][2].c", ["a", 1, 2, "c"]),
        ("[0]", [0]),
        ("__RESULT__.data", ["__RESULT__", "data"]),
        ("with-dash.x y", ["with-dash", "x y"]),
    ],
)
def test_path_is_parsed_into_steps(path, expected):
    assert steps(path) == expected


@pytest.mark.parametrize("path", ["", ".", "a.", ".a", "a..b", "a[", "a[x]", "a]b", "a[0]b"])
def test_invalid_path_is_refused(path):
    with pytest.raises(ValueError, match="is not a valid path"):
        steps(path)


def test_value_is_found_in_dictionaries_and_lists():
    assert find({"a": [{"b": 5}]}, "a[0].b") == 5


@pytest.mark.parametrize("path", ["b", "a.x", "a[0]", "l[2]", "l.x", "a.n.m"])
def test_default_is_returned_for_a_missing_value(path):
    tree = {"a": {"n": 1}, "l": [1, 2]}
    assert find(tree, path, "default") == "default"
    with pytest.raises(KeyError, match="has no value"):
        find(tree, path)


def test_missing_dictionaries_are_created():
    tree = {}
    put(tree, "a.b.c", 1, overwrite=False)
    assert tree == {"a": {"b": {"c": 1}}}


def test_list_member_is_replaced_but_not_added():
    tree = {"l": [1, 2]}
    put(tree, "l[1]", 5, overwrite=True)
    assert tree == {"l": [1, 5]}
    with pytest.raises(KeyError, match="neither a dictionary nor a list"):
        put(tree, "l[2]", 5, overwrite=True)


def test_value_is_overwritten_only_on_request():
    tree = {"a": 1}
    with pytest.raises(KeyError, match="already has a value"):
        put(tree, "a", 2, overwrite=False)
    assert tree == {"a": 1}


def test_path_through_a_number_is_refused():
    with pytest.raises(KeyError, match="neither a dictionary nor a list"):
        put({"a": 1}, "a.b", 2, overwrite=True)


def test_values_are_removed_from_dictionaries_and_lists():
    tree = {"a": {"b": 1}, "l": [1, 2]}
    remove(tree, "a.b")
    remove(tree, "l[0]")
    assert tree == {"a": {}, "l": [2]}
    with pytest.raises(KeyError):
        remove(tree, "a.b")


def test_flat_context_has_the_names_of_the_toolkit():
    tree = {"namespace": {"l": [1, "a"], "sub": {"k": 1, "e": "x", "f": False, "empty": ""}}}
    assert flatten(tree) == {
        "namespace_l_0": 1,
        "namespace_l_1": "a",
        "NAMESPACE_SUB_E": "x",
        "NAMESPACE_SUB_EMPTY": "",
    }
