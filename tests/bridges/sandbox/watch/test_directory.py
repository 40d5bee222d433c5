"""The size of a directory."""

from pathlib import Path

import pytest

from nexus_tools.bridges.sandbox.watch.directory_size import exceeds_limits

MUCH = 2**40


@pytest.fixture
def folder(tmp_path):
    """Return a folder with three files of 5000 bytes and two folders: five entries."""
    for place in (tmp_path, tmp_path / "a", tmp_path / "a/b"):
        place.mkdir(exist_ok=True)
        (place / "file").write_bytes(b"x" * 5000)
    return str(tmp_path)


def test_files_and_folders_are_counted(folder):
    assert not exceeds_limits(folder, disk_bytes=MUCH, files=5)
    assert exceeds_limits(folder, disk_bytes=MUCH, files=4)


def test_file_counts_with_its_nominal_size(tmp_path):
    """A sparse file uses no blocks, but can be filled at any time."""
    with (tmp_path / "hole").open("wb") as file:
        file.truncate(2**20)

    assert exceeds_limits(str(tmp_path), disk_bytes=2**20 - 1, files=9)
    assert not exceeds_limits(str(tmp_path), disk_bytes=2**20, files=9)


def test_bytes_are_counted_over_all_folders(folder):
    assert exceeds_limits(folder, disk_bytes=14_999, files=9)
    assert not exceeds_limits(folder, disk_bytes=3 * 8192, files=9)


def test_links_are_not_followed(tmp_path, folder):
    here = tmp_path / "here"
    here.mkdir()
    (here / "around").symlink_to(here)
    (here / "out").symlink_to(folder)

    assert not exceeds_limits(str(here), disk_bytes=2 * 4096, files=2)


def test_missing_directory_is_empty(tmp_path):
    assert not exceeds_limits(str(tmp_path / "gone"), disk_bytes=0, files=0)


@pytest.mark.parametrize("mode", [0o000, 0o400, 0o100])
def test_inaccessible_folder_is_counted(folder, mode):
    Path(folder, "a").chmod(mode)

    assert exceeds_limits(folder, disk_bytes=MUCH, files=4)
