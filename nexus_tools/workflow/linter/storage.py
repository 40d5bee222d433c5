"""The rules for remote values, which are stored neither in the document nor on chain."""

from collections.abc import Iterator

from nexus_tools.workflow.document.document import (
    Default,
    Document,
    Storage,
    Verifier,
    Vertex,
    VertexKind,
    is_storage_key,
)
from nexus_tools.workflow.document.violation import Severity, Violation


def remote_values(document: Document) -> Iterator[Violation]:
    """Check remote default values. Leaders may fetch remote values, but Move code cannot."""
    vertices = {vertex.name: vertex for vertex in document.vertices}
    for at, default in enumerate(document.defaults):
        if default.storage is Storage.INLINE:
            continue
        pointer = f"/default_values/{at}/value"
        yield _of_storage(default, vertices.get(default.target.vertex), f"{pointer}/storage")
        if not _has_keys(default.data):
            message = (
                f"The data of {default.target} must be a key of {default.storage.value}, or a list"
                " of keys. A key contains letters, digits and -._~, and is neither . nor .."
            )
            yield Violation("remote_value", message, f"{pointer}/data")


def _of_storage(default: Default, vertex: Vertex | None, pointer: str) -> Violation:
    severity = Severity.ERROR
    if vertex is not None and vertex.kind is VertexKind.ON_CHAIN:
        why = "an on-chain tool accepts only inline values"
    elif vertex is not None and vertex.verifier is not Verifier.NONE:
        why = "a tool signs only inline values"
    else:
        severity = Severity.WARNING
        why = "a run fails unless its leader fetches remote values"
    message = f"The value of {default.target} is stored in {default.storage.value}, but {why}."
    return Violation("remote_value", message, pointer, severity)


def _has_keys(data: object) -> bool:
    keys = data if isinstance(data, list) else [data]
    return all(isinstance(key, str) and is_storage_key(key) for key in keys)
