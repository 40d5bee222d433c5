"""Run a stranger's program: scrubbed environment, own directories, limits, killed as a group."""

from nexus_tools.bridges.sandbox.environment import environment_of
from nexus_tools.bridges.sandbox.finished import Finished
from nexus_tools.bridges.sandbox.limits import Limit, ProcessLimits
from nexus_tools.bridges.sandbox.process import run
from nexus_tools.bridges.sandbox.scratch import Scratch
from nexus_tools.bridges.sandbox.watch.linux import hide_environment
from nexus_tools.bridges.sandbox.watch.starting import REPLY_DESCRIPTOR
from nexus_tools.bridges.sandbox.watcher import launcher

__all__ = [
    "REPLY_DESCRIPTOR",
    "Finished",
    "Limit",
    "ProcessLimits",
    "Scratch",
    "environment_of",
    "hide_environment",
    "launcher",
    "run",
]
