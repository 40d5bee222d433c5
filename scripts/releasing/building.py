"""Builds of the wheel and the sdist that depend only on the commit.

setuptools already sorts the files of a wheel, and takes their times from SOURCE_DATE_EPOCH. An
sdist keeps the owners, modes and times of the machine, so `normalize` replaces them.
"""

import gzip
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from releasing.checks import git

_UMASK = 0o022
_EXECUTABLE = 0o100


def build(repository: Path, commit: str, folder: Path) -> list[Path]:
    """Clone a commit into `folder`, build it there, and return the sdist and the wheel.

    The wheel is built from the sdist. Raises `ValueError` if the sources give another wheel.
    """
    clone, built, again = folder / "clone", folder / "built", folder / "from-sources"
    folder.mkdir(parents=True)
    usual = os.umask(_UMASK)  # a wheel records the modes of files
    try:
        _run("git", "clone", "--quiet", "--no-hardlinks", str(repository), str(clone))
        git(clone, "checkout", "--quiet", "--detach", commit)
        epoch = int(git(clone, "show", "--no-patch", "--format=%ct", commit))
        _build(clone, "--sdist", built, epoch)
        [sdist] = built.glob("*.tar.gz")
        normalize(sdist, epoch)
        _build(sdist, "--wheel", built, epoch)
        _build(clone, "--wheel", again, epoch)
    finally:
        os.umask(usual)
    [wheel], [other] = built.glob("*.whl"), again.glob("*.whl")
    if wheel.read_bytes() != other.read_bytes():
        raise ValueError("the sdist and the sources build different wheels")
    return [sdist, wheel]


def differences(builds: list[list[Path]]) -> Iterator[str]:
    """Yield the names of the files that differ between builds."""
    for files in zip(*builds, strict=True):
        if len({(file.name, file.read_bytes()) for file in files}) > 1:
            yield files[0].name


def normalize(sdist: Path, epoch: int) -> None:
    """Rewrite an sdist with sorted files, the time `epoch`, and without owners.

    A file keeps only whether it is executable. `epoch` is in seconds since 1970.
    """
    with tarfile.open(sdist) as archive:
        members = sorted(archive.getmembers(), key=lambda member: member.name)
        files = [_contents(archive, member) for member in members]
    with (
        sdist.open("wb") as target,
        gzip.GzipFile(filename="", mode="wb", fileobj=target, mtime=epoch) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for member, data in zip(members, files, strict=True):
            archive.addfile(_normalized(member, epoch), BytesIO(data))


def _contents(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    """Return the contents of a file. Links and folders have none."""
    file = archive.extractfile(member) if member.isfile() else None
    return b"" if file is None else file.read()


def _normalized(member: tarfile.TarInfo, epoch: int) -> tarfile.TarInfo:
    plain = tarfile.TarInfo(member.name)
    plain.type, plain.size, plain.linkname = member.type, member.size, member.linkname
    plain.mtime = epoch
    plain.mode = 0o755 if member.isdir() or member.mode & _EXECUTABLE else 0o644
    return plain


def _build(source: Path, kind: str, folder: Path, epoch: int) -> None:
    """Build a sdist or a wheel with the locked setuptools of this environment."""
    uv = Path(sys.executable).with_name("uv")
    _run(
        *(str(uv), "build", "--quiet", kind, "--no-build-isolation", "--python", sys.executable),
        *("--out-dir", str(folder), str(source)),
        SOURCE_DATE_EPOCH=str(epoch),
    )


def _run(*command: str, **variables: str) -> None:
    subprocess.run(command, env=os.environ | variables, check=True)
