"""Each row of the conformance tables in `docs/reference` names a test that exists."""

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
REFERENCE = TESTS.parent / "docs" / "reference"
# By page: the folder of its tests, and the minimum number of lines of its table.
TABLES = {
    "bridges/sandbox": ("bridges", 70),
    "bridges/unstract": ("bridges", 60),
    "bridges/sos": ("bridges", 40),
    "bridges/nora": ("bridges", 25),
    "bridges/hyperpocket": ("bridges", 35),
    "bridges/mcp": ("bridges", 45),
    "mcp-server": ("mcp_server", 15),
    "export": ("export", 25),
    "export-unstract": ("export", 20),
}
HEADING = re.compile(r"^## Conformance$", re.MULTILINE)
NAMED = re.compile(r"`([\w/.]+\.py)::(test_\w+)`")


def table_of(page):
    """Return the lines of the table at the end of a page."""
    _, text = HEADING.split((REFERENCE / f"{page}.md").read_text())
    return [
        line
        for line in text.splitlines()
        if line.startswith("| ") and not line.startswith("| Term |")
    ]


def names_in(path):
    return {
        node.name
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


@pytest.mark.parametrize(
    ("folder", "file", "test"),
    [
        (folder, *named)
        for page, (folder, _) in TABLES.items()
        for named in sorted(set(NAMED.findall("\n".join(table_of(page)))))
    ],
    ids=str,
)
def test_table_lines_name_existing_tests(folder, file, test):
    assert test in names_in(TESTS / folder / file)


@pytest.mark.parametrize("page", TABLES)
def test_every_table_line_names_a_test(page):
    lines = table_of(page)
    assert len(lines) > TABLES[page][1]
    assert [line for line in lines if not NAMED.search(line)] == []


def test_pages_with_test_tables_are_all_checked():
    pages = {path.relative_to(REFERENCE).as_posix() for path in REFERENCE.rglob("*.md")}
    assert {page for page in pages if HEADING.search((REFERENCE / page).read_text())} == {
        f"{page}.md" for page in TABLES
    }
