"""A trace as a JSON document."""

from base64 import b64encode
from collections.abc import Callable
from typing import Any

from nexus_tools.sui.bytecode import CleverError, MalformedModule, deserialize
from nexus_tools.sui.localnet.trace.changed_object import ChangedObject
from nexus_tools.sui.localnet.trace.transaction_trace import (
    CallTrace,
    CommandTrace,
    EventTrace,
    Step,
    TracedValue,
    TraceFailure,
    TransactionTrace,
)
from nexus_tools.sui.localnet.trace.value import MoveValue, as_json
from nexus_tools.sui.types.execution_status import MoveLocation
from nexus_tools.sui.types.object import (
    AddressOwner,
    ConsensusAddressOwner,
    Immutable,
    ObjectOwner,
    Owner,
    Shared,
)
from nexus_tools.sui.types.transaction import (
    Argument,
    GasCoin,
    InputArgument,
    MoveCall,
    NestedResult,
    Publish,
    Upgrade,
)

Document = dict[str, Any]
Form = Callable[[MoveValue], Any]


def trace_document(trace: TransactionTrace, form: Form = as_json) -> Document:
    """Return a trace as a JSON document. `form` converts each Move value. Costs are in MIST."""
    executed = trace.executed
    gas = executed.data.gas
    gas_used = executed.effects.gas_used
    return {
        "digest": str(executed.digest),
        "kind": type(executed.data.kind).__name__,
        "sender": str(executed.data.sender),
        "is_simulated": trace.is_simulated,
        "checkpoint": None if trace.is_simulated else executed.checkpoint,
        "timestamp_ms": executed.timestamp_ms,
        "epoch": executed.effects.epoch,
        "status": _status(trace.failure),
        "commands": [
            {"index": index, **_command(command, form)}
            for index, command in enumerate(trace.commands)
        ],
        "objects": [_object(changed) for changed in trace.objects],
        "gas": {
            "budget_mist": gas.budget,
            "price_mist": gas.price,
            "computation_mist": gas_used.computation_cost,
            "storage_mist": gas_used.storage_cost,
            "rebate_mist": gas_used.storage_rebate,
            "non_refundable_mist": gas_used.non_refundable_storage_fee,
            "net_mist": gas_used.net,
        },
        "effects_digest": str(executed.effects_digest),
        "is_faithful": trace.is_faithful,
        "left_out": trace.left_out,
    }


# --- Status


def _status(failure: TraceFailure | None) -> Document:
    if failure is None:
        return {"success": True}
    return {
        "success": False,
        "error": failure.error.kind.name,
        "command": failure.command,
        "message": failure.message,
        "location": _location(failure.location),
        "abort_code": None if failure.abort_code is None else str(failure.abort_code),
        "clever_error": _clever_error(failure.clever_error),
    }


def _location(location: MoveLocation | None) -> Document | None:
    if location is None:
        return None
    return {
        "package": str(location.package),
        "module": location.module,
        "function": location.function_name,
        "instruction": location.instruction,
    }


def _clever_error(clever: CleverError | None) -> Document | None:
    if clever is None:
        return None
    return {
        "line": clever.line_number,
        "code": clever.code,
        "constant": clever.constant_name,
        "value": clever.rendered,
        "bcs": None if clever.raw is None else b64encode(clever.raw).decode(),
    }


# --- Commands


def _command(command: CommandTrace, form: Form) -> Document:
    return {
        "kind": type(command.command).__name__,
        **_details(command),
        "arguments": [
            {
                "source": _source(item.argument),
                **(_value(item.value, form) if item.value else {}),
                **({"after": form(item.after)} if item.after else {}),
            }
            for item in command.arguments
        ],
        "results": [_value(value, form) for value in command.results],
        "status": command.status.value,
        "gas": {"total": command.gas.total, "own": command.gas.own},
        "steps": [_step(step, form) for step in command.steps],
        "left_out": command.left_out,
    }


def _details(trace: CommandTrace) -> Document:
    """Return the properties of a command other than its arguments."""
    command = trace.command
    if isinstance(command, MoveCall):
        return {
            "package": str(command.package),
            "module": command.module,
            "function": command.function,
            "type_arguments": list(map(str, command.type_arguments)),
        }
    if isinstance(command, Publish | Upgrade):
        return {
            "package": str(trace.package) if trace.package else None,
            "modules": list(map(_module_name, command.modules)),
        }
    return {}


def _module_name(data: bytes) -> str | None:
    try:
        return deserialize(data).name
    except MalformedModule:
        return None


def _source(argument: Argument) -> Document:
    if isinstance(argument, GasCoin):
        return {"kind": "gas_coin"}
    if isinstance(argument, InputArgument):
        return {"kind": "input", "index": argument.index}
    if isinstance(argument, NestedResult):
        return {"kind": "result", "command": argument.command, "index": argument.index}
    return {"kind": "result", "command": argument.command, "index": 0}


# --- Calls


def _step(step: Step, form: Form) -> Document:
    return _event(step, form) if isinstance(step, EventTrace) else _call(step, form)


def _event(event: EventTrace, form: Form) -> Document:
    return {"kind": "event", "index": event.index, **_value(event.value, form)}


def _call(call: CallTrace, form: Form) -> Document:
    function = call.function
    return {
        "kind": "call",
        "package": str(function.package),
        "module": function.module.name,
        "function": function.name,
        "is_native": function.is_native,
        "type_arguments": list(map(str, call.type_arguments)),
        "arguments": [_traced(value, form) for value in call.arguments],
        "results": [_traced(value, form) for value in call.results],
        "status": call.status.value,
        "gas": {"total": call.gas.total, "own": call.gas.own},
        "steps": [_step(step, form) for step in call.steps],
        "left_out": call.left_out,
    }


def _traced(traced: TracedValue, form: Form) -> Document:
    document = {"type": str(traced.type), "value": form(traced.value)}
    return document if traced.after is None else {**document, "after": form(traced.after)}


def _value(value: MoveValue, form: Form) -> Document:
    return {"type": str(value.type), "value": form(value)}


# --- Objects


def _object(changed: ChangedObject) -> Document:
    return {
        "change": changed.kind.value,
        "id": str(changed.object_id),
        "type": str(changed.type) if changed.type else None,
        "version": changed.version,
        "owner": _owner(changed.owner),
        "version_before": changed.version_before,
        "owner_before": _owner(changed.owner_before),
    }


_OWNERS: dict[type[Any], Callable[[Any], Document]] = {
    AddressOwner: lambda owner: {"kind": "address", "address": str(owner.address)},
    ObjectOwner: lambda owner: {"kind": "object", "address": str(owner.parent)},
    Shared: lambda owner: {"kind": "shared", "version": owner.initial_version},
    Immutable: lambda _: {"kind": "immutable"},
    ConsensusAddressOwner: lambda owner: {
        "kind": "consensus_address",
        "address": str(owner.address),
        "version": owner.start_version,
    },
}


def _owner(owner: Owner | None) -> Document | None:
    return None if owner is None else _OWNERS[type(owner)](owner)
