"""The rendering of ledger values as messages, with one module for each kind of value.

Each function fills the message that the caller passes. `mask` contains the requested fields.
"""

from nexus_tools.sui.localnet.rpc.rendering.checkpoint import render_checkpoint
from nexus_tools.sui.localnet.rpc.rendering.common_messages import render_bcs, render_time
from nexus_tools.sui.localnet.rpc.rendering.dynamic_field import render_dynamic_field
from nexus_tools.sui.localnet.rpc.rendering.epoch import render_epoch
from nexus_tools.sui.localnet.rpc.rendering.event import render_ledger_event
from nexus_tools.sui.localnet.rpc.rendering.executed_transaction import (
    render_executed,
    render_outcome,
)
from nexus_tools.sui.localnet.rpc.rendering.object import render_object
from nexus_tools.sui.localnet.rpc.rendering.package import (
    render_datatype,
    render_function,
    render_module,
    render_package,
)
from nexus_tools.sui.localnet.rpc.rendering.transaction import render_argument

__all__ = [
    "render_argument",
    "render_bcs",
    "render_checkpoint",
    "render_datatype",
    "render_dynamic_field",
    "render_epoch",
    "render_executed",
    "render_function",
    "render_ledger_event",
    "render_module",
    "render_object",
    "render_outcome",
    "render_package",
    "render_time",
]
