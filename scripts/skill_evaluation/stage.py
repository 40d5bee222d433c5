"""The environment of a task: a Sui network, tools and a Leader, and a folder for the agent."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self

from documents import Page, PageRunner, environment_of
from documents.page import ROOT
from documents.walk import PROGRAMS, fresh_folder, reserve_port

SKILL = ROOT / "skills" / "nexus-tools"
_COMMAND_TIMEOUT_S = 120
# The agent keeps the user's home directory, which may contain its credentials. The wrapper ensures
# that `nexus-tools` uses the keys and the network of the stage, and never those of the user.
_WRAPPER = """\
#!/bin/sh
for name in $(env | sed -n 's/^\\(NEXUS_[A-Za-z0-9_]*\\)=.*/\\1/p'); do unset "$name"; done
export XDG_CONFIG_HOME='{home}/.config' XDG_DATA_HOME='{home}/.local/share'
export XDG_CACHE_HOME='{home}/.cache' HOME='{home}'
exec '{program}' "$@"
"""


class Stage:
    """A network with the sections of `scripts/documents/given.md` that a task requires.

    `programs` is the folder of `nexus-tools`.
    """

    def __init__(self, folder: Path, setup: Sequence[str], programs: Path = PROGRAMS) -> None:
        self._folder = folder
        self._setup = setup
        self._program = programs / "nexus-tools"
        self._environment = environment_of(folder / "home", programs, PROGRAMS)
        self._resources = ExitStack()

    def __enter__(self) -> Self:
        """Start the network and its servers. Raises `AssertionError` if a command fails."""
        place = self._folder / "setup"
        place.mkdir()
        runner = PageRunner(fresh_folder(place), self._environment, installs=False)
        self._resources.enter_context(runner)
        try:
            runner.follow(Page("setup", f"<!-- given: {', '.join(self._setup)} -->\n"))
        except BaseException:
            self._resources.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the network and its servers."""
        self._resources.close()

    @contextmanager
    def free_port(self) -> Iterator[int]:
        """Yield a port on which only the agent's server listens."""
        with reserve_port() as reserved:
            yield int(reserved.getsockname()[1])

    def workspace(self, *, with_skill: bool) -> Path:
        """Create a folder for the agent."""
        folder = self._folder / f"workspace{len([*self._folder.iterdir()])}"
        folder.mkdir()
        for place in ("skills", ".claude/skills") if with_skill else ():
            ignored = shutil.ignore_patterns("evaluations")
            shutil.copytree(SKILL, folder / place / SKILL.name, ignore=ignored)
        return folder

    def agent_environment(self) -> dict[str, str]:
        """Return the environment of the agent, in which `nexus-tools` uses this stage."""
        programs = self._folder / "bin"
        programs.mkdir(exist_ok=True)
        wrapper = programs / "nexus-tools"
        text = _WRAPPER.format(home=self._folder / "home", program=self._program)
        wrapper.write_text(text, encoding="utf-8")
        wrapper.chmod(0o755)
        kept = {key: value for key, value in os.environ.items() if not key.startswith("NEXUS_")}
        return kept | {"PATH": f"{programs}:{PROGRAMS}:{os.environ['PATH']}"}

    def query(self, *arguments: str) -> Any:
        """Return the JSON document of a `nexus-tools` command, or None if the command fails."""
        done = subprocess.run(
            (self._program, *arguments, "--json"),
            env=self._environment,
            cwd=self._folder,
            capture_output=True,
            text=True,
            timeout=_COMMAND_TIMEOUT_S,
            check=False,
        )
        return json.loads(done.stdout) if done.returncode == 0 else None
