"""The sandbox for untrusted programs: confinement, limits, and an environment of allowed variables.

Begin reading at `process.py`: `run` executes one program and kills all processes that it started.
"""

from nexus_tools.bridges.sandbox.confinement import (
    NAMES_PORT,
    OWN_PLACES,
    UNCONFINED,
    Confinement,
    interpreter_places,
    is_too_wide,
    npm_packages,
)
from nexus_tools.bridges.sandbox.environment import environment_of
from nexus_tools.bridges.sandbox.limits import Limit, ProcessLimits
from nexus_tools.bridges.sandbox.process import run
from nexus_tools.bridges.sandbox.process_result import Finished
from nexus_tools.bridges.sandbox.scratch import Scratch
from nexus_tools.bridges.sandbox.watch.exec import REPLY_DESCRIPTOR
from nexus_tools.bridges.sandbox.watch.linux import hide_environment
from nexus_tools.bridges.sandbox.watch_handle import launcher

__all__ = [
    "NAMES_PORT",
    "OWN_PLACES",
    "REPLY_DESCRIPTOR",
    "UNCONFINED",
    "Confinement",
    "Finished",
    "Limit",
    "ProcessLimits",
    "Scratch",
    "environment_of",
    "hide_environment",
    "interpreter_places",
    "is_too_wide",
    "launcher",
    "npm_packages",
    "run",
]
