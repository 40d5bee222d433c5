"""README and docs, followed block by block in a fresh folder."""

import re
from pathlib import Path

import pytest

from documents import Page, PageRunner, environment_of
from documents.page import EXECUTED, ROOT, pages
from documents.walk import PROGRAMS, fresh_folder

# Languages of blocks that are not run.
READ = ("text", "json", "toml", "yaml", "ini", "move", "mermaid", "dockerfile", "systemd")
PAGES = pages()
# The pages that most readers follow first. All other pages are followed by .ci/run, which forks the
# commands of one process instead of starting a new process for each command.
USUAL = (
    "README.md",
    "docs/tutorial.md",
    "docs/guides/tools.md",
    "docs/guides/workflows.md",
)


def _page(name):
    return pytest.param(name, marks=() if name in USUAL else pytest.mark.long)


@pytest.fixture
def services_of_page(postgres, tmp_path):
    """Return a function that executes the SQL of a page and writes its service file."""
    created = []

    def prepare(page):
        [sql] = [block.text for block in page.blocks if "CREATE DATABASE" in block.text]
        for statement in filter(str.strip, sql.split(";")):
            postgres.execute(statement)
            created.extend(re.findall(r"CREATE ((?:DATABASE|ROLE) \w+)", statement))
        [services] = [block.text for block in page.blocks if block.language == "ini"]
        file = tmp_path / "pg_service.conf"
        file.write_text(services.replace("db.example", str(postgres.folder)))
        return file

    yield prepare
    # The roles own the database, and have privileges in it.
    for name in sorted(created):
        postgres.execute(f"DROP {name}" + " WITH (FORCE)" * name.startswith("DATABASE"))


@pytest.mark.timeout(1_200)  # for slow machines: a page executes many commands
@pytest.mark.parametrize(
    "name",
    [
        _page(name)
        for name in PAGES
        if {block.language for block in Page.read(name).blocks} & {*EXECUTED}
    ],
)
def test_page_works_as_written(name, request, tmp_path, lend_compiler):
    programs = () if name in USUAL else (request.getfixturevalue("warm_programs"),)
    environment = environment_of(tmp_path / "home", *programs, PROGRAMS)
    environment["MYPYPATH"] = str(ROOT)  # The type checker does not see editable installs.
    if "postgres" in Page.read(name).given:
        services = request.getfixturevalue("services_of_page")(Page.read(name))
        environment["PGSERVICEFILE"] = str(services)
    lend_compiler(tmp_path / "home/.cache")
    folder = tmp_path / "folder"
    folder.mkdir()
    with PageRunner(fresh_folder(folder), environment, installs=False) as walk:
        walk.follow(Page.read(name))


def test_examples_show_the_commands_that_prepare_other_pages():
    given = (ROOT / "scripts/documents/given.md").read_text()
    page = Page.read("docs/examples.md")
    shown = "\n".join(block.text for block in page.blocks if block.language == "console")
    hidden = re.findall(r"^\$ .+", given, re.MULTILINE)
    assert [command for command in hidden if command not in shown] == []
    assert page.given == []


@pytest.mark.parametrize("name", PAGES)
def test_blocks_are_executed_or_of_a_read_only_language(name):
    assert {block.language for block in Page.read(name).blocks} <= {*EXECUTED, *READ}


@pytest.mark.parametrize("name", PAGES)
def test_written_files_are_executed_by_a_command(name):
    page = Page.read(name)
    typed = "\n".join(block.text for block in page.blocks if block.language == "console")
    for block in page.blocks:
        if block.language == "python" and block.title:
            name = Path(block.title).name
            is_test = name.startswith(("test_", "conftest")) and "pytest" in typed
            assert is_test or name in typed, block


@pytest.mark.parametrize("name", PAGES)
def test_page_has_no_fence_that_the_runner_overlooks(name):
    page = Page.read(name)
    fences = [line for line in page.text.splitlines() if line.lstrip().startswith(("```", "~~~"))]
    assert len(fences) == 2 * len([block for block in page.blocks if not block.is_hidden])


@pytest.mark.parametrize("name", PAGES)
def test_console_lines_are_commands_or_their_output(name):
    for block in Page.read(name).blocks:
        if block.language == "console":
            assert block.text.startswith(("$ ", "^C\n")), block
