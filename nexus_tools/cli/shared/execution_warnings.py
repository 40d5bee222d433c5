"""Warnings before an execution starts or is scheduled: long waits and remote values."""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from nexus_tools.cli.framework import Output, Session, plain
from nexus_tools.errors import UsageError
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.registry import PublishedWorkflow
    from nexus_tools.workflow import Document


def warn_before_execution(
    session: Session,
    workflow: "PublishedWorkflow",
    inputs: dict[str, Any],
    group: str | None,
    duration_ms: int,
) -> None:
    """Warn about every known problem that prevents the completion of an execution."""
    _warn_of_values(session.output, workflow.document)
    with suppress(UsageError):  # starting the execution reports the error
        _warn_of_waiting(session.output, workflow.document, inputs, group, duration_ms)


def _warn_of_values(output: Output, document: "Document") -> None:
    """Warn about remote values, because an execution fails unless its leader fetches them."""
    from nexus_tools.workflow import Storage

    for constant in document.defaults:
        if constant.storage is not Storage.INLINE:
            output.warn(
                plain(
                    f"the value of {constant.target} is stored in {constant.storage.value}. Name a"
                    " leader that fetches values from this storage"
                )
            )


def _warn_of_waiting(
    output: Output,
    document: "Document",
    inputs: dict[str, Any],
    group: str | None,
    duration_ms: int,
) -> None:
    """Warn about waits that exceed the deadline of the execution."""
    from nexus_tools.workflow import entry_values, max_waiting_ms, select_entry_group

    values = entry_values(document, select_entry_group(document, group), inputs)
    for vertex, waits_ms in max_waiting_ms(document, values).items():
        if waits_ms > duration_ms:
            output.warn(
                f"{vertex} may wait for {units.duration(waits_ms)}, but the execution ends after"
                f" {units.duration(duration_ms)}. Pass --deadline to extend it"
            )
