"""The daemon: carries invocations from the chain to tools, and what comes back to the chain."""

from nexus_tools.leader.address_guard import AddressGuard, AddressRefused
from nexus_tools.leader.chain import FoundTool
from nexus_tools.leader.config import LOOPBACK, LeaderConfig
from nexus_tools.leader.file_descriptors import make_room
from nexus_tools.leader.health import not_ready
from nexus_tools.leader.http_client import (
    NoResponseError,
    ResponseMalformedError,
    ResponseTooLargeError,
    SystemResolver,
    exchange,
    guarded_client,
)
from nexus_tools.leader.interfaces import Interface, Interfaces
from nexus_tools.leader.invoker import Invoker
from nexus_tools.leader.journal_reading import stage_of
from nexus_tools.leader.judgement import MAX_OUTCOME_BYTES, Declined
from nexus_tools.leader.leader import Leader
from nexus_tools.leader.meta_check import MetaCheck
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.leader.remote_values import Fetch, urls_and_functions
from nexus_tools.leader.signed_traffic import SignedTraffic
from nexus_tools.leader.tool_call import ToolCall
from nexus_tools.leader.worker_funds import command_to_send, least_mist, usable_mist

__all__ = [
    "LOOPBACK",
    "MAX_OUTCOME_BYTES",
    "AddressGuard",
    "AddressRefused",
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
    "NoResponseError",
    "ResponseMalformedError",
    "ResponseTooLargeError",
    "SignedTraffic",
    "SystemResolver",
    "ToolCall",
    "command_to_send",
    "exchange",
    "guarded_client",
    "least_mist",
    "make_room",
    "not_ready",
    "stage_of",
    "urls_and_functions",
    "usable_mist",
]
