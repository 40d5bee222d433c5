"""Pages for looking something up: they list everything that exists, and nothing else."""

import re

import pytest

from documents.page import ROOT, Page
from website import errors
from website.raised import KINDS

TROUBLESHOOTING = Page.read("docs/troubleshooting.md").text
ENTRIES = re.split(r"^### ", TROUBLESHOOTING, flags=re.MULTILINE)[1:]
MADE = {"__pycache__", ".pytest_cache", "build"}  # folders that commands create
CODE = re.compile(r"^\* Code: `(\w+)`, exit code (\d+)$", re.MULTILINE)


def test_troubleshooting_has_at_least_twenty_errors():
    assert len(ENTRIES) >= 20


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.split("\n")[0])
def test_troubleshooting_entry_has_an_existing_code_a_cause_and_a_solution(entry):
    [(code, exit_code)] = CODE.findall(entry)
    kinds = {name for name, raised in errors.all_by_kind().items() if code in _codes(raised)}
    assert int(exit_code) in {KINDS[name].exit_code for name in kinds}
    assert re.search(r"^error: ", entry, re.MULTILINE)
    assert len(re.findall(r"^\* (?:Cause|Solution): ", entry, re.MULTILINE)) == 2


def test_meaning_of_an_error_is_not_its_code():
    """The texts of an error class come from the calls of the class, not of other constructors."""
    found = {error for raised in errors.all_by_kind().values() for error in raised}
    assert {error.code for error in found if error.message == error.code} == set()
    [built] = [error.message for error in found if error.message.startswith("the build failed")]
    assert built == "the build failed: {reason}"
    assert {"dependency_missing", "not_built"} <= _codes(found)


def _codes(raised):
    return {error.code for error in raised}


def test_examples_page_links_every_example():
    """An example is a file, or a folder whose files belong together."""
    page = Page.read("docs/examples.md").text
    linked = {ROOT / name for name in re.findall(r"\]\(\.\./(examples/[\w/.-]+)\)", page)}
    files = {path for path in (ROOT / "examples").rglob("*") if path.is_file()}
    written = {path for path in files if not MADE & {*path.parts}}
    assert len(written) > 20
    assert {path for path in written if not linked & {path, *path.parents}} == set()


def test_examples_page_links_no_folder_of_several_examples():
    page = Page.read("docs/examples.md").text
    linked = set(re.findall(r"\]\(\.\./(examples/[\w/.-]+)\)", page))
    assert linked & {"examples/workflows", "examples/testing", "examples/bridges"} == set()
