"""An agent without a model, which follows the skill: `python -m skill_evaluation.reference_agent`.

The agent takes the commands and the files of the skill's sections that the evaluation names, and
replaces the names and values of the example by those of the task. If this agent fails, the skill
does not explain the task.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from documents import Page
from skill_evaluation.evaluation import Evaluation, evaluations

_SKILL = Path("skills/nexus-tools")
_PORT = re.compile(r"http://127\.0\.0\.1:(\d+)")


def main() -> int:
    """Do the task of the last argument. Return the exit code of the first command that fails."""
    prompt = sys.argv[-1]
    match = _PORT.search(prompt)
    port = match[1] if match else ""
    for step in _evaluation(prompt, port).reference:
        script = step.get("run") or _script(step, port)
        print(f"$ {script}", flush=True)
        done = subprocess.run(("bash", "-e", "-c", script), check=False)
        if done.returncode:
            return done.returncode
    return 0


def _evaluation(prompt: str, port: str) -> Evaluation:
    found = [one for one in evaluations() if prompt.startswith(one.task.replace("{port}", port))]
    [evaluation] = found
    return evaluation


def _script(step: dict[str, Any], port: str) -> str:
    """Return the shell script of a section, after it has written the files of the section."""
    page = Page(step["page"], (_SKILL / step["page"]).read_text(encoding="utf-8"))
    section = page.section(step["section"])
    lines = []
    used = set()

    def adapted(text: str) -> str:
        for old, new in step["replace"].items():
            used.update([old] if old in text else [])
            text = text.replace(old, new.replace("{port}", port))
        return text

    for block in section.blocks:
        if block.language == "console":
            lines += [adapted(command) for command, _ in block.commands]
        elif block.title:
            Path(adapted(block.title)).write_text(adapted(block.text), encoding="utf-8")
    missing = step["replace"].keys() - used
    if missing:
        raise ValueError(f"the section {step['section']!r} does not contain {sorted(missing)}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
