"""All violations of a document in one list."""

from dataclasses import replace

from nexus_tools.workflow.document import Document
from nexus_tools.workflow.linter.concurrency import concurrency, cycles
from nexus_tools.workflow.linter.declarations import declarations
from nexus_tools.workflow.linter.graph import Graph
from nexus_tools.workflow.linter.naming import naming
from nexus_tools.workflow.linter.pairing import pairing
from nexus_tools.workflow.violation import Severity, Violation


def lint(document: Document, *, strict: bool = False) -> list[Violation]:
    """Everything that is wrong with a document, none if nothing is; `strict` makes all errors.

    Rules 1 to 25 come first, in the order in which the reference checks them: it reports the first
    error alone, with the same message. Where it goes through a set, which has no order, it may
    report another of the same rules.
    """
    graph = Graph(document)
    violations = [*declarations(document, graph), *cycles(graph)]
    if all(violation.rule != 14 for violation in violations) and not document.has_dialect:
        violations += [*concurrency(document, graph), *pairing(document, graph)]
    violations += naming(document)
    if strict:
        return [replace(violation, severity=Severity.ERROR) for violation in violations]
    return violations
