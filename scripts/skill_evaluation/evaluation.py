"""Evaluations: a task for an agent, the agent's run, and the checks of its result."""

import json
import os
import shlex
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skill_evaluation.checks import CHECKS
from skill_evaluation.stage import SKILL, Stage

_POLL_S = 0.05
_WITH_SKILL = """
Work in the current folder. The file skills/nexus-tools/SKILL.md explains the program nexus-tools,
which is installed. Read that file first."""


@dataclass(frozen=True)
class Evaluation:
    """A task with its setup and its checks. `reference` has the steps of the reference agent."""

    name: str
    task: str
    setup: tuple[str, ...]
    checks: tuple[dict[str, Any], ...]
    reference: tuple[dict[str, Any], ...]

    def prompt(self, port: int, *, with_skill: bool) -> str:
        """Return the text that the agent receives. `port` is free for a server of the agent."""
        return self.task.replace("{port}", str(port)) + (_WITH_SKILL if with_skill else "")


@dataclass(frozen=True)
class Result:
    """The result of an evaluation. `failures` is empty if the agent did the task."""

    name: str
    failures: tuple[str, ...]
    duration_s: float
    log: str


def evaluations() -> list[Evaluation]:
    """Return the evaluations of the skill, in the order of their names."""
    return [_read(path) for path in sorted((SKILL / "evaluations").glob("*.json"))]


def _read(path: Path) -> Evaluation:
    document = json.loads(path.read_text(encoding="utf-8"))
    parts = {key: tuple(document.pop(key)) for key in ("setup", "checks", "reference")}
    return Evaluation(path.stem, document.pop("task"), **parts)


def evaluate(
    evaluation: Evaluation, stage: Stage, agent: str, *, timeout_s: float, with_skill: bool = True
) -> Result:
    """Give the task to an agent, and check the result.

    `agent` is a command line, to which the task is added as the last argument. Programs that the
    agent leaves running, such as servers, end after the checks.
    """
    folder = stage.workspace(with_skill=with_skill)
    log = folder.with_name(f"{folder.name}.log")
    began = time.monotonic()
    with stage.free_port() as port, log.open("wb") as output:
        process = subprocess.Popen(
            [*shlex.split(agent), evaluation.prompt(port, with_skill=with_skill)],
            cwd=folder,
            env=stage.agent_environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            is_done = _wait(process.pid, timeout_s)
            failures = [] if is_done else [f"the agent did not end within {timeout_s:g} s"]
            failures += _failures(evaluation, stage, folder)
        finally:
            # The agent is not reaped yet, so its ID still belongs to its group of processes.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    duration_s = time.monotonic() - began
    return Result(evaluation.name, tuple(failures), duration_s, log.read_text(errors="replace"))


def _wait(process_id: int, timeout_s: float) -> bool:
    """Wait for the end of a child process without reaping it. Return whether it has ended."""
    deadline = time.monotonic() + timeout_s
    flags = os.WEXITED | os.WNOWAIT | os.WNOHANG
    while os.waitid(os.P_PID, process_id, flags) is None:
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_S)
    return True


def _failures(evaluation: Evaluation, stage: Stage, folder: Path) -> list[str]:
    results = [
        CHECKS[check["check"]](
            stage, folder, **{key: value for key, value in check.items() if key != "check"}
        )
        for check in evaluation.checks
    ]
    return [failure for failure in results if failure is not None]
