"""The directories of one run, and that they are gone afterwards whatever was made in them."""

import os
import shutil
import socket
import stat

import pytest

from nexus_tools.bridges.sandbox import Confinement, Scratch


def test_a_run_has_a_home_a_working_directory_and_a_place_for_temporary_files(tmp_path):
    with Scratch(tmp_path) as scratch:
        places = {scratch.home, scratch.work, scratch.temporary}

        assert len(places) == 3
        assert {place.parent for place in places} == {scratch.folder}
        assert all(place.is_dir() and not any(place.iterdir()) for place in places)


def test_only_its_owner_may_enter(tmp_path):
    before = os.umask(0)
    try:
        with Scratch(tmp_path) as scratch:
            places = [scratch.folder, scratch.home, scratch.work, scratch.temporary]

            assert {stat.S_IMODE(place.stat().st_mode) for place in places} == {0o700}
    finally:
        os.umask(before)


def test_two_runs_share_nothing(tmp_path):
    with Scratch(tmp_path) as one, Scratch(tmp_path) as other:
        assert one.folder != other.folder


def test_the_place_for_scratch_directories_is_made(tmp_path):
    with Scratch(tmp_path / "a" / "b") as scratch:
        assert scratch.work.is_dir()

    assert list((tmp_path / "a" / "b").iterdir()) == []


def test_it_is_removed_when_the_run_fails(tmp_path):
    def fail():
        with Scratch(tmp_path) as scratch:
            (scratch.work / "file").write_text("")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert list(tmp_path.iterdir()) == []


async def test_it_is_removed_by_an_asynchronous_with_as_well(tmp_path):
    async with Scratch(tmp_path) as scratch:
        (scratch.work / "file").write_text("")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("mode", [0o000, 0o400, 0o500])
async def test_shut_folders_are_removed(run_python, tmp_path, mode):
    with Scratch(tmp_path / "other") as scratch:
        code = f"""
import os
os.makedirs("a/b/c")
open("a/b/file", "w").close()
for place in ("a/b/c", "a/b/file", "a/b", "a", "."): os.chmod(place, {mode})
"""
        confinement = Confinement().writing(scratch.folder)
        finished = await run_python(code, directory=scratch.work, confinement=confinement)
        assert finished.exit_code == 0

    assert list((tmp_path / "other").iterdir()) == []


def test_what_is_no_plain_file_is_removed_and_links_are_not_followed(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")

    with Scratch(tmp_path / "scratch") as scratch:
        os.mkfifo(scratch.work / "fifo")
        (scratch.work / "to-folder").symlink_to(outside)
        (scratch.work / "to-nothing").symlink_to("nowhere")
        (scratch.work / "same").hardlink_to(outside / "kept")
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(scratch.work / "socket"))

    assert list((tmp_path / "scratch").iterdir()) == []
    assert (outside / "kept").read_text() == "kept"


@pytest.mark.parametrize(("name", "levels"), [("d" * 200, 30), ("d", 1100)])
def test_a_tree_deeper_than_a_path_can_name_is_removed(tmp_path, name, levels):
    """A path can have 4096 bytes on Linux, and Python a thousand calls on its stack."""
    with Scratch(tmp_path) as scratch:
        here = os.open(scratch.work, os.O_RDONLY)
        for _ in range(levels):
            os.mkdir(name, dir_fd=here)
            there = os.open(name, os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = there
        os.close(here)

    assert list(tmp_path.iterdir()) == []


def test_names_that_are_no_text_are_removed(tmp_path):
    with Scratch(tmp_path) as scratch:
        (scratch.work / os.fsdecode(b"\xff\xfe")).mkdir()

    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_the_run_has_removed_is_no_fault(tmp_path):
    with Scratch(tmp_path) as scratch:
        shutil.rmtree(scratch.folder)

    assert list(tmp_path.iterdir()) == []


def test_a_link_in_the_place_of_the_directory_is_removed_and_not_followed(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o755)

    with Scratch(tmp_path / "scratch") as scratch:
        shutil.rmtree(scratch.folder)
        scratch.folder.symlink_to(outside)

    assert list((tmp_path / "scratch").iterdir()) == []
    assert stat.S_IMODE(outside.stat().st_mode) == 0o755
