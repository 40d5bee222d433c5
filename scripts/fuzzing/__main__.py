"""Run fuzz targets in parallel, or replay saved inputs."""

import argparse
import json
import os
import secrets
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from differential.programs import has_compiler
from fuzzing.finding import FOLDER, Finding
from fuzzing.runner import Run, limit_memory, time_limit
from fuzzing.target import TARGETS, load

# The additional time that a process may need to start and to shrink its findings.
_GRACE_SECONDS = 240
_REPLAY_SECONDS = 60


def main() -> int:
    """Run `fuzz [TARGET…]` or `fuzz replay FILE…`. Return 1 if there were findings."""
    arguments = _arguments()
    if arguments.worker:
        return _work(arguments)
    if arguments.target[:1] == ["replay"]:
        return _replay([Path(name) for name in arguments.target[1:]])
    seed = secrets.randbelow(2**32) if arguments.seed is None else arguments.seed
    with ThreadPoolExecutor(arguments.jobs) as pool:
        names = arguments.target or _able()
        reports = list(pool.map(lambda name: _watch(name, arguments.seconds, seed), names))
    return 1 if any(reports) else 0


def _able() -> list[str]:
    """Return the targets that can run. Without the Move compiler, some targets cannot."""
    if has_compiler():
        return [*TARGETS]
    print("fuzz: programs: skipped, because npm is needed for the Move compiler")
    return [name for name in TARGETS if name != "programs"]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description=__doc__)
    parser.add_argument(
        "target", nargs="*", help=f"{', '.join(TARGETS)}, or: replay FILE. Default: all."
    )
    parser.add_argument("--seconds", type=float, default=60, help="running time of each target")
    parser.add_argument("--seed", type=int, help="seed of the inputs")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count(), help="number of targets that run in parallel"
    )
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    unknown = sorted({*arguments.target} - {*TARGETS})
    if unknown and arguments.target[0] != "replay":
        parser.error(f"unknown target {', '.join(unknown)}: choose from {', '.join(TARGETS)}")
    return arguments


def _watch(name: str, seconds: float, seed: int) -> int:
    """Run a target in a separate process, print its results, and return the number of findings."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        command = [sys.executable, "-m", "fuzzing", name, "--worker", folder]
        command += ["--seconds", str(seconds), "--seed", str(seed)]
        try:
            ended = subprocess.run(
                command,
                check=False,
                capture_output=True,
                text=True,
                timeout=seconds + _GRACE_SECONDS,
            )
            report = json.loads(ended.stdout) if ended.returncode == 0 else None
            end = f"the process ended with {ended.returncode}: {_shortened(ended.stderr)}"
        except subprocess.TimeoutExpired:
            report, end = None, "the process did not end in time"
        if report is None:
            current = Path(folder, "current")
            data = current.read_bytes() if current.exists() else b""
            path = Finding(name, data, end).save()
            report = {"executions": 0, "outcomes": {}, "findings": [[end, "", str(path)]]}
    _print(name, seconds, seed, report)
    return len(report["findings"])


def _shortened(text: str) -> str:
    return "\n".join(line[:300] for line in text.splitlines()[-60:])


def _print(name: str, seconds: float, seed: int, report: dict[str, Any]) -> None:
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in report["outcomes"].items())
    did = f"{report['executions']} inputs in {seconds:.0f} s, seed {seed}"
    lines = [f"fuzz: {name}: {did}: {len(report['findings'])} found ({outcomes})"]
    for summary, trace, path in report["findings"]:
        lines += [trace or summary, f"  again: scripts/fuzz replay {path}"]
    print("\n".join(lines), flush=True)


def _work(arguments: argparse.Namespace) -> int:
    (name,) = arguments.target
    run = Run(name, arguments.seconds, arguments.seed, arguments.worker / "current")
    run.go_on()
    report = {
        "executions": run.executions,
        "outcomes": dict(run.outcomes.most_common()),
        "findings": [
            [finding.summary, finding.trace, str(finding.save(FOLDER))] for finding in run.findings
        ],
    }
    print(json.dumps(report))
    return 0


def _replay(paths: list[Path]) -> int:
    limit_memory()
    for path in paths:
        target = load(path.name.partition("-")[0])
        with time_limit(_REPLAY_SECONDS):
            print(f"fuzz: {path}: {target.check(path.read_bytes())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
