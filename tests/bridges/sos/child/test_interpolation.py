import pytest

from nexus_tools.bridges.sos.child.interpolation import (
    GivenText,
    Interpolation,
    InterpolationError,
)

ROOT = {
    "namespace": {
        "host": "h",
        "port": 8050,
        "url": "http://${namespace.host}:${namespace.port}",
        "which": "host",
        "list": [1, "${namespace.port}"],
        "given": GivenText("${namespace.host}"),
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
def test_text_is_filled_in(text, expected):
    assert filled(text) == expected


def test_everything_in_a_tree_is_filled_in_and_the_tree_stays():
    tree = {"a": ["${namespace.host}"], "b": 1}
    assert filled(tree) == {"a": ["h"], "b": 1}
    assert tree == {"a": ["${namespace.host}"], "b": 1}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("${namespace.missing}", "leads nowhere"),
        ("${}", "leads nowhere"),
        ("${.relative}", "leads nowhere"),
        ("${oc.env:HOME}", "leads nowhere"),
        ("${namespace.host", "has no end"),
        ("${loop}", "leads to itself"),
    ],
)
def test_what_cannot_be_filled_in_is_an_error(text, words):
    with pytest.raises(InterpolationError, match=words):
        filled(text)


def test_what_tools_may_have_set_since_is_taken_as_it_is():
    assert filled("${namespace.url}", is_settled=True) == ROOT["namespace"]["url"]


def test_actions_are_filled_in_when_they_are_referred_to():
    assert filled("${action.a}", is_settled=False) == "http://h:8050"
