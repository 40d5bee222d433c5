"""A badge for a passed test: a tool marks the test, a person decides, a Move function mints it.

The tools `ask` and `badge` are on chain: `docs/guides/on-chain-tools.md` registers them.
"""

import json
from pathlib import Path

from nexus_tools.sui.types.address import Address
from nexus_tools.tool import ToolDefinition
from nexus_tools.tool_server import Variant, tool
from nexus_tools.workflow import Workflow, ask

BADGE = Path(__file__).parents[1] / "on_chain" / "badge.json"


class Passed(Variant, name="passed"):
    """Enough points: the question for the examiner, and the title of the badge."""

    question: str
    title: str


class TooFew(Variant, name="too_few"):
    """Not enough points."""

    reason: str


@tool("xyz.example.school.mark@1")
async def mark(pupil: str, answers: list[int]) -> Passed | TooFew:
    """Mark a test in which each answer is the square of its position: 1, 4, 9 and so on."""
    points = sum(answer == place**2 for place, answer in enumerate(answers, start=1))
    said = f"{points} of {len(answers)} points"
    if not answers or points < len(answers) / 2:
        return TooFew(reason=f"{pupil} has {said}")
    title = f"Squares, {said}"
    return Passed(question=f"{pupil} has {said}: shall the badge be minted?", title=title)


mint = ToolDefinition.parse(json.loads(BADGE.read_text()))

flow = Workflow("xyz.example.school.badge@1", "Marks a test, asks the examiner, mints a badge.")
pupil, answers = flow.inputs(pupil=str, answers=list[int])
student, examiner = flow.inputs(student=Address, examiner=Address)

marked = flow.add(mark, pupil=pupil, answers=answers)
asked = flow.add(ask, answerer=examiner, question=marked.passed.question)
minted = flow.add(mint, to=student, title=marked.passed.title).after(asked.approved.note)
flow.output("badge", minted.ok.badge)
flow.output("refused", flow.first(marked.too_few.reason, asked.rejected.note))
