"""The directories of one run, and their removal with any content."""

import os
import shutil
import socket
import stat

import pytest

from nexus_tools.bridges.sandbox import Confinement, ScratchDirectory


def test_scratch_has_home_working_and_temporary_directories(tmp_path):
    with ScratchDirectory(tmp_path) as scratch:
        places = {scratch.home, scratch.work, scratch.temporary}

        assert len(places) == 3
        assert {place.parent for place in places} == {scratch.folder}
        assert all(place.is_dir() and not any(place.iterdir()) for place in places)


def test_scratch_is_accessible_only_to_its_owner(tmp_path):
    before = os.umask(0)
    try:
        with ScratchDirectory(tmp_path) as scratch:
            places = [scratch.folder, scratch.home, scratch.work, scratch.temporary]

            assert {stat.S_IMODE(place.stat().st_mode) for place in places} == {0o700}
    finally:
        os.umask(before)


def test_scratches_of_two_runs_are_separate(tmp_path):
    with ScratchDirectory(tmp_path) as one, ScratchDirectory(tmp_path) as other:
        assert one.folder != other.folder


def test_root_is_created(tmp_path):
    with ScratchDirectory(tmp_path / "a" / "b") as scratch:
        assert scratch.work.is_dir()

    assert list((tmp_path / "a" / "b").iterdir()) == []


def test_scratch_is_removed_when_the_run_fails(tmp_path):
    def fail():
        with ScratchDirectory(tmp_path) as scratch:
            (scratch.work / "file").write_text("")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert list(tmp_path.iterdir()) == []


async def test_scratch_is_removed_by_async_with(tmp_path):
    async with ScratchDirectory(tmp_path) as scratch:
        (scratch.work / "file").write_text("")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("mode", [0o000, 0o400, 0o500])
async def test_inaccessible_folders_are_removed(run_python, tmp_path, mode):
    with ScratchDirectory(tmp_path / "other") as scratch:
        code = f"""
import os
os.makedirs("a/b/c")
open("a/b/file", "w").close()
for place in ("a/b/c", "a/b/file", "a/b", "a", "."): os.chmod(place, {mode})
"""
        confinement = Confinement().writing(scratch.folder)
        make_result = await run_python(code, directory=scratch.work, confinement=confinement)
        assert make_result.exit_code == 0

    assert list((tmp_path / "other").iterdir()) == []


def test_special_files_are_removed_and_links_not_followed(tmp_path):
    outside_file = tmp_path / "outside"
    outside_file.mkdir()
    (outside_file / "kept").write_text("kept")

    with ScratchDirectory(tmp_path / "scratch") as scratch:
        os.mkfifo(scratch.work / "fifo")
        (scratch.work / "to-folder").symlink_to(outside_file)
        (scratch.work / "to-nothing").symlink_to("nowhere")
        (scratch.work / "same").hardlink_to(outside_file / "kept")
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(scratch.work / "socket"))

    assert list((tmp_path / "scratch").iterdir()) == []
    assert (outside_file / "kept").read_text() == "kept"


@pytest.mark.parametrize(("name", "levels"), [("d" * 200, 30), ("d", 1100)])
def test_tree_deeper_than_a_path_is_removed(tmp_path, name, levels):
    """A path can have 4096 bytes on Linux, and Python's stack a thousand calls."""
    with ScratchDirectory(tmp_path) as scratch:
        here = os.open(scratch.work, os.O_RDONLY)
        for _ in range(levels):
            os.mkdir(name, dir_fd=here)
            there = os.open(name, os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = there
        os.close(here)

    assert list(tmp_path.iterdir()) == []


def test_non_text_names_are_removed(tmp_path):
    with ScratchDirectory(tmp_path) as scratch:
        (scratch.work / os.fsdecode(b"\xff\xfe")).mkdir()

    assert list(tmp_path.iterdir()) == []


def test_directory_removed_by_the_run_is_not_an_error(tmp_path):
    with ScratchDirectory(tmp_path) as scratch:
        shutil.rmtree(scratch.folder)

    assert list(tmp_path.iterdir()) == []


def test_link_at_the_directorys_path_is_removed_not_followed(tmp_path):
    outside_file = tmp_path / "outside"
    outside_file.mkdir(mode=0o755)

    with ScratchDirectory(tmp_path / "scratch") as scratch:
        shutil.rmtree(scratch.folder)
        scratch.folder.symlink_to(outside_file)

    assert list((tmp_path / "scratch").iterdir()) == []
    assert stat.S_IMODE(outside_file.stat().st_mode) == 0o755
