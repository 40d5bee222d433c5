"""The editor for JSON with comments, on examples and on generated files."""

import json
import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_tools.cli.mcp.jsonc import Document, JsoncError

ENTRY = {"command": "run", "args": ["a", "b"]}
PATH = ("servers", "new")


def edited(text, value=ENTRY, path=PATH):
    return Document(text, comments=True).with_value(path, value).text


# --- Examples, written by hand


@pytest.mark.parametrize("text", ["", "\n", "{}", "{\n}\n"])
def test_value_is_added_to_an_empty_file(text):
    assert edited(text, {"a": 1}).rstrip() == (
        '{\n  "servers": {\n    "new": {\n      "a": 1\n    }\n  }\n}'
    )


def test_comments_order_and_indentation_are_kept():
    text = """\
// settings
{
\t"theme": "dark", // mine
\t/* servers */
\t"servers": {
\t\t"old": {"command": "x"} // keep
\t\t// the end
\t},
\t"zoom": 1,
}
"""
    assert edited(text, {"a": 1}) == text.replace(
        '"x"} // keep\n', '"x"}, // keep\n\t\t"new": {\n\t\t\t"a": 1\n\t\t}\n'
    )


def test_trailing_comma_is_kept():
    text = '{\n    "servers": {\n        "old": 1, // one\n    },\n}\n'
    expected = (
        '{\n    "servers": {\n        "old": 1, // one\n        "new": {\n            "a": 2\n'
        "        },\n    },\n}\n"
    )
    assert edited(text, {"a": 2}) == expected


def test_object_on_one_line_stays_on_one_line():
    assert edited('{"servers": {"old": 1}}', {"a": 2}) == (
        '{"servers": {"old": 1, "new": {"a": 2}}}'
    )


def test_line_breaks_of_windows_are_kept():
    text = '{\r\n  "servers": {\r\n    "old": 1\r\n  }\r\n}\r\n'
    assert edited(text, {"a": 2}) == (
        '{\r\n  "servers": {\r\n    "old": 1,\r\n    "new": {\r\n      "a": 2\r\n    }\r\n'
        "  }\r\n}\r\n"
    )


def test_old_value_is_replaced_at_its_position():
    text = '{\n  "servers": {\n    "new": {\n      "x": 1\n    }, // ours\n    "z": 1\n  }\n}\n'
    assert edited(text, {"a": 2}) == text.replace('"x": 1', '"a": 2')


@pytest.mark.parametrize(
    "text",
    [
        '{\n  "servers": {\n    "old": 1\n  }\n}\n',
        '{\n  "servers": {\n    "old": 1, // one\n  }\n}\n',
        '{"servers": {"old": 1}, "b": [1, 2]}',
        '{\r\n\t"servers": {\r\n\t\t"old": 1 /* x */\r\n\t}\r\n}',
    ],
)
def test_removal_of_an_added_value_restores_the_text(text):
    added = Document(text, comments=True).with_value(PATH, ENTRY)
    assert added.without(PATH).text == text


def test_removal_of_a_first_member_keeps_the_next_one():
    text = '{\n  "servers": {\n    "new": {},\n    // two\n    "b": 2\n  }\n}\n'
    removed = Document(text, comments=True).without(PATH).text
    assert removed == text.replace('\n    "new": {},', "")


def test_removal_of_the_last_member_keeps_the_comment_before_it():
    text = '{"servers": {\n  "a": 1, // one\n  "new": 2 }}'
    removed = Document(text, comments=True).without(PATH)
    assert removed.value == {"servers": {"a": 1}}
    assert "// one\n" in removed.text


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', 3, 3),
        ("[]", 1, 1),
        ('{"a": 1} // c\n x', 2, 2),
        ("{,}", 1, 2),
        ('{"a": [1,,]}', 1, 10),
        ('{\n  "a": NaN}', 2, 8),
        ('{"a": "NaN", "b": -Infinity}', 1, 19),
        ("{ /* no end", 1, 3),
        ('{"servers": 5}', 1, 13),
        ('{"servers": {},\n "servers": {}}', 2, 2),
    ],
)
def test_errors_have_a_line_and_a_column(text, line, column):
    with pytest.raises(JsoncError) as refused:
        Document(text, comments=True).with_value(PATH, 1)
    assert (refused.value.line, refused.value.column) == (line, column)


@pytest.mark.parametrize("text", ['{"a": 1,}', "{} // c", '{"a": /* c */ 1}'])
def test_strict_files_have_neither_comments_nor_trailing_commas(text):
    Document(text, comments=True)
    with pytest.raises(JsoncError):
        Document(text, comments=False)


def test_comment_signs_in_strings_are_text():
    text = '{"servers": {"a": "http://x /* y */ \\" // z,}"}}'
    assert edited(text, 1) == text[:-2] + ', "new": 1}}'


def test_deep_nesting_is_an_error():
    with pytest.raises(JsoncError, match="nesting"):
        Document('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", comments=True)


def test_numbers_of_any_length_are_kept():
    text = '{"servers": {"a": ' + "9" * 5_000 + "}}"
    assert edited(text, 1) == text[:-2] + ', "new": 1}}'


# --- Generated files

KEYS = st.text(alphabet='abnew/*"\\,}', max_size=4)
LEAVES = st.none() | st.booleans() | st.integers(-99, 99) | st.text('ab/*"{},\\\n', max_size=6)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
SERVERS = st.dictionaries(KEYS.filter(lambda key: key != "new"), VALUES, max_size=3)
GAPS = st.sampled_from(
    ["", "", " ", "\n", "\n  ", "\r\n\t", "/* c */", "// c, }\n", " /* { */ // [\r\n  ", "/* \n */"]
)


@st.composite
def files(draw):
    """Return an object with its members `servers`, and its text with comments."""
    rest = draw(st.dictionaries(KEYS.filter(lambda key: key != "servers"), VALUES, max_size=2))
    members = [*rest.items(), ("servers", draw(SERVERS))]
    value = dict(draw(st.permutations(members)))
    return value, draw(GAPS) + _text(draw, value) + draw(GAPS)


def _text(draw, value):
    def joined(items):
        comma = draw(st.sampled_from(["", ","])) if items else ""
        parts = (draw(GAPS) + item + draw(GAPS) for item in items)
        return ",".join(parts) + comma + draw(GAPS)

    if isinstance(value, list):
        return f"[{joined([_text(draw, item) for item in value])}]"
    if isinstance(value, dict):
        members = [
            f"{json.dumps(key)}{draw(GAPS)}:{draw(GAPS)}{_text(draw, item)}"
            for key, item in value.items()
        ]
        return f"{{{joined(members)}}}"
    return json.dumps(value)


def visible(text):
    return re.sub(r"\s", "", text)


@given(files())
def test_generated_file_is_read(file):
    value, text = file
    assert Document(text, comments=True).value == value


@given(files(), VALUES)
def test_added_value_changes_nothing_else(file, new):
    value, text = file
    document = Document(text, comments=True).with_value(PATH, new)
    assert document.value == value | {"servers": value["servers"] | {"new": new}}
    assert visible(document.without(PATH).text) == visible(text)


@given(files(), VALUES)
def test_replaced_value_changes_nothing_else(file, new):
    value, text = file
    document = Document(text, comments=True)
    for key in value["servers"]:
        changed = document.with_value(("servers", key), new)
        assert changed.value == value | {"servers": value["servers"] | {key: new}}
        removed = document.without(("servers", key))
        rest = {name: old for name, old in value["servers"].items() if name != key}
        assert removed.value == value | {"servers": rest}
        assert [*removed.value["servers"]] == [*rest]


@given(st.text(alphabet='{}[]:,"\\/* \n1aN', max_size=30))
def test_any_text_is_an_object_or_an_error(text):
    with suppress(JsoncError):
        assert Document(text, comments=True).with_value(("k",), 1).value["k"] == 1
