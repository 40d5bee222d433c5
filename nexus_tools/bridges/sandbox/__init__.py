"""The sandbox for untrusted programs: confinement, limits, and an environment of allowed variables.

Start reading at `process.py`. The function `run` executes a program and kills all processes that
the program started.
"""

from nexus_tools.bridges.sandbox.confinement import (
    BRIDGE_PATHS,
    DNS_PORT,
    UNCONFINED,
    Confinement,
    interpreter_paths,
    is_too_broad,
    npm_packages,
)
from nexus_tools.bridges.sandbox.environment import environment_of
from nexus_tools.bridges.sandbox.limits import Limit, ProcessLimits
from nexus_tools.bridges.sandbox.process import run
from nexus_tools.bridges.sandbox.process_result import ProcessResult
from nexus_tools.bridges.sandbox.scratch import ScratchDirectory
from nexus_tools.bridges.sandbox.watch.exec import REPLY_DESCRIPTOR
from nexus_tools.bridges.sandbox.watch.linux import hide_environment
from nexus_tools.bridges.sandbox.watch_handle import watched_command

__all__ = [
    "BRIDGE_PATHS",
    "DNS_PORT",
    "REPLY_DESCRIPTOR",
    "UNCONFINED",
    "Confinement",
    "Limit",
    "ProcessLimits",
    "ProcessResult",
    "ScratchDirectory",
    "environment_of",
    "hide_environment",
    "interpreter_paths",
    "is_too_broad",
    "npm_packages",
    "run",
    "watched_command",
]
