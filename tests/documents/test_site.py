"""The website around the pages: the navigation, the diagrams, the generated references."""

import re
import shutil
import tomllib
from html import unescape
from zipfile import ZipFile

import pytest
from markdown import markdown

from documents import Page
from documents.page import ROOT, pages
from drawing import MAX_BYTES, PICTURES, SCHEMES, SCREENSHOTS
from nexus_tools.cli.app import app
from nexus_tools.tool import Problem, protocol
from website import __main__ as website_main
from website import commands, errors, move, settings
from website.__main__ import BUILD, GENERATED, PAGES, PARTS
from website.cells import flaw
from website.copying import mark_commands
from website.descriptions import describe_pages
from website.images import add_sizes

DOCS = ROOT / "docs"
FOLDER_HINT = (
    "If you created this project before, continue with it."
    " Otherwise choose another folder with --directory."
)
NAMED = set(re.findall(r'"([\w/-]+\.md)"', (DOCS / "zensical.toml").read_text()))


def test_every_page_is_in_the_navigation():
    written = {name.removeprefix("docs/") for name in pages() if name.startswith("docs/")}
    assert written - NAMED == set()


def test_every_page_is_in_one_of_the_folders():
    """Exceptions are pages for newcomers, for help, and for contributors and auditors."""
    names = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    assert {name for name in names if "/" not in name} == {
        *("index.md", "tutorial.md", "examples.md", "faq.md", "troubleshooting.md"),
        *("architecture.md", "audit.md"),
    }
    assert {name.split("/")[0] for name in names if "/" in name} == {*PARTS}


@pytest.mark.parametrize("name", [page for page in pages() if page.startswith("docs/")])
def test_pages_start_with_their_audience_or_purpose(name):
    title, _, first = Page.read(name).text.split("\n")[:3]
    assert title.startswith("# ")
    assert re.match(r"For [\w`]|This page |After reading ", first), first


@pytest.mark.parametrize("name", pages())
def test_links_to_files_and_headings_are_valid(name):
    for place in re.findall(r"(?<!!)\[[^\]]*\]\(((?!https?:)[^)\s]+)\)", Page.read(name).text):
        path, _, anchor = place.partition("#")
        target = (ROOT / name).parent / path if path else ROOT / name
        assert target.exists(), place
        assert not anchor or anchor in anchors(target.read_text(encoding="utf-8")), place


def anchors(text):
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_pages_that_the_code_names_exist():
    folders = ("nexus_tools", "tests", "scripts", "deploy", "examples", "move")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    files += [ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", ROOT / "pyproject.toml"]
    texts = (path.read_bytes().decode(errors="ignore") for path in files)
    named = {name for text in texts for name in re.findall(r"\bdocs/[\w/-]+\.md\b", text)}
    assert len(named) > 5
    assert {name for name in named if not (ROOT / name).exists()} == set()


def test_navigation_has_a_part_for_each_role():
    document = tomllib.loads((DOCS / "zensical.toml").read_text())
    parts = {title: pages for part in document["project"]["nav"] for title, pages in part.items()}
    assert [*parts] == [
        *("Start", "Tool authors", "Callers", "Agents", "Operators", "Sui developers"),
        *("Reference", "Help", "Project"),
    ]
    assert parts["Start"][0] == "index.md"
    assert max(len(pages) for pages in parts.values()) <= 8


def test_pages_are_in_the_navigation_once():
    named = re.findall(r'"([\w./-]+\.md)"', (DOCS / "zensical.toml").read_text())
    assert sorted(named) == sorted(set(named))


@pytest.fixture
def assembled(tmp_path, monkeypatch):
    """Return the folder of the pages from which the website is built."""
    monkeypatch.setattr(website_main, "BUILD", tmp_path / "build")
    monkeypatch.setattr(website_main, "PAGES", tmp_path / "build" / "pages")
    return tmp_path / "build" / "pages"


def test_links_to_files_outside_of_docs_lead_to_copies(assembled):
    website_main.assemble()
    for page in assembled.rglob("*.md"):
        for place in re.findall(
            r"\[[^\]]*\]\(((?!https?:)[^)#\s]+)", page.read_text(encoding="utf-8")
        ):
            target = (page.parent / place).resolve()
            assert target.is_relative_to(assembled), f"{page}: {place}"
            assert target.is_file(), f"{page}: {place}"
    with ZipFile(assembled / "files" / "examples.zip") as archive:
        assert "examples/tools.py" in archive.namelist()
        assert archive.read("examples/tools.py") == (ROOT / "examples/tools.py").read_bytes()
    assert "## 0.1.0" in (assembled / "changelog.md").read_text(encoding="utf-8")


@pytest.mark.usefixtures("assembled")
def test_page_outside_the_navigation_is_not_built(monkeypatch):
    monkeypatch.setitem(GENERATED, "lost", settings)
    with pytest.raises(ValueError, match=r"does not name reference/lost\.md"):
        website_main.assemble()


CONSOLE = """$ cat &lt;a | \\
  wc &amp;&amp; echo "x"
<span class="go">3 $ of it</span>
<span class="gp">$ </span>nexus-tools<span class="w"> </span>stop
<span class="go">$5 was paid</span>
"""


def test_copy_buttons_copy_only_commands(tmp_path):
    page = tmp_path / "guide" / "index.html"
    page.parent.mkdir()
    block = '<div class="highlight"><pre><span></span><code>{}</code></pre></div>'
    python = block.format("print('$ no command')\n")
    page.write_text(block.format(CONSOLE) + python)
    mark_commands(tmp_path)
    first, second = page.read_text().split("</div>")[:2]
    (copied,) = re.findall('data-copy="([^"]*)"', first)
    assert unescape(copied) == 'cat <a | \\\n  wc && echo "x"\nnexus-tools stop'
    assert second == python.removesuffix("</div>")


PAGE = """<title>Explorer - nexus-tools</title><meta name="description" content="A site.">
<article><h1>Explorer</h1>
<p>After reading this page you can
<em>use</em> it &amp; "more".</p><p>Second.</p>{}</article>"""


def test_images_have_their_sizes_and_load_when_they_are_needed(tmp_path):
    pictures = ("loop.svg", "explorer-home.light.webp")
    (tmp_path / "pictures").mkdir()
    for name in pictures:
        shutil.copy(DOCS / "pictures" / name, tmp_path / "pictures")
    page = tmp_path / "guide" / "index.html"
    page.parent.mkdir()
    images = [f'<img alt="" src="../pictures/{name}#light" />' for name in pictures]
    page.write_text(PAGE.format("".join(images) + '<img src="https://example.com/a.png" />'))
    add_sizes(tmp_path)
    first, second, remote = re.findall(r"<img [^>]*>", page.read_text())
    assert 'width="760" height="330"' in first
    assert 'width="1200" height="800"' in second
    assert 'loading="lazy"' not in first
    assert 'loading="lazy"' in second
    assert remote == '<img src="https://example.com/a.png" />'


def test_image_without_a_size_is_an_error(tmp_path):
    (tmp_path / "index.html").write_text('<img src="a.svg" />')
    (tmp_path / "a.svg").write_text("<svg></svg>")
    with pytest.raises(ValueError, match=r"a\.svg does not name its width and height"):
        add_sizes(tmp_path)


def test_pages_are_described_by_their_first_paragraph(tmp_path):
    page = tmp_path / "guide" / "index.html"
    page.parent.mkdir()
    page.write_text(PAGE)
    home = tmp_path / "index.html"
    home.write_text(PAGE.replace("Explorer -", "nexus-tools -"))
    describe_pages(tmp_path)
    described = 'content="After reading this page you can use it &amp; &quot;more&quot;."'
    assert described in page.read_text()
    assert "<title>Explorer - nexus-tools</title>" in page.read_text()
    assert 'content="A site."' in home.read_text()
    assert "<title>nexus-tools</title>" in home.read_text()


@pytest.mark.parametrize("name", PICTURES)
def test_diagrams_are_up_to_date(name):
    drawn = (DOCS / "pictures" / f"{name}.svg").read_text(encoding="utf-8")
    assert PICTURES[name]() == drawn, "run scripts/pictures"


def test_all_pictures_are_drawn():
    drawn = {f"{name}.svg" for name in PICTURES}
    taken = {f"{name}.{scheme}.webp" for name in SCREENSHOTS for scheme in SCHEMES}
    assert {path.name for path in (DOCS / "pictures").iterdir()} == drawn | taken


@pytest.mark.parametrize("name", SCREENSHOTS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_screenshots_are_small_and_stand_on_a_page(name, scheme):
    path = DOCS / "pictures" / f"{name}.{scheme}.webp"
    assert path.stat().st_size <= MAX_BYTES
    assert path.read_bytes()[8:12] == b"WEBP"
    assert any(path.name in Page.read(name).text for name in pages())


@pytest.mark.parametrize("name", pages())
def test_pictures_of_pages_exist_and_have_alternative_texts(name):
    page = Page.read(name)
    for text, place in re.findall(r"!\[([^\]]*)\]\(([^)#]+)[^)]*\)", page.text):
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


def test_every_error_has_a_code_a_meaning_and_an_instruction():
    raised = errors.all_by_kind()
    texts = [
        text for kind in raised.values() for error in kind for text in (error.message, error.hint)
    ]
    assert len({error.code for kind in raised.values() for error in kind}) > 200
    assert [(text, flaw(text)) for text in texts if flaw(text)] == []
    codes = {name: {error.code for error in kind} for name, kind in raised.items()}
    assert "delay_not_over" in codes["WrongStateError"]
    assert "schema_invalid" in codes["ValidationError"]  # an argument of a helper
    assert "invocation_failed" in codes["NexusError"]  # in the constructor of a subclass


def test_error_texts_come_from_constants_helpers_and_callers():
    raised = errors.all_by_kind()
    hints = {(error.code, error.hint) for kind in raised.values() for error in kind}
    assert ("framework_not_found", "Run `pip install 'nexus-tools[localnet]'`.") in hints
    assert ("folder_not_empty", FOLDER_HINT) in hints
    (told,) = {error.message for error in raised["WrongStateError"] if error.code == "state_locked"}
    assert told == "the state in {path} is in use by another process"


@pytest.mark.parametrize("name", GENERATED)
def test_cells_of_generated_pages_show_their_whole_text(name):
    text = GENERATED[name].page()
    shown = unescape(markdown(text, extensions=["tables", "attr_list", "fenced_code"]))
    for brace in "{}":
        assert shown.count(brace) == text.count(brace)
    assert not re.search(r"<td [^>]*>", shown)


@pytest.mark.parametrize(
    ("text", "is_whole"),
    [
        ("the file {path} is missing", True),
        ("{path}: {error}", False),
        ("cannot read it:", False),
        ("the rest of {hint}", False),
        ("choose {}", False),
        ("", False),
    ],
)
def test_flaw_finds_incomplete_texts(text, is_whole):
    assert (not flaw(text)) is is_whole


def test_page_of_errors_is_not_built_with_a_flaw(monkeypatch):
    monkeypatch.setitem(errors.REMEDIES, "UsageError", "see:")
    with pytest.raises(ValueError, match="its end is missing"):
        errors.page()


def test_every_public_move_function_is_in_the_reference():
    page = move.page()
    for path in (path for folder in move.SOURCES for path in folder.glob("*.move")):
        for name in re.findall(r"^public fun (\w+)", path.read_text(), re.MULTILINE):
            assert f"public fun {name}" in page


def test_build_output_is_not_committed():
    assert BUILD.relative_to(ROOT).parts[0] + "/" in (ROOT / ".gitignore").read_text().split()
    assert PAGES.is_relative_to(BUILD)


def test_tool_protocol_is_documented_completely():
    """It covers each header, and each problem with its status and the Leader's reaction."""
    page = Page.read("docs/reference/tools.md").text
    assert [name for name in protocol.CALL_HEADERS if f"\n| `{name}` |" not in page] == []
    rows = re.findall(r"^\| (\d{3}) \| (.*?) \| (.*?) \|$", page, re.MULTILINE)
    told = {(code, int(row[0])): row[2] for row in rows for code in re.findall(r"`(\w+)`", row[1])}
    assert set(told) == {(problem.code, problem.status) for problem in Problem}
    for (code, status), leader in told.items():
        assert leader.startswith("tries again") == protocol.is_retryable(status, code)
        assert f"`{protocol.failure_reason(status, code)}`" in leader
