"""`nexus-tools` without the time for its imports.

A server loads `nexus-tools` once and forks for each command. The program `nexus-tools` of the
client folder passes its arguments, its environment and its streams to the server, forwards signals
and exits like the command. So a page executes the same code, with about a tenth of the CPU time.
"""

import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

_FOLDER = Path(__file__).parent
_CLIENT = """\
#!/bin/sh
exec {command} "$@"
"""


@contextmanager
def warm_programs() -> Iterator[Path]:
    """Start the server; yield a folder for `PATH` that contains only the program `nexus-tools`."""
    with TemporaryDirectory(prefix="warm") as name:
        folder = Path(name)
        path = folder / "server.sock"
        program = folder / "programs/nexus-tools"
        program.parent.mkdir()
        client = (sys.executable, "-I", "-S", str(_FOLDER / "client.py"), str(path))
        program.write_text(_CLIENT.format(command=shlex.join(client)), encoding="utf-8")
        program.chmod(0o755)
        server = subprocess.Popen(
            (sys.executable, str(_FOLDER / "server.py"), str(path)),
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        with server:
            assert server.stdin is not None
            assert server.stdout is not None
            assert server.stdout.readline() == b"ready\n"
            yield program.parent
            server.stdin.close()
