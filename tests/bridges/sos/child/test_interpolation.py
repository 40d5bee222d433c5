import pytest

from nexus_tools.bridges.sos.child.interpolation import (
    Interpolation,
    InterpolationError,
    LiteralText,
)

ROOT = {
    "namespace": {
        "host": "h",
        "port": 8050,
        "url": "http://${namespace.host}:${namespace.port}",
        "which": "host",
        "list": [1, "${namespace.port}"],
        "given": LiteralText("${namespace.host}"),
    },
    "loop": "${loop}",
    "action": {"a": "${namespace.url}"},
}


def filled(node, *, is_settled=False):
    return Interpolation(ROOT, is_settled=is_settled).filled(node)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("${namespace.port}", 8050),
        ("<${namespace.port}>", "<8050>"),
        ("${namespace.host}${namespace.port}", "h8050"),
        ("${namespace.url}", "http://h:8050"),
        ("${namespace.list}", [1, 8050]),
        ("${namespace.list[1]}", 8050),
        ("${namespace.${namespace.which}}!", "h!"),
        ("${namespace.given}", "${namespace.host}"),
        ("a $ b {c} }", "a $ b {c} }"),
    ],
)
def test_text_is_interpolated(text, expected):
    assert filled(text) == expected


def test_whole_tree_is_interpolated_and_the_original_stays():
    tree = {"a": ["${namespace.host}"], "b": 1}
    assert filled(tree) == {"a": ["h"], "b": 1}
    assert tree == {"a": ["${namespace.host}"], "b": 1}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("${namespace.missing}", "cannot resolve"),
        ("${}", "cannot resolve"),
        ("${.relative}", "cannot resolve"),
        ("${oc.env:HOME}", "cannot resolve"),
        ("${namespace.host", "is not closed"),
        ("${loop}", "refers to itself"),
    ],
)
def test_unresolvable_reference_is_an_error(text, words):
    with pytest.raises(InterpolationError, match=words):
        filled(text)


def test_settled_values_are_used_unchanged():
    assert filled("${namespace.url}", is_settled=True) == ROOT["namespace"]["url"]


def test_referenced_actions_are_interpolated():
    assert filled("${action.a}", is_settled=False) == "http://h:8050"
