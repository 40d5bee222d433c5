"""Parameters of the Move functions of on-chain tools, and the commands that call these functions.

A tool's function is untrusted code that runs in the caller's transaction. With a `TxContext`, the
function could call other code that accepts the caller as the sender. The tool could then settle
other invocations as the leader, or transfer objects of the sender. Functions with a `TxContext`
parameter are therefore rejected.
"""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from cachetools import LRUCache

from nexus_tools.contracts import Deployment
from nexus_tools.contracts.move_bindings import on_chain_call
from nexus_tools.contracts.move_bindings.workflows import inputs as run_inputs
from nexus_tools.errors import NexusError, NotFoundError, ValidationError
from nexus_tools.sui.bindings.runtime import ObjectInput
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import MovePackage, Object
from nexus_tools.sui.types.transaction import Argument
from nexus_tools.sui.types.type_tag import (
    StructTag,
    TypeTag,
    parse_struct_tag,
    parse_type_tag,
    short_name,
)
from nexus_tools.tool import ToolDefinition

if TYPE_CHECKING:
    from nexus_tools.sui.bytecode import CompiledModule, FunctionDefinition, SignatureToken

_MAX_MODULES = 256
_FRAMEWORK = Address.of(2)
_CONTEXT = (_FRAMEWORK, "tx_context", "TxContext")
_RANDOM = (_FRAMEWORK, "random", "Random")


@dataclass(frozen=True, slots=True)
class MoveFunctionCall:
    """A Move function, with the object arguments that follow the `Call` and their mutability."""

    package: Address
    module: str
    function: str
    type_arguments: tuple[TypeTag, ...]
    objects: tuple[tuple[Address, bool], ...]


class RunAttempt(NamedTuple):
    """An attempt of a run, and the closed invocations that contain some of its inputs."""

    execution: ObjectInput
    dag: Address
    sources: Sequence[Address]


class FunctionReader:
    """A reader of tools' Move functions. Modules are cached, because packages never change."""

    def __init__(
        self,
        read: Callable[[Sequence[Address]], Coroutine[Any, Any, Sequence[Object | None]]],
        deployment: Deployment,
    ) -> None:
        """Create a reader. `read` returns objects by ID, in the same way as `SuiClient.objects`."""
        self._read = read
        self._deployment = deployment
        self._modules: LRUCache[tuple[Address, str], CompiledModule] = LRUCache(_MAX_MODULES)

    async def call_of(self, definition: ToolDefinition) -> MoveFunctionCall:
        """Return how to call the function of an on-chain tool.

        Raises `function_unknown`, or `function_incompatible` for a function that no leader can
        call.
        """
        assert definition.function is not None
        placeholders = [reference for reference in definition.function.objects if "::" in reference]
        if placeholders:
            raise _incompatible(
                definition,
                f"the package of {placeholders[0]} is missing: pass it with --package",
            )
        package, module, name = definition.url.split("::")
        package_id = Address.parse(package)
        compiled = await self._module(package_id, module)
        function = _find_function(compiled, name)
        if function is None:
            raise NotFoundError("function_unknown", f"the function {definition.url} does not exist")
        try:
            type_arguments = tuple(map(parse_type_tag, definition.function.type_arguments))
        except NexusError as error:
            raise _incompatible(
                definition, f"a type argument is invalid: {error.message}"
            ) from error
        mutabilities = self._changes(compiled, function, definition)
        objects = tuple(map(Address.parse, definition.function.objects))
        return MoveFunctionCall(
            package_id, module, name, type_arguments, tuple(zip(objects, mutabilities, strict=True))
        )

    async def witness_of(self, definition: ToolDefinition) -> StructTag:
        """Return the witness type, with the ID of the package version that first defined the type.

        Raises `function_unknown`.
        """
        assert definition.function is not None
        witness = parse_struct_tag(definition.function.witness)
        package = await self._package(Address.parse(definition.url.split("::")[0]))
        for origin in package.type_origins:
            if (origin.module, origin.datatype) == (witness.module, witness.name):
                return StructTag(origin.package, witness.module, witness.name, witness.type_params)
        short = short_name(witness)
        raise NotFoundError("function_unknown", f"the package of {definition.url} has no {short}")

    async def _package(self, package: Address) -> MovePackage:
        (value,) = await self._read([package])
        if value is None or not isinstance(value.data, MovePackage):
            raise NotFoundError("function_unknown", f"the package {package} does not exist")
        return value.data

    async def _module(self, package: Address, name: str) -> "CompiledModule":
        from nexus_tools.sui.bytecode import deserialize  # noqa: PLC0415 - only for on-chain tools

        if (package, name) not in self._modules:
            modules = dict((await self._package(package)).modules)
            if name not in modules:
                raise NotFoundError(
                    "function_unknown", f"the module {package}::{name} does not exist"
                )
            self._modules[package, name] = deserialize(modules[name])
        return self._modules[package, name]

    def _changes(
        self,
        module: "CompiledModule",
        function: "FunctionDefinition",
        definition: ToolDefinition,
    ) -> tuple[bool, ...]:
        """Return whether each object parameter is mutable. Raises `function_incompatible`."""
        from nexus_tools.sui.bytecode import (  # noqa: PLC0415 - only for on-chain tools
            ReferenceToken,
            Visibility,
        )

        assert definition.function is not None
        handle = module.function_handles[function.handle]
        parameters = module.signatures[handle.parameters]
        if function.visibility is not Visibility.PUBLIC:
            raise _incompatible(definition, "it is not public")
        if module.signatures[handle.returns]:
            raise _incompatible(definition, "it returns a value, which the transaction cannot use")
        type_count = len(definition.function.type_arguments)
        if len(handle.type_parameters) != type_count:
            expected = len(handle.type_parameters)
            raise _incompatible(definition, f"expected {expected} type arguments, got {type_count}")
        call = (self._deployment.original_id, "on_chain_call", "Call")
        if not parameters or not _is_reference_to(module, parameters[0], call, mutable=True):
            raise _incompatible(definition, "its first parameter is not `&mut Call`")
        object_parameters = parameters[1:]
        if any(_is_reference_to(module, parameter, _CONTEXT) for parameter in object_parameters):
            raise _incompatible(
                definition, "it takes a TxContext, with which it could act as the caller"
            )
        if any(_is_reference_to(module, parameter, _RANDOM) for parameter in object_parameters):
            raise _incompatible(definition, "Sui allows `&Random` only in the last command")
        mutabilities = [
            parameter.mutable
            for parameter in object_parameters
            if isinstance(parameter, ReferenceToken)
        ]
        if len(mutabilities) != len(object_parameters):
            raise _incompatible(
                definition, "it takes parameters that are not references to objects"
            )
        object_count = len(definition.function.objects)
        if len(mutabilities) != object_count:
            raise _incompatible(
                definition, f"expected {len(mutabilities)} objects, got {object_count}"
            )
        return tuple(mutabilities)


def _find_function(module: "CompiledModule", name: str) -> "FunctionDefinition | None":
    matches = (
        definition
        for definition in module.function_definitions
        if _name(module, definition) == name
    )
    return next(matches, None)


def _name(module: "CompiledModule", function: "FunctionDefinition") -> str:
    return module.function_id(function.handle)[2]


def _is_reference_to(
    module: "CompiledModule",
    token: "SignatureToken",
    kind: tuple[Address, str, str],
    *,
    mutable: bool = False,
) -> bool:
    """Return whether a parameter is a reference to a type (a `&mut` reference if `mutable`)."""
    from nexus_tools.sui.bytecode import DatatypeToken, ReferenceToken  # noqa: PLC0415

    if not isinstance(token, ReferenceToken) or not isinstance(token.target, DatatypeToken):
        return False
    address, *names = module.datatype_id(token.target.handle)
    return (Address(address), *names) == kind and (token.mutable or not mutable)


def _incompatible(definition: ToolDefinition, problem: str) -> ValidationError:
    return ValidationError(
        "function_incompatible",
        f"no leader can call {definition.url} of {definition.fqn}: {problem}",
        hint="Write the function as `public fun f(call: &mut Call, …)` with references to shared or"
        " immutable objects, without a TxContext and without a return value.",
    )


def open_call(
    builder: TransactionBuilder,
    deployment: Deployment,
    invocation: Address,
    tool: Address,
    attempt: RunAttempt | None = None,
) -> Argument:
    """Add the commands that open a call. If it is an attempt, first assemble the run's inputs."""
    if attempt is None:
        return on_chain_call.open(builder, deployment.package, invocation, tool)
    inputs = add_assembled_inputs(builder, deployment, invocation, attempt)
    return run_inputs.open(
        builder, deployment.workflows, inputs, attempt.execution, invocation, tool
    )


def add_assembled_inputs(
    builder: TransactionBuilder,
    deployment: Deployment,
    invocation: Address,
    attempt: RunAttempt,
) -> Argument:
    """Add the commands that assemble the inputs of an attempt on chain."""
    workflows = deployment.workflows
    inputs = run_inputs.new(builder, workflows, attempt.execution, attempt.dag, invocation)
    for source in attempt.sources:
        run_inputs.load(builder, workflows, inputs, source)
    return inputs


def add_function_call(
    builder: TransactionBuilder, call: Argument, function: MoveFunctionCall
) -> None:
    """Add the command that calls the tool's function with the `Call` object."""
    objects = [
        builder.object(object_id, mutable=mutable) for object_id, mutable in function.objects
    ]
    target = function.package, function.module, function.function
    builder.move_call(*target, [call, *objects], list(function.type_arguments))


def close_call(
    builder: TransactionBuilder,
    deployment: Deployment,
    call: Argument,
    invocation: Address,
    leader: Address | None,
) -> None:
    """Add the command that settles an invocation with the result of its call.

    If `leader` is None, use the Move function with which anyone may settle the invocation.
    """
    package = deployment.package
    if leader is None:
        on_chain_call.close_by_anyone(builder, package, call, invocation)
    else:
        on_chain_call.close(builder, package, call, invocation, leader)
