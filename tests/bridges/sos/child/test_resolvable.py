"""The expected values are those of SOS-Toolkit 0.0.2 for the same resolvables."""

import pytest

from nexus_tools.bridges.sos.child.context import SOSContext
from nexus_tools.bridges.sos.child.interpolation import resolved

HOST = {"source": "namespace.host", "target": "host"}
PORT = {"source": "namespace.port", "target": "port"}
TEXT = {"source": "namespace.s", "target": "s"}


def unnamed(entry):
    return {"source": entry["source"]}


def value(entry):
    context = SOSContext(namespace={"host": "h", "port": 8050, "s": "a", "l": ["p", "q"]})
    return resolved(entry, context.get)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("namespace.s", "a"),
        ({"data": "namespace.s"}, "a"),
        ({"data": "namespace.missing", "default": "dd"}, "dd"),
        ({"data": {"source": "namespace.missing", "default": 5}}, 5),
        ({"data": {"source": "namespace.s"}, "format_string": "<{}>"}, "a"),
        ({"data": [HOST, PORT], "format_string": "{host}:{port}"}, "h:8050"),
        ({"data": [HOST, PORT]}, {"host": "h", "port": 8050}),
        ({"data": [unnamed(HOST), unnamed(PORT)]}, {"0": "h", "1": 8050}),
        ({"data": [unnamed(HOST), unnamed(PORT)], "to_list": True}, ["h", 8050]),
        ({"data": [unnamed(HOST), unnamed(TEXT)], "path_join": True}, "h/a"),
        ({"data": [HOST, TEXT], "path_join": True}, "h/a"),
        ({"data": [HOST, TEXT], "to_list": True}, ["h", "a"]),
        ({"data": "namespace.s", "to_list": True}, "a"),
        ({"data": "namespace.l", "path_join": True}, ["p", "q"]),
    ],
)
def test_resolvable_resolves_as_in_the_toolkit(entry, expected):
    assert value(entry) == expected


def test_resolvables_can_be_nested():
    inner = {"data": [HOST, PORT], "format_string": "{host}:{port}", "target": "address"}
    assert value({"data": [inner, TEXT], "format_string": "{address}/{s}"}) == "h:8050/a"


def test_source_without_value_and_default_is_an_error():
    with pytest.raises(KeyError, match=r"namespace\.missing"):
        value({"data": "namespace.missing"})


def test_list_default_replaces_the_whole():
    entry = {"data": [HOST, {"source": "namespace.missing"}], "default": "none", "path_join": True}
    assert value(entry) == "none"


@pytest.mark.parametrize("entry", [5, None, {}, {"target": "x"}])
def test_invalid_resolvable_is_an_error(entry):
    with pytest.raises(TypeError):
        value(entry)
