"""The Leader daemon, which reads invocations from the chain, calls tools, and records outcomes.

Start reading with the modules `leader` (start and stop) and `assembly` (creation of the
components). The module `dispatcher` handles one invocation.
"""

from nexus_tools.leader.chain.chain import FoundTool
from nexus_tools.leader.closing.worker_funding import (
    funding_command,
    minimum_balance_mist,
    spendable_mist,
)
from nexus_tools.leader.config import LOOPBACK, LeaderConfig
from nexus_tools.leader.dispatch.file_descriptors import raise_file_limit
from nexus_tools.leader.dispatch.interfaces import Interface, InterfaceCache
from nexus_tools.leader.dispatch.invoker import Invoker
from nexus_tools.leader.dispatch.meta_check import MetaCheck
from nexus_tools.leader.dispatch.remote_values import Fetch, split_storages
from nexus_tools.leader.dispatch.request_signing import RequestSigning
from nexus_tools.leader.dispatch.response_classifier import MAX_OUTCOME_BYTES, Declined
from nexus_tools.leader.dispatch.tool_call import ToolCall
from nexus_tools.leader.health.health_server import not_ready
from nexus_tools.leader.journal.inspection import (
    Job,
    JobState,
    JournalInspection,
    Process,
    create_journal,
    inspect_journal,
    require_finished,
    stage_of,
)
from nexus_tools.leader.journal.postgres_url import PostgresUrl
from nexus_tools.leader.leader import Leader
from nexus_tools.leader.metrics import LeaderMetrics

__all__ = [
    "LOOPBACK",
    "MAX_OUTCOME_BYTES",
    "Declined",
    "Fetch",
    "FoundTool",
    "Interface",
    "InterfaceCache",
    "Invoker",
    "Job",
    "JobState",
    "JournalInspection",
    "Leader",
    "LeaderConfig",
    "LeaderMetrics",
    "MetaCheck",
    "PostgresUrl",
    "Process",
    "RequestSigning",
    "ToolCall",
    "create_journal",
    "funding_command",
    "inspect_journal",
    "minimum_balance_mist",
    "not_ready",
    "raise_file_limit",
    "require_finished",
    "spendable_mist",
    "split_storages",
    "stage_of",
]
