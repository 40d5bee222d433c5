import pytest

from nexus_tools.errors import NotFoundError
from nexus_tools.sui.localnet.compiler import read_sources, sources_digest


@pytest.fixture
def folder(tmp_path):
    for path, text in {
        "Move.toml": '[package]\nname = "sample"\n',
        "sources/main.move": "module sample::main;\n",
        "sources/deep/more.move": "module sample::more;\n",
        "tests/main_tests.move": "module sample::main_tests;\n",
        "README.md": "# Sample\n",
        "build/main.move": "module sample::stale;\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def test_manifest_sources_and_tests_are_read(folder):
    assert read_sources(folder) == {
        "Move.toml": '[package]\nname = "sample"\n',
        "sources/deep/more.move": "module sample::more;\n",
        "sources/main.move": "module sample::main;\n",
        "tests/main_tests.move": "module sample::main_tests;\n",
    }


def test_folder_without_manifest_is_not_a_package(tmp_path):
    with pytest.raises(NotFoundError, match=r"no Move\.toml"):
        read_sources(tmp_path)


@pytest.mark.parametrize("path", ["Move.toml", "sources/main.move", "sources/deep/more.move"])
def test_digest_changes_with_bytecode_inputs(folder, path):
    before = sources_digest(folder)
    (folder / path).write_text("// changed\n")
    assert sources_digest(folder) != before


def test_digest_changes_with_a_name(folder):
    before = sources_digest(folder)
    (folder / "sources/main.move").rename(folder / "sources/other.move")
    assert sources_digest(folder) != before


@pytest.mark.parametrize("path", ["tests/main_tests.move", "README.md", "build/main.move"])
def test_digest_ignores_other_changes(folder, path):
    before = sources_digest(folder)
    (folder / path).write_text("// changed\n")
    assert sources_digest(folder) == before


def test_line_ends_are_ignored(folder):
    before = sources_digest(folder)
    (folder / "sources/main.move").write_bytes(b"module sample::main;\r\n")
    assert sources_digest(folder) == before
