"""What every command is made with: its options, its session, and the words it prints.

Each name is imported when it is first asked for, so that `--help` is there at once.
"""

from typing import TYPE_CHECKING

from nexus_tools.late_imports import late_names

if TYPE_CHECKING:
    from nexus_tools.cli.framework.command import local, reads, writes
    from nexus_tools.cli.framework.completing import (
        complete_files,
        complete_folders,
        complete_fqns,
        complete_keys,
        complete_networks,
        complete_settings,
    )
    from nexus_tools.cli.framework.documents import (
        read_bytes,
        read_json,
        read_option,
        read_secret,
    )
    from nexus_tools.cli.framework.hints import as_typed
    from nexus_tools.cli.framework.interrupts import terminable
    from nexus_tools.cli.framework.lazy import LazyGroup, usage_message
    from nexus_tools.cli.framework.output import Output, json_text, plain, print_drawn, print_tree
    from nexus_tools.cli.framework.own_process import own_command
    from nexus_tools.cli.framework.parameters import (
        ACCOUNT,
        AMOUNT,
        CA_FILE,
        DURATION,
        FILE,
        FRAMEWORK_FROM,
        LOG_FORMAT,
        Choice,
    )
    from nexus_tools.cli.framework.reaching import reach, reaches
    from nexus_tools.cli.framework.selection import Selection, picks, selects
    from nexus_tools.cli.framework.sent import asked, carry_out, report, sent_record
    from nexus_tools.cli.framework.serving import Serving, serves
    from nexus_tools.cli.framework.session import Session
    from nexus_tools.cli.framework.shared_options import shared_options_last
    from nexus_tools.cli.framework.templates import check_empty, filled_in, write_template
    from nexus_tools.cli.framework.watching import event_document, event_line, watch

__all__ = [
    "ACCOUNT",
    "AMOUNT",
    "CA_FILE",
    "DURATION",
    "FILE",
    "FRAMEWORK_FROM",
    "LOG_FORMAT",
    "Choice",
    "LazyGroup",
    "Output",
    "Selection",
    "Serving",
    "Session",
    "as_typed",
    "asked",
    "carry_out",
    "check_empty",
    "complete_files",
    "complete_folders",
    "complete_fqns",
    "complete_keys",
    "complete_networks",
    "complete_settings",
    "event_document",
    "event_line",
    "filled_in",
    "json_text",
    "local",
    "own_command",
    "picks",
    "plain",
    "print_drawn",
    "print_tree",
    "reach",
    "reaches",
    "read_bytes",
    "read_json",
    "read_option",
    "read_secret",
    "reads",
    "report",
    "selects",
    "sent_record",
    "serves",
    "shared_options_last",
    "terminable",
    "usage_message",
    "watch",
    "write_template",
    "writes",
]

__getattr__ = late_names(
    __name__,
    globals(),
    {
        "command": ("local", "reads", "writes"),
        "completing": (
            "complete_files",
            "complete_folders",
            "complete_fqns",
            "complete_keys",
            "complete_networks",
            "complete_settings",
        ),
        "documents": ("read_bytes", "read_json", "read_option", "read_secret"),
        "hints": ("as_typed",),
        "interrupts": ("terminable",),
        "lazy": ("LazyGroup", "usage_message"),
        "own_process": ("own_command",),
        "output": ("Output", "json_text", "plain", "print_drawn", "print_tree"),
        "parameters": (
            "ACCOUNT",
            "AMOUNT",
            "CA_FILE",
            "DURATION",
            "FILE",
            "FRAMEWORK_FROM",
            "LOG_FORMAT",
            "Choice",
        ),
        "reaching": ("reach", "reaches"),
        "selection": ("Selection", "picks", "selects"),
        "sent": ("asked", "carry_out", "report", "sent_record"),
        "serving": ("Serving", "serves"),
        "session": ("Session",),
        "shared_options": ("shared_options_last",),
        "templates": ("check_empty", "filled_in", "write_template"),
        "watching": ("event_document", "event_line", "watch"),
    },
)
