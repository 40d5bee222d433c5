"""The entry point of the linter, which combines all rules."""

from collections.abc import Iterator
from dataclasses import replace

from nexus_tools.workflow.document.document import Document
from nexus_tools.workflow.document.structure import find_structure
from nexus_tools.workflow.document.violation import Severity, Violation
from nexus_tools.workflow.linter.blocks import blocks
from nexus_tools.workflow.linter.concurrency import concurrency, cycles
from nexus_tools.workflow.linter.declarations import declarations
from nexus_tools.workflow.linter.effort import effort
from nexus_tools.workflow.linter.graph import Graph
from nexus_tools.workflow.linter.naming import naming
from nexus_tools.workflow.linter.pairing import pairing
from nexus_tools.workflow.linter.storage import remote_values
from nexus_tools.workflow.linter.token_flow import token_flow

MAX_GROUPS = 64
"""The maximum number of entry groups. The limit exists because groups are analyzed separately.
"""


def lint(document: Document, *, strict: bool = False) -> list[Violation]:
    """Return all violations of a document. `strict` turns warnings into errors.

    Rules 1 to 25 come first, in the order in which the reference checks them. The reference reports
    only the first error, with the same message. If the reference iterates over an unordered set, it
    may report a different error first. In documents of the dialect, checks of the execution replace
    rules 18 to 25.
    """
    violations = list(_violations(document))
    if strict:
        return [replace(violation, severity=Severity.ERROR) for violation in violations]
    return violations


def _violations(document: Document) -> list[Violation]:
    graph = Graph(document)
    found = [*declarations(document, graph), *cycles(graph)]
    has_cycle = any(violation.rule == 14 for violation in found)
    too_large = list(_too_many_groups(document))
    if not document.has_dialect and not has_cycle:
        found += [] if too_large else concurrency(document, graph)
        found += pairing(document, graph)
    found += too_large
    # Outside the dialect, check blocks only if the previous rules found no violation.
    structure = find_structure(document) if document.has_dialect or not found else None
    found += naming(document)
    found += remote_values(document)
    if structure:
        found += blocks(document, structure)
        if not structure.problems and not any(_hides_walks(violation) for violation in found):
            found += token_flow(document, graph, structure)
    found += effort(document)
    return found


def _too_many_groups(document: Document) -> Iterator[Violation]:
    if len(document.entry_groups) > MAX_GROUPS:
        message = f"A workflow has at most {MAX_GROUPS} entry groups."
        yield Violation("too_large", message, f"/entry_groups/{MAX_GROUPS}")


def _hides_walks(violation: Violation) -> bool:
    """Return whether the token flow cannot be analyzed because of this violation."""
    return violation.is_error or violation.rule == "names_nothing"
