"""Sui's own Move VM, from the wheel `sui_sandbox`.

The VM expects each argument as a type and BCS bytes, even if the parameter is a reference. The VM
returns results as BCS bytes. Each call is a separate transaction.
"""

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sui_sandbox

from genuine.outcome import RETURNED, Outcome
from nexus_tools.sui.types.address import Address

# The wheel's message for failed transactions. The digest varies.
EPOCH = 100
EPOCH_TIMESTAMP_MS = 1_704_067_200_000
GAS_PRICE = 750
GAS_BUDGET = 50_000_000_000
SENDER = Address.of(0)

_STATUS = re.compile(r"major_status: (\w+), sub_status: (?:None|Some\((\d+)\))")
_MODULE = re.compile(
    r"location: Module\(ModuleId \{ address: (\w+), name: Identifier\(\"(\w+)\"\) \}\)"
)
_OFFSET = re.compile(r"offsets: \[\(FunctionDefinitionIndex\((\d+)\), (\d+)\)\]")


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a public function. `arguments` are types and BCS bytes."""

    package: Address
    module: str
    function: str
    type_arguments: tuple[str, ...] = ()
    arguments: tuple[tuple[str, bytes], ...] = ()


Packages = Mapping[Address, Sequence[bytes]]
"""Lists of module files, by the address of the first module in the list.

If another module in the list has an address of the framework, it replaces the framework's module.
"""

Children = Mapping[str, Sequence[tuple[str, bytes, str]]]
"""Dynamic fields: the parent's ID, and the ID, BCS bytes and type of each field."""


def call_reference(call: Call, packages: Packages, children: Children | None = None) -> Outcome:
    """Return the outcome of a call."""
    answer = ask(call, packages, children)
    if not answer["success"]:
        return _failure(answer["error"])
    returned = answer["return_values"]
    values = [base64.b64decode(value) for value in returned[0]] if returned else []
    return Outcome(RETURNED, values=tuple(values))


def ask(call: Call, packages: Packages, children: Children | None = None) -> dict[str, Any]:
    """Return the wheel's own response: `success`, `error`, `return_values`."""
    answer: dict[str, Any] = sui_sandbox.call_view_function(
        call.package.short(),
        call.module,
        call.function,
        type_args=list(call.type_arguments),
        object_inputs=[_argument(*one) for one in enumerate(call.arguments)],
        child_objects=_children(children or {}),
        package_bytecodes={address.short(): list(files) for address, files in packages.items()},
        fetch_deps=False,
    )
    return answer


def _argument(place: int, argument: tuple[str, bytes]) -> dict[str, object]:
    type_, data = argument
    return {
        "object_id": hex(0x7000 + place),
        "bcs_bytes": data,
        "type_tag": type_,
        "is_shared": False,
        "mutable": False,
    }


def _children(children: Children) -> dict[str, list[dict[str, object]]]:
    return {
        parent: [
            {"child_id": child, "bcs_bytes": data, "type_tag": type_}
            for child, data, type_ in fields
        ]
        for parent, fields in children.items()
    }


def _failure(text: str) -> Outcome:
    status, module, offset = (regex.search(text) for regex in (_STATUS, _MODULE, _OFFSET))
    if status is None:
        return Outcome(f"REFUSED: {text}")
    sub_status = int(status[2]) if status[2] else None
    if module is None or offset is None:
        return Outcome(status[1], sub_status)
    address = Address.parse("0x" + module[1].removeprefix("0x"))
    return Outcome(status[1], sub_status, (address, module[2], int(offset[1]), int(offset[2])))
