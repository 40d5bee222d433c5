"""The tables of `docs/lending.md` name tests that exist."""

import ast
import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PAGE = (HERE.parents[1] / "docs" / "lending.md").read_text()
NAMED = sorted(set(re.findall(r"`([\w/]+\.py)::(test_\w+)`", PAGE)))


def names_in(path):
    return {
        node.name
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


@pytest.mark.parametrize(("file", "test"), NAMED, ids=str)
def test_a_line_of_the_tables_names_a_test_that_exists(file, test):
    assert test in names_in(HERE / file)


def test_every_line_of_the_tables_names_a_test():
    tables = PAGE[PAGE.index("\n## What MCP clients see") :]
    lines = [line for line in tables.splitlines() if line.startswith("| ")]
    terms = [line for line in lines if not line.startswith("| In the document")]
    assert len(terms) > 60
    assert [line for line in terms if not re.search(r"`[\w/]+\.py::test_\w+`", line)] == []
