"""Templates taken apart. The sentences are those of the network's own nodes."""

import pytest

from nexus_tools.localnet.rpc.values.display_template import (
    FieldPath,
    TemplateError,
    parse_template,
)


def text(template):
    return "".join(part for part in template if isinstance(part, str))


def path(*names):
    return FieldPath(names)


def test_text_stands_for_itself():
    assert text(parse_template("all of it, and ünïcode")) == "all of it, and ünïcode"
    assert parse_template("") == ()


def test_paths_stand_between_braces():
    assert parse_template("{a}{b.c}") == (path("a"), path("b", "c"))
    assert parse_template("<{ a . _b\n}>") == ("<", path("a", "_b"), ">")


@pytest.mark.parametrize(
    ("source", "meant"),
    [(r"\{a\}", "{a}"), (r"a\\b", r"a\b"), ("a\\", "a\\"), (r"\a", "a")],
)
def test_a_backslash_takes_the_meaning_away(source, meant):
    template = parse_template(source)
    assert text(template) == meant
    assert all(isinstance(part, str) for part in template)


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("{a.b!}", 'Invalid identifier "b!" at offset 3'),
        ("{_}", 'Invalid identifier "_" at offset 1'),
        ("{0}", 'Invalid identifier "0" at offset 1'),
        ("ü{a{}}", "Unexpected '{' at offset 4, expected one of '}', or '.'"),
        (
            "text}",
            "Unexpected '}' at offset 4, expected one of text, an escaped character, or '{'",
        ),
        ("{a b}", "Unexpected identifier \"b\" at offset 3, expected one of '}', or '.'"),
        ("{ }", "Unexpected '}' at offset 2, expected an identifier"),
        ("{a..b}", "Unexpected '.' at offset 3, expected an identifier"),
        ("{a", "Unexpected end-of-string, expected one of '}', or '.'"),
        ("{ ", "Unexpected end-of-string, expected an identifier"),
        (
            "{" + ".".join("abcdefghijk") + "}",
            "Field access at offset 20 deeper than the maximum of 10",
        ),
    ],
)
def test_what_is_no_template_is_said_so(source, sentence):
    with pytest.raises(TemplateError) as caught:
        parse_template(source)
    assert str(caught.value) == sentence
