"""Each line of the tables in `docs/bridges.md` and `docs/lending.md` names a test that exists."""

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
DOCS = TESTS.parent / "docs"
# By page: the heading that the tables begin with, and how many lines they have at least.
TABLES = {
    "bridges": ("\n## Every tool's process", 150),
    "lending": ("\n## What MCP clients see", 60),
}
NAMED = re.compile(r"`([\w/]+\.py)::(test_\w+)`")
SYSTEMS = ("Unstract", "SOS-Toolkit", "NORA", "Hyperpocket", "MCP")


def text_of(page):
    return (DOCS / f"{page}.md").read_text()


def names_in(path):
    return {
        node.name
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


@pytest.mark.parametrize(
    ("page", "file", "test"),
    [(page, *named) for page in TABLES for named in sorted(set(NAMED.findall(text_of(page))))],
    ids=str,
)
def test_a_line_of_the_tables_names_a_test_that_exists(page, file, test):
    assert test in names_in(TESTS / page / file)


@pytest.mark.parametrize("page", TABLES)
def test_every_line_of_the_tables_names_a_test(page):
    heading, least = TABLES[page]
    text = text_of(page)
    lines = [line for line in text[text.index(heading) :].splitlines() if line.startswith("| ")]
    terms = [line for line in lines if not line.startswith("| In the document")]
    assert len(terms) > least
    assert [line for line in terms if not NAMED.search(line)] == []


@pytest.mark.parametrize("system", SYSTEMS)
def test_each_system_has_a_table_and_a_page(system):
    assert f"\n## {system}" in text_of("bridges")
    name = system.lower().removesuffix("-toolkit")
    assert (DOCS / "bridges" / f"{name}.md").exists()
