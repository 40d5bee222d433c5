"""The rules for nested regions and loops, and for their inputs. Only the dialect allows nesting."""

from collections.abc import Iterator
from dataclasses import replace

from nexus_tools.workflow.document.document import Document, EdgeKind
from nexus_tools.workflow.document.repetition import BlockKind
from nexus_tools.workflow.document.structure import Structure
from nexus_tools.workflow.document.violation import Severity, Violation
from nexus_tools.workflow.linter.graph import input_text

# Rule 14 already reports cycles, and rule 12 reports `break` edges without a loop.
_REPORTED_BY_RULES = frozenset({"cycle", "breaks_nothing"})


def blocks(document: Document, structure: Structure) -> Iterator[Violation]:
    """Yield violations for blocks that do not nest, and for values that later rounds lack.

    A nesting problem is an error in the dialect, and otherwise a warning.
    """
    severity = Severity.ERROR if document.has_dialect else Severity.WARNING
    for problem in structure.problems:
        if problem.rule == "too_deep":
            yield problem
        elif problem.rule not in _REPORTED_BY_RULES:
            yield replace(problem, severity=severity)
    if not structure.problems:
        yield from _later_rounds(document, structure)


def _later_rounds(document: Document, structure: Structure) -> Iterator[Violation]:
    """Yield warnings about values that exist only in the first round of a loop."""
    entering = []
    brought = set()
    for at, edge in enumerate(document.edges):
        entered = (structure.blocks[block] for block in structure.entered_by(edge))
        if not any(block.kind is BlockKind.LOOP for block in entered):
            brought.add(edge.target)
        elif edge.kind is not EdgeKind.STATIC:
            entering.append((at, edge.target))
    for at, port in entering:
        if port not in brought:
            message = (
                f"'{input_text(port)}' gets its value from outside the loop only in the first"
                " round. Use a static edge to provide it in all rounds."
            )
            yield Violation("second_round", message, f"/edges/{at}", Severity.WARNING)
