"""The execution of a page: every command is typed, and every program runs."""

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from importlib.metadata import metadata, version
from pathlib import Path
from types import TracebackType
from typing import Self

from packaging.requirements import Requirement

from documents.page import ROOT, Block, Page
from documents.shown import begins_as_shown, is_shown
from documents.terminal import Terminal, UnexpectedError

FIRST = "Terminal 1"
PORT = re.compile(r"127\.0\.0\.1:(\d{4,5})\b")
USUAL_PORTS = ("8080", "9000")
INSTALL = re.compile(r"pip install (?P<requirements>.+)")


def reserve_port() -> socket.socket:
    """Bind a socket to a free port of the loopback interface.

    While the socket is open, the system does not give the port to others. A server can still
    listen on the port, because both set SO_REUSEADDR and the socket does not listen (Linux,
    socket(7)).
    """
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.bind(("127.0.0.1", 0))
    return reserved


def environment_of(home: Path, *programs: Path) -> dict[str, str]:
    """Return the environment of a user with a new home directory, and folders of programs."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("NEXUS_")}
    return kept | {
        "PATH": ":".join(map(str, (*programs, os.environ["PATH"]))),
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local/share"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "TERM": "dumb",
    }


class PageRunner:
    """A runner of pages in one folder. `installs` enables the commands `pip install`.

    Several runners may share a machine. Each runner uses free ports instead of the ports on the
    page.
    """

    def __init__(self, folder: Path, environment: Mapping[str, str], *, installs: bool) -> None:
        self._folder = folder
        self._environment = dict(environment)
        self._installs = installs
        self._terminals: dict[str, Terminal] = {}
        self._reserved = ExitStack()
        self._ports: dict[str, str] = {}
        self._written: set[Path] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        for terminal in reversed(self._terminals.values()):
            terminal.close()
        stop = ("nexus-tools", "localnet", "stop", "--quiet")
        subprocess.run(stop, env=self._environment, capture_output=True, check=False)
        self._reserved.close()

    def follow(self, page: Page) -> None:
        """Execute the prerequisites and then all blocks of a page."""
        self._take_ports(page)
        given = Page.read("scripts/documents/given.md")
        for name in page.given:
            self._execute_all(given.section(name))
        self._execute_all(page)

    def _take_ports(self, page: Page) -> None:
        for port in {*USUAL_PORTS, *PORT.findall(page.text)} - self._ports.keys():
            reserved = self._reserved.enter_context(reserve_port())
            self._ports[port] = str(reserved.getsockname()[1])
        if sys.platform != "linux":  # Other systems do not let a server use a reserved port.
            self._reserved.close()
        self._environment |= {
            "BIND_ADDR": f"127.0.0.1:{self._ports['8080']}",
            "NEXUS_TOOLS_LOCALNET_PORT": self._ports["9000"],
        }

    def _execute_all(self, page: Page) -> None:
        blocks = page.blocks
        for block, after in zip(blocks, [*blocks[1:], None], strict=False):
            is_shown = after and after.language == "text" and after.heading == block.heading
            shown = after.text if after and is_shown else ""
            try:
                self._execute(block, shown)
            except UnexpectedError as error:
                text = self._there(str(error))
                raise UnexpectedError(f"{page.name}:{block.line}: {text}") from None

    def _execute(self, block: Block, shown: str) -> None:
        if block.language == "console":
            self._execute_console(block)
        elif block.title:
            self._put(block)
        elif block.language == "python":
            self._execute_python(block.text, shown)

    def _put(self, block: Block) -> None:
        """Write or extend a file in the folder. Other files must have the shown contents."""
        path = self._folder / block.title
        if path in self._written or not path.exists():
            self._written.add(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a", encoding="utf-8") as file:
                file.write(self._here(block.text))
        elif block.text not in path.read_text(encoding="utf-8"):
            raise UnexpectedError(
                f"the file {block.title} has another text:\n{path.read_text(encoding='utf-8')}"
            )

    # --- Consoles

    def _execute_console(self, block: Block) -> None:
        terminal = self._terminal(block.title or FIRST)
        if block.text.startswith("^C\n"):
            terminal.interrupt()
            terminal.output()
        for command, shown in block.commands:
            if terminal.is_busy:
                raise UnexpectedError(f"{block.title} is still busy and cannot execute: {command}")
            last = (command, shown) == block.commands[-1]
            self._type(terminal, command, shown, may_run_on=bool(block.title and shown and last))

    def _terminal(self, name: str) -> Terminal:
        if name not in self._terminals:
            self._terminals[name] = Terminal.shell(
                self._folder, self._environment, watched=name != FIRST
            )
        return self._terminals[name]

    def _type(
        self, terminal: Terminal, command: str, shown: str = "", *, may_run_on: bool = False
    ) -> None:
        """Type a command. The command must fail if and only if the page shows an error."""
        install = INSTALL.fullmatch(command)
        if install and not self._installs:
            return _require(install["requirements"])
        terminal.type(self._here(command))
        output, status = terminal.output(
            lambda text: may_run_on and begins_as_shown(self._there(text), shown)
        )
        output = self._there(output)
        fails = re.search(r"^error: ", shown, re.MULTILINE) is not None
        if status is not None and (status != 0) != fails:
            raise UnexpectedError(f"`{command}` ended with {status}:\n{output}")
        if status is not None and shown.strip() and not is_shown(output, shown):
            raise UnexpectedError(f"`{command}` printed:\n{output}\nand not:\n{shown}")
        return None

    def _here(self, text: str) -> str:
        for port, ours in self._ports.items():
            text = re.sub(rf"\b{port}\b", ours, text)
        return text

    def _there(self, text: str) -> str:
        for port, ours in self._ports.items():
            text = re.sub(rf"\b{ours}\b", port, text)
        return text

    # --- Python

    def _execute_python(self, program: str, shown: str) -> None:
        """Run a program with its own event loop separately, and other blocks in one interpreter."""
        if re.search(r"^asyncio\.run\(", program, re.MULTILINE):
            name = f"program {len(self._terminals)}"
        else:
            name = "python"
        if name not in self._terminals:
            self._terminals[name] = Terminal.python(self._folder, self._environment)
        terminal = self._terminals[name]
        terminal.execute(self._here(program))
        output, status = terminal.output()
        output = self._there(output)
        if status or not is_shown(output, shown):
            raise UnexpectedError(f"the program printed:\n{output}\nand not:\n{shown}")


def _require(requirements: str) -> None:
    """Check that the requirements are already installed, including extras."""
    for text in re.findall(r"[^\s']+", requirements):
        requirement = Requirement(text)
        assert version(requirement.name)
        known = metadata(requirement.name).get_all("Provides-Extra") or []
        if not requirement.extras <= set(known):
            raise UnexpectedError(
                f"{requirement.name} does not have an extra of {requirement.extras}"
            )


def fresh_folder(folder: Path) -> Path:
    """Create the folder with the examples and the Move package, as in a checkout."""
    ignored = shutil.ignore_patterns("__pycache__", ".pytest_cache", "build")
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=ignored)
    ours = Path("move") / "nexus_tools"
    shutil.copytree(ROOT / ours, folder / ours, ignore=ignored)
    return folder


PROGRAMS = Path(sys.executable).parent
