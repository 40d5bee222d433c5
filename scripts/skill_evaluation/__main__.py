"""Evaluate an agent with the skill, and print one line for each task."""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from skill_evaluation.evaluation import Result, evaluate, evaluations
from skill_evaluation.stage import Stage


def main() -> int:
    """Evaluate the agent. Return 0 if it does all tasks, else 1."""
    known = {evaluation.name: evaluation for evaluation in evaluations()}
    parser = argparse.ArgumentParser(prog="evaluate_skill", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="evaluations; default: all")
    parser.add_argument("--agent", required=True, help="command of the agent, such as 'claude -p'")
    parser.add_argument("--without-skill", action="store_true", help="run without the skill")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for each task")
    parser.add_argument("--logs", type=Path, help="folder for the output of the agent")
    parser.add_argument("--json", action="store_true", help="print a JSON document")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - known.keys():
        parser.error(f"unknown evaluation {min(unknown)}: use {', '.join(known)}")
    results = []
    for name in arguments.names or known:
        evaluation = known[name]
        with TemporaryDirectory() as folder, Stage(Path(folder), evaluation.setup) as stage:
            result = evaluate(
                evaluation,
                stage,
                arguments.agent,
                timeout_s=arguments.timeout,
                with_skill=not arguments.without_skill,
            )
        results.append(result)
        if arguments.logs:
            arguments.logs.mkdir(parents=True, exist_ok=True)
            (arguments.logs / f"{name}.log").write_text(result.log, encoding="utf-8")
        if not arguments.json:
            _print(result)
    if arguments.json:
        print(json.dumps([asdict(result) for result in results], indent=2))
    return int(any(result.failures for result in results))


def _print(result: Result) -> None:
    mark = "✗" if result.failures else "✓"
    print(f"{mark} {result.name} ({result.duration_s:.0f} s)", flush=True)
    for failure in result.failures:
        print(f"  {failure}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
