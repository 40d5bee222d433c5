"""What stands beside the pages: the navigation, the pictures, the generated references."""

import re
import tomllib

import pytest

from documents import Page
from documents.page import ROOT, pages
from drawing import PICTURES
from nexus_tools.cli.app import app
from nexus_tools.tool import Problem, protocol
from website import commands, errors, move
from website.__main__ import BUILD, PAGES, PARTS

DOCS = ROOT / "docs"
NAMED = set(re.findall(r'"([\w/-]+\.md)"', (DOCS / "zensical.toml").read_text()))


def test_every_page_has_a_place_in_the_navigation():
    written = {name.removeprefix("docs/") for name in pages() if name.startswith("docs/")}
    assert written - NAMED == set()


def test_every_page_is_in_one_of_the_parts():
    """But for the tutorial, and for what contributors and auditors look for."""
    names = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    assert {name for name in names if "/" not in name} == {
        "tutorial.md",
        "architecture.md",
        "audit.md",
    }
    assert {name.split("/")[0] for name in names if "/" in name} == {*PARTS}


@pytest.mark.parametrize("name", [each for each in pages() if each.startswith("docs/")])
def test_the_first_sentence_of_a_page_says_for_whom_it_is_and_what_for(name):
    title, _, first = Page.read(name).text.split("\n")[:3]
    assert title.startswith("# ")
    assert re.match(r"For [\w`]", first), first


@pytest.mark.parametrize("name", pages())
def test_a_link_to_a_file_or_a_heading_leads_to_it(name):
    for place in re.findall(r"(?<!!)\[[^\]]*\]\(((?!https?:)[^)\s]+)\)", Page.read(name).text):
        path, _, anchor = place.partition("#")
        target = (ROOT / name).parent / path if path else ROOT / name
        assert target.exists(), place
        assert not anchor or anchor in anchors(target.read_text(encoding="utf-8")), place


def anchors(text):
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}


def test_a_page_that_the_code_names_is_there():
    folders = ("nexus_tools", "tests", "scripts", "deploy", "examples", "move")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    files += [ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", ROOT / "pyproject.toml"]
    texts = (path.read_bytes().decode(errors="ignore") for path in files)
    named = {name for text in texts for name in re.findall(r"\bdocs/[\w/-]+\.md\b", text)}
    assert len(named) > 5
    assert {name for name in named if not (ROOT / name).exists()} == set()


def test_the_navigation_has_four_parts():
    document = tomllib.loads((DOCS / "zensical.toml").read_text())
    first, *parts = document["project"]["nav"]
    assert first == "index.md"
    assert [list(part) for part in parts] == [["Tutorial"], ["Guides"], ["Concepts"], ["Reference"]]


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_what_is_drawn(name):
    drawn = (DOCS / "pictures" / f"{name}.svg").read_text(encoding="utf-8")
    assert PICTURES[name]() == drawn, "run scripts/pictures"


def test_there_is_no_other_picture():
    assert {path.stem for path in (DOCS / "pictures").iterdir()} == set(PICTURES)


@pytest.mark.parametrize("name", pages())
def test_a_picture_that_a_page_shows_is_there_and_says_what_it_shows(name):
    page = Page.read(name)
    for text, place in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", page.text):
        assert ((ROOT / name).parent / place).is_file()
        assert len(text) > 20


def test_every_command_has_its_section_in_the_reference():
    page = commands.page()
    for name, command in commands.leaves(app):
        assert f"\n## nexus-tools {name}\n" in page
        for parameter in command.params:
            shared = commands.SHARED & {*parameter.opts}
            if parameter.param_type_name == "option" and not (shared or parameter.hidden):
                assert f"`{parameter.opts[0]}`" in page


def test_every_error_has_a_code_a_sentence_and_its_class():
    raised = errors.raised_by_kind()
    assert len({each.code for kind in raised.values() for each in kind}) > 200
    assert all(each.means for kind in raised.values() for each in kind)
    assert "delay_not_over" in {each.code for each in raised["NotNowError"]}


def test_every_public_function_of_the_move_packages_is_in_the_reference():
    page = move.page()
    for path in (path for folder in move.SOURCES for path in folder.glob("*.move")):
        for name in re.findall(r"^public fun (\w+)", path.read_text(), re.MULTILINE):
            assert f"public fun {name}" in page


def test_what_is_built_is_not_committed():
    assert BUILD.relative_to(ROOT).parts[0] + "/" in (ROOT / ".gitignore").read_text().split()
    assert PAGES.is_relative_to(BUILD)


def test_the_protocol_of_tools_is_told_whole():
    """Each header, and each problem with its status and with what a Leader makes of it."""
    page = Page.read("docs/reference/tools.md").text
    assert [name for name in protocol.CALL_HEADERS if f"\n| `{name}` |" not in page] == []
    rows = re.findall(r"^\| (\d{3}) \| (.*?) \| (.*?) \|$", page, re.MULTILINE)
    told = {(code, int(row[0])): row[2] for row in rows for code in re.findall(r"`(\w+)`", row[1])}
    assert set(told) == {(problem.code, problem.status) for problem in Problem}
    for (code, status), leader in told.items():
        assert leader.startswith("asks again") == protocol.may_try_again(status, code)
        assert f"`{protocol.failure_reason(status, code)}`" in leader
