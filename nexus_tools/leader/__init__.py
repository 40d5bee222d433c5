"""The Leader daemon: it takes invocations from the chain, calls tools, and records the outcomes.

Begin reading in `leader` (start, work, stop) and `parts` (how the components are wired); one
invocation is handled in `carrier`.
"""

from nexus_tools.leader.chain.chain import FoundTool
from nexus_tools.leader.closing.worker_funding import command_to_send, least_mist, usable_mist
from nexus_tools.leader.config import LOOPBACK, LeaderConfig
from nexus_tools.leader.dispatch.file_descriptors import make_room
from nexus_tools.leader.dispatch.interfaces import Interface, Interfaces
from nexus_tools.leader.dispatch.invoker import Invoker
from nexus_tools.leader.dispatch.meta_check import MetaCheck
from nexus_tools.leader.dispatch.remote_values import Fetch, urls_and_functions
from nexus_tools.leader.dispatch.request_signing import SignedTraffic
from nexus_tools.leader.dispatch.response_classifier import MAX_OUTCOME_BYTES, Declined
from nexus_tools.leader.dispatch.tool_call import ToolCall
from nexus_tools.leader.health.health_server import not_ready
from nexus_tools.leader.journal.inspection import stage_of
from nexus_tools.leader.leader import Leader
from nexus_tools.leader.metrics import LeaderMetrics

__all__ = [
    "LOOPBACK",
    "MAX_OUTCOME_BYTES",
    "Declined",
    "Fetch",
    "FoundTool",
    "Interface",
    "Interfaces",
    "Invoker",
    "Leader",
    "LeaderConfig",
    "LeaderMetrics",
    "MetaCheck",
    "SignedTraffic",
    "ToolCall",
    "command_to_send",
    "least_mist",
    "make_room",
    "not_ready",
    "stage_of",
    "urls_and_functions",
    "usable_mist",
]
