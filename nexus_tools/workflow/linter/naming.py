"""The rules for undefined and duplicate names, which the reference does not check."""

from collections.abc import Hashable, Iterable, Iterator

from nexus_tools.sui.support.suggestions import with_suggestion
from nexus_tools.workflow.document.document import DEFAULT_PARALLEL, DIALECT, Document, InputPort
from nexus_tools.workflow.document.violation import Severity, Violation

# The search for similar names is slow, so only the first names get a suggestion.
_MAX_SUGGESTIONS = 20


def naming(document: Document) -> Iterator[Violation]:
    """Yield violations for undefined vertices and entry ports, and for duplicate names and values.

    Violations of dialect features are errors. An undefined vertex is an error in the dialect. All
    other violations are warnings.
    """
    yield from _undeclared(document)
    yield from _inputs(document)
    yield from _doubled(document)
    yield from _outside_the_dialect(document)


def _undeclared(document: Document) -> Iterator[Violation]:
    declared = {vertex.name for vertex in document.vertices}
    severity = Severity.ERROR if document.has_dialect else Severity.WARNING
    places = [
        *((edge.source.vertex, f"/edges/{at}/from") for at, edge in enumerate(document.edges)),
        *((edge.target.vertex, f"/edges/{at}/to") for at, edge in enumerate(document.edges)),
        *(
            (default.target.vertex, f"/default_values/{at}")
            for at, default in enumerate(document.defaults)
        ),
        *((output.source.vertex, f"/outputs/{at}") for at, output in enumerate(document.outputs)),
    ]
    messages: dict[str, str] = {}
    for name, pointer in places:
        if name in declared:
            continue
        if name not in messages:
            messages[name] = f"The vertex {name!r} does not exist."
            if len(messages) <= _MAX_SUGGESTIONS:
                messages[name] = with_suggestion(messages[name], name, declared)
        yield Violation("names_nothing", messages[name], f"{pointer}/vertex", severity)
    for at, group in enumerate(document.entry_groups):
        if not group.vertices:
            message = f"The entry group {group.name!r} has no vertices."
            yield _warning("names_nothing", message, f"/entry_groups/{at}")


def _inputs(document: Document) -> Iterator[Violation]:
    """Check that an input names entry ports, and that a port has at most one input."""
    ports = {
        InputPort(vertex.name, name) for vertex in document.vertices for name in vertex.entry_ports
    }
    targets = []
    for at, input_ in enumerate(document.inputs):
        if not input_.targets:
            message = f"The input {input_.name!r} has no ports."
            yield Violation("names_nothing", message, f"/inputs/{at}/to")
        targets += [(port, f"/inputs/{at}/to/{index}") for index, port in enumerate(input_.targets)]
    for port, pointer in targets:
        if port not in ports:
            yield Violation("names_nothing", f"The entry port {port} does not exist.", pointer)
    for at in _repeated(port for port, _ in targets):
        port, pointer = targets[at]
        yield Violation("duplicate", f"{port} has two inputs.", pointer)
    for at in _repeated(input_.name for input_ in document.inputs):
        message = f"Two inputs have the name {document.inputs[at].name!r}."
        yield Violation("duplicate", message, f"/inputs/{at}/name")


def _doubled(document: Document) -> Iterator[Violation]:
    for at in _repeated(default.target for default in document.defaults):
        message = f"{document.defaults[at].target} has two default values."
        yield _warning("duplicate", message, f"/default_values/{at}")
    for at in _repeated(group.name for group in document.entry_groups):
        message = f"Two entry groups have the name {document.entry_groups[at].name!r}."
        yield _warning("duplicate", message, f"/entry_groups/{at}/name")
    for at, group in enumerate(document.entry_groups):
        for index in _repeated(group.vertices):
            message = f"The entry group {group.name!r} lists {group.vertices[index]!r} twice."
            yield _warning("duplicate", message, f"/entry_groups/{at}/vertices/{index}")
    for at in _repeated(output.source for output in document.outputs):
        message = f"{document.outputs[at].source} is listed as an output twice."
        yield _warning("duplicate", message, f"/outputs/{at}")
    # Several outputs may have the same name, for example in two alternative branches.


def _outside_the_dialect(document: Document) -> Iterator[Violation]:
    """Report dialect fields in a document without the dialect.

    Only a document that was built in Python can have these fields, because parsing drops them.
    """
    if document.has_dialect:
        return
    fields = [("/inputs", "inputs")] if document.inputs else []
    fields += [
        (f"/outputs/{at}/name", "name") for at, output in enumerate(document.outputs) if output.name
    ]
    for at, vertex in enumerate(document.vertices):
        for name, default in (
            ("attempts", 1),
            ("retry_after_ms", 0),
            ("parallel", DEFAULT_PARALLEL),
        ):
            if getattr(vertex, name) != default:
                fields.append((f"/vertices/{at}/{name}", name))
    for pointer, name in fields:
        message = f'The field `{name}` has no effect without `"dialect": "{DIALECT}"`.'
        yield Violation("unknown_field", message, pointer)


def _repeated(values: Iterable[Hashable]) -> Iterator[int]:
    """Yield the index of each value that has occurred at an earlier index."""
    met = set()
    for at, value in enumerate(values):
        if value in met:
            yield at
        met.add(value)


def _warning(rule: str, message: str, pointer: str) -> Violation:
    return Violation(rule, message, pointer, Severity.WARNING)
