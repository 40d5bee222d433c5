import os

import pytest

from nexus_tools.bridges.sandbox import ProcessLimits
from nexus_tools.bridges.unstract.program import check_size, copy_tool
from nexus_tools.errors import ValidationError


@pytest.fixture
def place(tmp_path):
    folder = tmp_path / "place"
    (folder / "src" / "config").mkdir(parents=True)
    (folder / "src" / "main.sh").write_text("#!/bin/sh\n")
    (folder / "src" / "main.sh").chmod(0o755)
    return folder


def copied(place, tmp_path, limits=None):
    target = tmp_path / "copy"
    copy_tool(place, target, limits or ProcessLimits())
    return target


def test_copy_has_the_files_and_their_modes(place, tmp_path):
    copy = copied(place, tmp_path)
    assert (copy / "src" / "main.sh").read_text() == "#!/bin/sh\n"
    assert os.access(copy / "src" / "main.sh", os.X_OK)
    assert (copy / "src" / "config").is_dir()


@pytest.mark.parametrize("name", [".git", ".venv", "venv", "__pycache__", ".ruff_cache"])
def test_copy_omits_project_files(place, tmp_path, name):
    (place / name).mkdir()
    (place / name / "large").write_text("x")
    assert not (copied(place, tmp_path) / name).exists()


def test_copy_omits_virtual_environments_of_any_name(place, tmp_path):
    (place / "my-env").mkdir()
    (place / "my-env" / "pyvenv.cfg").touch()
    assert not (copied(place, tmp_path) / "my-env").exists()


def test_copy_omits_the_developers_environment_file(place, tmp_path):
    (place / "src" / ".env").write_text("KEY=secret")
    assert not (copied(place, tmp_path) / "src" / ".env").exists()


def test_links_lead_into_the_copy_or_to_the_same_target(place, tmp_path):
    (tmp_path / "shared.txt").write_text("shared")
    (place / "inside").symlink_to("src/main.sh")
    (place / "outside").symlink_to("../shared.txt")
    copy = copied(place, tmp_path)
    assert (copy / "inside").resolve() == (copy / "src" / "main.sh").resolve()
    assert (copy / "outside").read_text() == "shared"


def test_circular_link_is_copied_unchanged(place, tmp_path):
    (place / "src" / "up").symlink_to("..")
    assert (copied(place, tmp_path) / "src" / "up").is_symlink()


def test_copy_omits_pipes_and_sockets(place, tmp_path):
    os.mkfifo(place / "pipe")
    assert not (copied(place, tmp_path) / "pipe").exists()


def test_tool_may_use_half_of_a_scratch_directory(place):
    (place / "data").write_bytes(b"x" * 2**20)
    check_size(place, ProcessLimits(disk_bytes=4 * 2**20))
    with pytest.raises(ValidationError) as caught:
        check_size(place, ProcessLimits(disk_bytes=2**20))
    assert caught.value.code == "tool_too_large"
    with pytest.raises(ValidationError):
        check_size(place, ProcessLimits(files=4))
