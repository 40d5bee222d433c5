import pytest

from nexus_tools.errors import ValidationError
from nexus_tools.tool import canonical_json, json_pointer, measure, parse_json
from nexus_tools.tool.strict_json import canonical_elements


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b'{"a": 1, "a": 2}', "occurs twice"),
        (b'[{"b": {"c": 1, "c": 1}}]', "occurs twice"),
        (b"[NaN]", "NaN"),
        (b"[-Infinity]", "-Infinity"),
        (b"[1e999]", "too large"),
        (b'"\xff"', "UTF-8"),
        (b'"\\ud800"', "surrogate"),
        (b'"\xed\xa0\x80"', "UTF-8"),
        (b"\xef\xbb\xbf{}", "invalid JSON"),
        (b'{"a": 1} x', "Extra data"),
        (b"", "Expecting value"),
        (b"[" * 66 + b"]" * 66, "deeper than 64"),
        (b"[" * 100_000, "invalid JSON"),
        (b"9" * 5_000, "too many digits"),
    ],
)
def test_hostile_text_is_refused(text, problem):
    with pytest.raises(ValidationError, match=problem) as caught:
        parse_json(text)
    assert caught.value.code == "json_invalid"


def test_values_that_every_reader_agrees_on_are_parsed():
    assert parse_json('{"ä": [1, 2.5, "\\ud83d\\ude00", null, true]}'.encode()) == {
        "ä": [1, 2.5, "😀", None, True]
    }


def test_sixty_four_levels_are_parsed():
    assert measure(parse_json(b"[" * 64 + b"]" * 64)).depth == 64


def test_canonical_json_has_sorted_names_and_no_spaces():
    assert canonical_json({"b": [1, {"z": "é", "y": None}], "a": True}) == (
        '{"a":true,"b":[1,{"y":null,"z":"é"}]}'.encode()
    )


@pytest.mark.parametrize(
    "values",
    [
        [],
        [1, -2.5, True, None, "é"],
        ["\x1e", ",", '"'],
        [[1, 2], {"b": 1, "a": [3, 4]}],
        ["x", []],
    ],
)
def test_canonical_elements_match_canonical_list(values):
    elements = canonical_elements(values)
    assert elements == [canonical_json(value) for value in values]
    assert b"[" + b",".join(elements) + b"]" == canonical_json(values)


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, b"x", "\ud800"])
def test_canonical_json_rejects_other_values(value):
    with pytest.raises(ValidationError):
        canonical_json(value)


def test_extent_counts_values_levels_and_stretches_of_text():
    extent = measure({"a": [1, 2, {"b": None}], "c": "x" * 80})
    # object, array, 1, 2, object, null: six; one text.
    assert (extent.nodes, extent.depth) == (7, 3)
    assert extent.text == 80 // 8


@pytest.mark.parametrize("value", [float("inf"), [b"x"], {1: 2}, {"a": object()}])
def test_invalid_json_values_are_not_measured(value):
    with pytest.raises(ValidationError):
        measure(value)


def test_pointers_escape_as_rfc_6901_says():
    assert json_pointer(["a/b", "m~n", 0, ""]) == "/a~1b/m~0n/0/"
