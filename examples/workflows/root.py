"""The square root of a quotient: a workflow with branches and a loop, and the tool that it needs.

Serve the tool with `nexus-tools tool serve examples/workflows/root.py`. The other tool of the
workflow is in `examples/tools.py`.
"""

from nexus_tools.tool_server import Variant, tool
from nexus_tools.workflow import Workflow


class Rough(Variant, name="rough"):
    """A better guess, which is not close enough yet."""

    guess: float


class Close(Variant, name="close"):
    """The guess is close enough."""

    root: float


class Negative(Variant, name="err_negative"):
    """The number has no real root."""

    reason: str


@tool("xyz.example.math.improve_root@1")
def improve_root(number: float, guess: float) -> Rough | Close | Negative:
    """Improve a guess by one step of Heron's method for square roots."""
    if number < 0:
        return Negative(reason=f"{number:g} has no real root")
    better = (guess + number / guess) / 2 if guess else 0.0
    return Close(root=round(better, 6)) if abs(better - guess) < 1e-6 else Rough(guess=better)


flow = Workflow("xyz.example.math.root@1", "Computes the square root of a quotient.")
dividend, divisor = flow.inputs(dividend=int, divisor=int)

divided = flow.add("xyz.example.math.divide@1", dividend=dividend, divisor=divisor)
with flow.loop(guess=divided.ok.quotient) as loop:
    tried = flow.add(improve_root, number=divided.ok.quotient, guess=loop.guess)
    loop.again(guess=tried.rough.guess)
flow.output("root", tried.close.root)
flow.output("refused", flow.first(divided.err_division_by_zero.reason, tried.err_negative.reason))
