import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from packaging.metadata import Metadata

import nexus_tools
from releasing.building import build, differences
from releasing.checks import git

ROOT = Path(__file__).parents[2]
COMMIT_TIME = 1_796_025_600  # 2026-11-30T08:00:00Z, by `date --date=… +%s`


@pytest.fixture
def umask():
    """Set another umask until the test ends."""
    usual = os.umask(0o077)
    os.umask(usual)
    yield os.umask
    os.umask(usual)


@pytest.mark.long
def test_builds_at_other_paths_and_with_another_umask_are_equal(repository, tmp_path, umask):
    first = build(repository, "HEAD", tmp_path / "one")
    umask(0o077)
    second = build(repository, "HEAD", tmp_path / "another" / "folder")
    assert [file.name for file in first] == [
        "nexus_tools-1.2.3.tar.gz",
        "nexus_tools-1.2.3-py3-none-any.whl",
    ]
    assert list(differences([first, second])) == []
    second[1].write_bytes(second[1].read_bytes() + b"\n")
    assert list(differences([first, second])) == ["nexus_tools-1.2.3-py3-none-any.whl"]


@pytest.mark.long
def test_archives_have_the_time_of_the_commit_and_no_owner(repository, tmp_path):
    sdist, wheel = build(repository, "HEAD", tmp_path / "build")
    with tarfile.open(sdist) as archive:
        members = archive.getmembers()
    assert {(member.uid, member.gid, member.uname, member.gname) for member in members} == {
        (0, 0, "", "")
    }
    assert {member.mtime for member in members} == {COMMIT_TIME}
    names = [member.name for member in members]
    assert names == sorted(names)
    modes = {member.name.partition("/")[2]: member.mode for member in members if member.isfile()}
    assert modes["nexus_tools/run.py"] == 0o755
    assert modes["nexus_tools/__init__.py"] == 0o644
    with zipfile.ZipFile(wheel) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(2026, 11, 30, 8, 0, 0)}


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """Return the sdist and the wheel of the commit that is checked out."""
    return build(ROOT, "HEAD", tmp_path_factory.mktemp("release") / "build")


def tracked(*folders):
    return set(git(ROOT, "ls-tree", "-r", "--name-only", "HEAD", *folders).splitlines())


@pytest.mark.long
def test_wheel_contains_exactly_the_tracked_files_of_the_package(release):
    _, wheel = release
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == tracked("nexus_tools")


@pytest.mark.long
def test_metadata_is_valid_and_its_description_has_no_relative_links(release):
    _, wheel = release
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = Metadata.from_email(archive.read(name), validate=True)
    assert (metadata.name, str(metadata.version)) == ("nexus-tools", nexus_tools.__version__)
    assert metadata.license_expression == "Apache-2.0"
    assert metadata.description_content_type == "text/markdown"
    assert re.findall(r"\]\((?!https?:)", metadata.description) == []


@pytest.mark.long
def test_sdist_contains_all_tracked_files(release):
    sdist, _ = release
    with tarfile.open(sdist) as archive:
        names = {
            member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()
        }
    generated = {name for name in names if ".egg-info/" in name} | {"PKG-INFO", "setup.cfg"}
    hidden = {name for name in tracked() if name.startswith(".")} - {".pre-commit-hooks.yaml"}
    assert names - generated == tracked() - hidden


@pytest.mark.long
def test_wheel_alone_runs_the_demo(release, tmp_path):
    _, wheel = release
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    kept = {key: value for key, value in os.environ.items() if not key.startswith("NEXUS_")}
    done = subprocess.run(
        [sys.executable, "-P", "-m", "nexus_tools", "demo", "--quick"],
        cwd=tmp_path,
        env=kept | {"PYTHONPATH": str(tmp_path / "installed"), "PYTHONSAFEPATH": "1"},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "claimed 1 SUI" in done.stdout
