"""The service `sui.rpc.v2.TransactionExecutionService`: execution and simulation."""

from nexus_tools.sui.bcs import BcsError
from nexus_tools.sui.errors import NotAllowedError
from nexus_tools.sui.localnet.execution import (
    CommandResult,
    ExecutionResult,
    Mode,
    TransactionRefused,
)
from nexus_tools.sui.localnet.rpc.backend import Backend, UnaryHandler
from nexus_tools.sui.localnet.rpc.interface import (
    EXECUTION_FIELDS,
    SIMULATION_FIELDS,
    Mask,
    RpcError,
    invalid,
    prune,
    requested_mask,
)
from nexus_tools.sui.localnet.rpc.rendering import (
    render_argument,
    render_bcs,
    render_executed,
    render_outcome,
)
from nexus_tools.sui.localnet.rpc.requests import parse_transaction, serialized_signature
from nexus_tools.sui.localnet.rpc.resolution import (
    is_complete,
    resolve_transaction,
    with_estimated_budget,
    with_payment,
)
from nexus_tools.sui.rpc import Message
from nexus_tools.sui.types.transaction import ProgrammableTransaction, TransactionData
from nexus_tools.sui.types.type_tag import TypeTag

_CHECKS_DISABLED = 1
_MAX_SIGNATURES = 2


# --- Execution


def _execute_transaction(backend: Backend, request: Message, response: Message) -> None:
    mask = requested_mask(request, backend.descriptor("ExecutedTransaction"), EXECUTION_FIELDS)
    data = _transaction_bytes(backend, request)
    if len(request.signatures) > _MAX_SIGNATURES:
        raise invalid(
            f"{len(request.signatures)} provided signatures exceeds the maximum allowed of"
            f" {_MAX_SIGNATURES}",
            "signatures",
        )
    signatures = [serialized_signature(signature) for signature in request.signatures]
    try:
        executed = backend.node.execute(data, signatures)
    except BcsError as error:
        raise invalid(f"invalid transaction: {error.message}") from None
    except NotAllowedError as error:
        raise invalid(f"Invalid user signature: {error.message}") from None
    except TransactionRefused as error:
        raise _refused(error) from None
    render_executed(response.transaction, executed, mask, backend.node, backend.json)


def _transaction_bytes(backend: Backend, request: Message) -> bytes:
    if not request.HasField("transaction"):
        raise invalid("missing transaction")
    if request.transaction.HasField("bcs"):
        return bytes(request.transaction.bcs.value)
    price = backend.node.environment.reference_gas_price
    return parse_transaction(request.transaction, price).encode()


def _refused(error: TransactionRefused) -> RpcError:
    return invalid(
        "Transaction execution failed due to issues with transaction inputs, please review the"
        f" errors and try again: {error.message}."
    )


# --- Simulation


def _simulate_transaction(backend: Backend, request: Message, response: Message) -> None:
    mask = requested_mask(
        request, backend.descriptor("SimulateTransactionResponse"), SIMULATION_FIELDS
    )
    if not request.HasField("transaction"):
        raise invalid("missing transaction")
    data = _transaction(backend, request.transaction)
    mode = Mode.INSPECT if request.checks == _CHECKS_DISABLED else Mode.SIMULATE
    try:
        if request.do_gas_selection and mode is Mode.SIMULATE:
            data = _with_gas(backend, request.transaction, data)
        executed, result = backend.node.simulate(data, mode)
    except TransactionRefused as error:
        raise invalid(f"Error checking transaction input objects: {error.message}") from None
    if (inner_mask := mask.get("transaction")) is not None:
        target = response.transaction
        render_outcome(target, executed, inner_mask, backend.node, backend.json)
    if (inner_mask := mask.get("command_outputs")) is not None:
        _render_outputs(backend, response, result, inner_mask)
    prune(response, mask)


def _transaction(backend: Backend, message: Message) -> TransactionData:
    """Return the transaction of a request. Missing parts are resolved."""
    if not is_complete(message):
        return resolve_transaction(backend.node, message)
    data = parse_transaction(message, backend.node.environment.reference_gas_price)
    if not isinstance(data.kind, ProgrammableTransaction):
        raise invalid("simulate does not support system transactions")
    return data


def _with_gas(backend: Backend, message: Message, data: TransactionData) -> TransactionData:
    """Add the budget and the coins if the client omitted them."""
    has_budget = message.HasField("bcs") or message.gas_payment.HasField("budget")
    if not has_budget:
        data = with_estimated_budget(backend.node, data)
    if data.gas.payment:
        return data
    return with_payment(backend.node, data, estimated=not has_budget)


def _render_outputs(
    backend: Backend, response: Message, result: ExecutionResult, mask: Mask
) -> None:
    for command in result.command_results:
        _render_command(backend, response.command_outputs.add(), command, mask)


def _render_command(backend: Backend, message: Message, command: CommandResult, mask: Mask) -> None:
    if (inner_mask := mask.get("return_values")) is not None:
        for tag, value in command.return_values:
            _render_value(backend, message.return_values.add(), tag, value, inner_mask)
    if (inner_mask := mask.get("mutated_by_ref")) is not None:
        for argument, tag, value in command.mutated_by_reference:
            target = message.mutated_by_ref.add()
            render_argument(target.argument, argument)
            _render_value(backend, target, tag, value, inner_mask)


def _render_value(
    backend: Backend, message: Message, tag: TypeTag, value: bytes, mask: Mask
) -> None:
    render_bcs(message.value, str(tag), value)
    if "json" in mask:
        backend.json.render(tag, value, lambda: message.json)


UNARY: dict[str, UnaryHandler] = {
    "ExecuteTransaction": _execute_transaction,
    "SimulateTransaction": _simulate_transaction,
}
