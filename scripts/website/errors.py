"""The reference of errors: each error code with its meaning and remedy, read from the code."""

from collections.abc import Iterator
from importlib import import_module
from inspect import getdoc

from nexus_tools.contracts import move_bindings
from nexus_tools.contracts.aborts import code_of, kind_of
from nexus_tools.contracts.upgrade_lock import move_bindings as lock_move
from nexus_tools.sui import errors
from nexus_tools.sui.bindings.runtime import MoveError
from website.cells import cell, flaw
from website.raised import KINDS, RaisedError, raised_by_kind

INTRODUCTION = """# Error codes

For users who encounter an error, and for programs that handle it: each code, its meaning and what
to do.

Every error is a `NexusError`. The class of an error indicates the solution, and determines the exit
code of the command line. The `code` of an error is a stable identifier for programs. With `--json`
the command line prints both. The parts in braces are placeholders.
"""
REMEDIES = {
    "NexusError": "Read the message; if it does not help, report it with the command.",
    "UsageError": "Correct the option, setting or file that the message names.",
    "NotFoundError": "Check the name or ID, and the selected network.",
    "WrongStateError": "Wait for the state that the message names, or create it, and try again.",
    "RefusedOnChainError": "Correct the cause in the message, and send the transaction again.",
    "UnreachableError": "Check that the server is running and reachable, and try again.",
    "ValidationError": "Correct the value that the message names.",
    "NotAllowedError": "Use the wallet, key or address that is allowed to do this.",
}
"""Instructions for errors without their own hint, by error class."""
MESSAGES = {
    "closing_impossible": "The Leader cannot close invocations, for the reason in the message.",
    "dependency_missing": "A module that the tool imports is missing; the message names it.",
    "disk_full": "The disk is full; the message names the file.",
    "domain_not_proved": "The domain does not list the owner, for the reason in the message.",
    "domain_unreachable": "The domain does not respond, for the reason in the message.",
    "entry_group_not_found": "The workflow has no entry group of this name.",
    "epoch_change_failed": "The epoch cannot be changed, for the reason in the message.",
    "file_inaccessible": "A file or folder cannot be read or written; the message names it.",
    "hyperpocket_settings_invalid": "The settings of a Hyperpocket tool are invalid.",
    "module_malformed": "The bytes are not a Move module; the message shows the location.",
    "move_abort": "A Move function aborted; the message names it and the code.",
    "move_tests_failed": "Some unit tests of the Move package failed; the message counts them.",
    "not_found": "The node does not have the object, transaction or checkpoint.",
    "pattern_invalid": "A regular expression is invalid; the message shows where.",
    "pysui_config_file_invalid": "The configuration file of pysui cannot be read.",
    "signature_malformed": "A signature does not have the form of its scheme.",
    "sui_config_invalid": "A configuration file of the Sui CLI cannot be read.",
    "tool_unreachable": "The tool does not respond, for the reason in the message.",
}
"""Meanings of errors whose whole message is only known at run time."""


def page() -> str:
    """Return the page. Raises `ValueError` if a cell is incomplete."""
    raised = all_by_kind()
    return INTRODUCTION + "".join(_section(kind, raised[name]) for name, kind in KINDS.items())


def all_by_kind() -> dict[str, list[RaisedError]]:
    """Return errors with complete texts by class name, including errors of the Move packages."""
    found = {name: {*raised} for name, raised in raised_by_kind().items()}
    for reason in _aborts():
        found[kind_of(reason).__name__].add(RaisedError(code_of(reason), reason.sentence, ""))
    return {name: sorted({*_complete(name, raised)}) for name, raised in found.items()}


def _complete(kind: str, raised: set[RaisedError]) -> Iterator[RaisedError]:
    """Yield errors with complete texts.

    If a text is known only at run time, it comes from another error with the same code or from the
    tables above.
    """
    told = {error.code for error in raised if error.message}
    for error in raised:
        if error.message or error.code not in told:
            message = error.message or MESSAGES.get(error.code, "")
            yield RaisedError(error.code, message, error.hint or REMEDIES[kind])


def _section(kind: type[errors.NexusError], raised: list[RaisedError]) -> str:
    rows = [f"| `{error.code}` | {_whole(error)} |" for error in raised]
    head = f"\n## {kind.__name__}: exit code {kind.exit_code}\n\n{getdoc(kind)}\n\n"
    return head + "\n".join(("| Code | Meaning | What to do |", "|---|---|---|", *rows)) + "\n"


def _whole(raised: RaisedError) -> str:
    for text in (raised.message, raised.hint):
        if wrong := flaw(text):
            raise ValueError(f"the error {raised.code} says {text!r}: {wrong}")
    return f"{cell(raised.message)} | {cell(raised.hint)}"


def _aborts() -> Iterator[MoveError]:
    for package in (move_bindings, move_bindings.workflows, lock_move):
        for module in package.TYPES.modules:
            yield from getattr(import_module(f"{package.__name__}.{module}"), "ERRORS", ())
