"""The style check finds what its rules describe, in every kind of text."""

import pytest

from prose.rules import EXCEPTIONS, RULES, violations
from prose.texts import texts_of


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_rule_finds_its_examples(rule):
    for sentence in rule.found:
        assert rule in violations(sentence), sentence
    for sentence in rule.left:
        assert rule not in violations(sentence), sentence


@pytest.mark.parametrize("phrase", EXCEPTIONS)
def test_exceptions_are_not_reported(phrase):
    assert not list(violations(f"Whoever reads this finds {phrase}."))


def test_python_texts_are_docstrings_comments_and_messages(tmp_path):
    path = tmp_path / "module.py"
    path.write_text(
        '"""Module text.\n\nSecond paragraph.\n"""\n'
        "# A comment that goes on\n# in the next line.\n"
        "LIMIT = 1\n"
        '"""An attribute."""\n'
        "def f(name):\n"
        '    raise ValueError(f"{name} is not a name")  # noqa: TRY003\n'
    )
    assert [(text.line, text.kind, text.words) for text in texts_of(path)] == [
        (1, "docstring", "Module text."),
        (3, "docstring", "Second paragraph."),
        (8, "docstring", "An attribute."),
        (5, "comment", "A comment that goes on in the next line."),
        (10, "message", "{} is not a name"),
    ]


def test_python_texts_leave_out_code_tables_and_lists_of_names(tmp_path):
    path = tmp_path / "module.py"
    names = " ".join(f"name{number} of it" for number in range(11))
    path.write_text(
        '"""Module text.\n\n* An item\n* Another\n\n| a table | b |\n\n    an example\n"""\n'
        "# --- A heading\n#\n# A comment.\n"
        f"NAMES = '{names}'.split()\n"
        "SOURCE = 'public fun id(this is code) {'\n"
    )
    assert [text.words for text in texts_of(path)] == [
        "Module text.",
        "An item",
        "Another",
        "A heading",
        "A comment.",
    ]


def test_page_texts_leave_out_code_blocks_and_hidden_blocks(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(
        "<!-- python\n\nno text here\n-->\n\n"
        "# Title\n\nFirst line\nsecond line.\n\n```console\n$ no text here\n```\n\n* An item\n"
        "* Another\n\n| A head | b |\n|---|---|\n| a cell | `code` |\n"
    )
    assert [text.words for text in texts_of(path)] == [
        "Title",
        "First line second line.",
        "An item",
        "Another",
        "A head",
        "a cell",
    ]


def test_move_texts_are_comments_and_error_texts(tmp_path):
    path = tmp_path / "tool.move"
    path.write_text(
        "/// Locks collateral\n/// for a tool.\n///\n/// | a | table |\npublic fun lock() {}\n"
        'const ENotOwner: vector<u8> = b"The account is not the owner.";\n'
    )
    assert sorted(text.words for text in texts_of(path)) == [
        "Locks collateral for a tool.",
        "The account is not the owner.",
    ]


def test_sentences_end_before_capital_letters(tmp_path):
    path = tmp_path / "page.md"
    path.write_text("Use `a. B` here. Then [a link](x.md) works, e.g. so. Done.\n")
    (text,) = texts_of(path)
    assert text.sentences() == ["Use CODE here.", "Then a link works, e.g. so.", "Done."]
