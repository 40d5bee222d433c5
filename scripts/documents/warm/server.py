"""Load `nexus-tools`, and execute each command in a fork of this process.

The argument is the path of a socket, at which the server listens. The server prints `ready`, and
ends at the end of its stdin.

A connection is one command. The client sends the standard streams, a JSON document that describes
the command, and then one byte for each signal. The server answers with the exit code, which is the
negative number of the signal that ended the command. If the client ends first, so does the command.
"""

import atexit
import gc
import io
import json
import os
import pkgutil
import selectors
import signal
import socket
import sys
import threading
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

PROGRAM = Path(sys.executable).parent / "nexus-tools"
LIBRARIES = ("nexus_tools.nexus", "nexus_tools.leader", "nexus_tools.tool_server", "uvicorn")


def load() -> None:
    """Import the command line and the libraries that most commands use."""
    sys.path[0] = str(PROGRAM.parent)
    command_line = import_module("nexus_tools.cli")
    sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type] # like nexus_tools.cli.main
    for module in pkgutil.walk_packages(command_line.__path__, "nexus_tools.cli."):
        if "template" not in module.name:
            import_module(module.name)
    for name in LIBRARIES:
        import_module(name)
    gc.collect()
    gc.freeze()  # Otherwise collections in the forks copy the pages of all objects.


class Server:
    """The running commands by process ID, with the connections of their clients."""

    def __init__(self, path: str) -> None:
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(path)
        self._listener.listen(64)
        self._clients: dict[int, socket.socket] = {}
        self._children, self._wakeup = os.pipe()
        os.set_blocking(self._wakeup, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wakeup)
        self._selector = selectors.DefaultSelector()
        for source in (sys.stdin.fileno(), self._listener, self._children):
            self._selector.register(source, selectors.EVENT_READ)

    def run(self) -> None:
        """Serve until the end of stdin, and then end all commands."""
        while True:
            for key, _ in self._selector.select():
                if key.fileobj == sys.stdin.fileno():
                    for process in self._clients:
                        os.killpg(process, signal.SIGKILL)
                    return
                if key.fileobj is self._listener:
                    self._accept()
                elif key.fileobj == self._children:
                    os.read(self._children, 4096)
                    self._answer()
                elif key.data in self._clients:
                    self._signal(key.data)

    def _accept(self) -> None:
        client, _ = self._listener.accept()
        try:
            size, streams, _, _ = socket.recv_fds(client, 4, 3)
            with client.makefile("rb") as stream:
                command = json.loads(stream.read(int.from_bytes(size)))
        except ValueError:  # the client ended
            client.close()
            return
        process = os.fork()
        if process == 0:
            self._execute(client, streams, command)
        for descriptor in streams:
            os.close(descriptor)
        self._clients[process] = client
        self._selector.register(client, selectors.EVENT_READ, process)

    def _execute(self, client: socket.socket, streams: list[int], command: Any) -> NoReturn:
        """Become the command, in a group of processes of its own."""
        os.setsid()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number in command["ignored"]:
            signal.signal(number, signal.SIG_IGN)
        self._selector.close()
        for opened in (self._listener, client, *self._clients.values()):
            opened.close()
        for descriptor in (self._children, self._wakeup):
            os.close(descriptor)
        for number, descriptor in enumerate(streams):
            os.dup2(descriptor, number)
            os.close(descriptor)
        execute(command)

    def _signal(self, process: int) -> None:
        """Forward signals: Ctrl-C to the whole group, as a terminal does."""
        try:
            numbers = self._clients[process].recv(64)
        except ConnectionResetError:
            numbers = b""
        for number in numbers or (signal.SIGKILL,):
            with suppress(ProcessLookupError):
                send = os.kill if number == signal.SIGTERM else os.killpg
                send(process, number)
        if not numbers:
            self._selector.unregister(self._clients[process])

    def _answer(self) -> None:
        """Send the exit codes of the commands that ended."""
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                process, status = ended
                client = self._clients.pop(process)
                with suppress(KeyError):
                    self._selector.unregister(client)
                with suppress(OSError), client:
                    client.sendall(os.waitstatus_to_exitcode(status).to_bytes(2, signed=True))


def execute(command: Any) -> NoReturn:
    """Execute a command like a new process, and exit."""
    os.umask(command["umask"])
    os.chdir(command["folder"])
    os.environ.clear()
    os.environ.update(command["environment"])
    sys.argv = [str(PROGRAM), *command["arguments"]]
    sys.stdin, sys.stdout, sys.stderr = (
        io.TextIOWrapper(
            io.open(number, f"{mode}b", closefd=False),  # noqa: SIM115, UP020
            encoding="utf-8",
            errors=errors,
            line_buffering=number == 2 or os.isatty(number),
        )
        for number, mode, errors in ((0, "r", None), (1, "w", None), (2, "w", "backslashreplace"))
    )
    code: Any = 0
    try:
        import_module("nexus_tools.cli").main()
    except SystemExit as end:
        code = end.code
    except BaseException:  # noqa: BLE001 - a new process reports every exception like this
        sys.excepthook(*sys.exc_info())
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001
    atexit._run_exitfuncs()  # noqa: SLF001
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    load()
    server = Server(sys.argv[1])
    print("ready", flush=True)
    server.run()
